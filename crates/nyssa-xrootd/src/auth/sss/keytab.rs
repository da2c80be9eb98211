//! Reads keytabs, which are files with the keys that a client shares with servers. Each line has a key.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

/// A key that is shared with servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The number by which the server finds its own copy.
    pub id: i64,
    /// The secret, which no message shows.
    pub value: Vec<u8>,
    name: String,
    /// The user and the group.
    owner: (String, String),
    /// The time at which the key expires, in seconds since 1970. It is 0 if it does not expire.
    expires: i64,
}

/// Finds the key of this process: in the keytab of `XrdSecSSSKT` or `XrdSecsssKT`, in `~/.xrd/sss.keytab`, or
/// at the path of the server. The first one that exists is used.
///
/// # Errors
/// The reason, if there is no keytab, no valid key in it, or if other users may read it.
pub(super) fn find(offered: &str) -> Result<Key, String> {
    let named = ["XrdSecSSSKT", "XrdSecsssKT"].into_iter().filter_map(|name| env::var(name).ok());
    let home = env::var("HOME").map(|home| format!("{home}/.xrd/sss.keytab")).ok();
    let offered = Some(offered.to_owned()).filter(|path| path.starts_with('/'));
    let places: Vec<PathBuf> = named.chain(home).chain(offered).map(PathBuf::from).collect();
    let Some(path) = places.iter().find(|path| path.exists()) else {
        let places: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
        return Err(format!(
            "there is no keytab (nyssa looked for {}); set XrdSecSSSKT to the path of one",
            places.join(", ")
        ));
    };
    let shown = path.display();
    check_access(path)?;
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read the keytab {shown}: {error}"))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    choose(&text, i64::try_from(now).unwrap_or(i64::MAX))
        .map_err(|why| format!("the keytab {shown} {why}"))
}

/// Chooses a key as XRootD's own client does: among keys with the same name and owner the one that expires
/// last, and among different keys the last one of the file.
fn choose(text: &str, now: i64) -> Result<Key, String> {
    let mut keys: Vec<Key> = Vec::new();
    let mut expired = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let key = parse(line).map_err(|what| format!("has {what} in line {}", index + 1))?;
        if key.expires != 0 && key.expires <= now {
            expired = true;
            continue;
        }
        let same = |old: &&mut Key| old.name == key.name && old.owner == key.owner;
        match keys.iter_mut().find(same) {
            None => keys.push(key),
            Some(old) => {
                if old.expires != 0 && (key.expires == 0 || key.expires > old.expires) {
                    *old = key;
                }
            }
        }
    }
    keys.pop().ok_or_else(|| match expired {
        true => "has only expired keys; ask for a new keytab".to_owned(),
        false => "has no keys".to_owned(),
    })
}

/// Parses a line: a format, 0 or 1, and fields that consist of a letter, a colon and a value.
fn parse(line: &str) -> Result<Key, String> {
    let mut words = line.split_ascii_whitespace();
    if !matches!(words.next(), Some("0" | "1")) {
        return Err("an unknown format".to_owned());
    }
    let (mut id, mut value, mut expires) = (None, None, 0);
    let (mut name, mut user, mut group) = ("nowhere", "nobody", "nogroup");
    for word in words {
        let Some((field, text)) = word.split_once(':') else { continue };
        let number = || text.parse::<i64>().map_err(|_| format!("the bad number {word:?}"));
        match field {
            "N" => id = Some(number()?),
            "e" => expires = number()?,
            "n" => name = text,
            "u" => user = text,
            "g" => group = text,
            "k" => value = Some(from_hex(text).ok_or("a key that is not a hexadecimal number")?),
            _ => {}
        }
    }
    Ok(Key {
        id: id.ok_or("a key without a number (N:)")?,
        value: value.ok_or("a key without a value (k:)")?,
        name: name.to_owned(),
        owner: (user.to_owned(), group.to_owned()),
        expires,
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok()).collect()
}

/// Refuses a file that other users may read. The group may read a file whose name ends with `.grp`.
#[cfg(unix)]
fn check_access(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.mode());
    let refused = if path.extension().is_some_and(|end| end == "grp") { 0o037 } else { 0o077 };
    match mode & refused {
        0 => Ok(()),
        _ => Err(format!(
            "other users can read the keytab {0}; run chmod go-rwx {0}",
            path.display()
        )),
    }
}

#[cfg(not(unix))]
fn check_access(_: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_that_which_the_official_client_takes() {
        let table = [
            ("0 u:a g:b n:c N:7 c:1 e:0 f:0 k:0a1B", Ok(7)),
            ("0 N:7 k:00\n\n1 n:other N:8 k:00\n", Ok(8)),
            ("0 N:7 e:60 k:00\n0 N:8 e:90 k:00\n0 N:9 e:70 k:00", Ok(8)),
            ("0 N:7 e:0 k:00\n0 N:8 e:90 k:00", Ok(7)),
            ("0 N:7 k:00\n0 n:other N:8 e:49 k:00", Ok(7)),
            ("0 N:8 e:50 k:00", Err("has only expired keys; ask for a new keytab")),
            ("\n", Err("has no keys")),
            ("2 N:8", Err("has an unknown format in line 1")),
            ("\n0 N:x k:00", Err("has the bad number \"N:x\" in line 2")),
            ("0 k:00", Err("has a key without a number (N:) in line 1")),
            ("0 N:1", Err("has a key without a value (k:) in line 1")),
            ("0 N:1 k:0", Err("has a key that is not a hexadecimal number in line 1")),
            ("0 N:1 k:0+", Err("has a key that is not a hexadecimal number in line 1")),
        ];
        for (text, expected) in table {
            let id = choose(text, 50).map(|key| key.id);
            assert_eq!(id, expected.map_err(str::to_owned), "{text:?}");
        }
        assert_eq!(choose(table[0].0, 50).unwrap().value, [0x0a, 0x1b]);
    }
}
