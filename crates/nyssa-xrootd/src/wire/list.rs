//! Parses answers to `dirlist` and `locate`.

use super::{Malformed, Stat, text};

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// The name, without the folder.
    pub name: String,
    /// The size, time and kind, if the server sends them.
    pub stat: Option<Stat>,
}

/// Returns the names in a folder. Each line has one name, and the next line has its `stat` if the server sends
/// them.
pub fn parse_list(body: &[u8]) -> Result<Vec<ListEntry>, Malformed> {
    /// The first two lines of a list with stats.
    const LEAD: &str = ".\n0 0 0 0";
    let all = text(body);
    let Some(rest) = all.strip_prefix(LEAD) else {
        let names = all.lines().filter(|name| is_name(name));
        return Ok(names.map(|name| ListEntry { name: name.to_owned(), stat: None }).collect());
    };
    let mut lines = rest.lines().filter(|line| !line.is_empty());
    let mut entries = Vec::new();
    while let Some(name) = lines.next() {
        let stat =
            lines.next().ok_or_else(|| Malformed(format!("a list that ends at {name:?}")))?;
        if is_name(name) {
            let stat = Some(Stat::parse(stat.as_bytes())?);
            entries.push(ListEntry { name: name.to_owned(), stat });
        }
    }
    Ok(entries)
}

/// A server in the answer to `locate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The host and the port.
    pub place: String,
    /// Whether it is a manager, which must be asked again.
    pub is_manager: bool,
}

/// Returns the servers in the answer to `locate`. Each word has a letter for the kind, a letter for the access,
/// and the address. Servers that are not online are left out.
pub fn parse_located(body: &[u8]) -> Vec<Located> {
    let all = text(body);
    let words = all.split_ascii_whitespace();
    let located = words.filter_map(|word| {
        let is_manager = match word.as_bytes().first()? {
            b'M' => true,
            b'S' => false,
            _ => return None,
        };
        Some(Located { place: word.get(2..)?.to_owned(), is_manager })
    });
    located.collect()
}

fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
}
