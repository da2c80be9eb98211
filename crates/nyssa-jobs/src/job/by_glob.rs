//! Parses options by globs: `GLOB:NAME=VALUE,...` of fields and of branches, and `GLOB:NAME` of counters.
//!
//! A backslash before `,`, `:`, `=` or a backslash makes it a character of the glob or of the value.

use nyssa_rntuple::choose::FieldOptions;
use nyssa_root::error::{Error, Result};
use nyssa_ttree::write::BranchOptions;

/// Parses options of fields: `Jet_*:column=Real32Trunc:16,compression=zstd:9,page-size=64kB`.
///
/// # Errors
/// `InvalidArgument` for another form, an unknown name, and a value that is not allowed.
pub(crate) fn field_options(text: &str) -> Result<FieldOptions> {
    let example = "Jet_*:column=Real32Trunc:16,compression=zstd:9,page-size=64kB";
    let (glob, pairs) = split(text, example)?;
    pairs.iter().try_fold(FieldOptions::new(&glob)?, |options, (name, value)| {
        options.with(name, &bytes(name, value)?)
    })
}

/// Parses options of branches: `Jet_*:compression=zstd:9,basket-size=64kB`.
///
/// # Errors
/// `InvalidArgument` for another form, an unknown name, and a value that is not allowed.
pub(crate) fn branch_options(text: &str) -> Result<BranchOptions> {
    let (glob, pairs) = split(text, "Jet_*:compression=zstd:9,basket-size=64kB")?;
    pairs.iter().try_fold(BranchOptions::new(&glob)?, |options, (name, value)| {
        options.with(name, &bytes(name, value)?)
    })
}

/// Parses a glob and a counter: `Jet_*:nJet`.
///
/// # Errors
/// `InvalidArgument` for another form.
pub(crate) fn counter(text: &str) -> Result<(String, String)> {
    let characters = characters(text);
    let colon = characters.iter().rposition(|character| *character == (':', false));
    let (glob, name) = characters.split_at(colon.unwrap_or_default());
    if glob.is_empty() || name.len() < 2 {
        let message = format!("{text:?} is not GLOB:NAME, such as 'Jet_*:nJet'");
        return Err(Error::invalid_argument(message));
    }
    Ok((joined(glob), joined(&name[1..])))
}

/// Returns the value of an option, which is a number of bytes if the option is a size.
fn bytes(name: &str, value: &str) -> Result<String> {
    if !name.ends_with("_size") {
        return Ok(value.to_owned());
    }
    let bytes = nyssa_io::parse_size(value).map_err(Error::invalid_argument)?;
    Ok(bytes.to_string())
}

/// A glob, and pairs of the name and the value of an option. Names have `_` between words.
type ByGlob = (String, Vec<(String, String)>);

/// Splits a text into the glob and the pairs of name and value. No name comes twice.
fn split(text: &str, example: &str) -> Result<ByGlob> {
    let wrong = || {
        let message = format!("{text:?} is not GLOB:NAME=VALUE,..., such as '{example}'");
        Error::invalid_argument(message)
    };
    let characters = characters(text);
    // Paths may have colons: the path of a base class begins with one.
    let equals = characters.iter().position(|character| *character == ('=', false));
    let head = &characters[..equals.unwrap_or(characters.len())];
    let colon = head.iter().rposition(|item| *item == (':', false)).ok_or_else(wrong)?;
    let pair = |pair: &[(char, bool)]| {
        let equals = pair.iter().position(|item| *item == ('=', false)).ok_or_else(wrong)?;
        Ok((joined(&pair[..equals]).replace('-', "_"), joined(&pair[equals + 1..])))
    };
    let pairs = characters[colon + 1..].split(|item| *item == (',', false)).map(pair);
    let pairs = pairs.collect::<Result<Vec<_>>>()?;
    for (at, (name, _)) in pairs.iter().enumerate() {
        if pairs[..at].iter().any(|(earlier, _)| earlier == name) {
            let message = format!("{text:?} has the option {name} twice");
            return Err(Error::invalid_argument(message));
        }
    }
    Ok((joined(&head[..colon]), pairs))
}

/// Returns the characters of a text, each with whether a backslash is before it. These backslashes are left out.
fn characters(text: &str) -> Vec<(char, bool)> {
    let mut all = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(first) = rest.next() {
        let next = rest.next_if(|next| first == '\\' && matches!(next, ',' | ':' | '=' | '\\'));
        all.push(next.map_or((first, false), |next| (next, true)));
    }
    all
}

fn joined(characters: &[(char, bool)]) -> String {
    characters.iter().map(|(item, _)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_by_glob() {
        let text = "{a,b}.:_0.x:column=Real32Quant:12:0:1,compression=lz4,page-size=64kB";
        let options = field_options(text).unwrap();
        assert_eq!(options.glob(), "{a,b}.:_0.x");
        assert_eq!(options.column, Some("Real32Quant:12:0:1".parse().unwrap()));
        assert_eq!(options.compression, Some("lz4".parse().unwrap()));
        assert_eq!(options.page_bytes, Some(64_000));
    }

    #[test]
    fn what_is_no_option() {
        for (text, message) in [
            ("Jet_*", "\"Jet_*\" is not GLOB:NAME=VALUE"),
            ("Jet_*:", "\"Jet_*:\" is not GLOB:NAME=VALUE"),
            ("Jet_*=4", "\"Jet_*=4\" is not GLOB:NAME=VALUE"),
            ("Jet_*:4", "\"Jet_*:4\" is not GLOB:NAME=VALUE"),
            (
                "x:size=4",
                "fields have no option \"size\": they have column, compression, page_size",
            ),
            ("x:page-size=big", "\"big\" is not a size"),
            ("x:page-size=1", "a page size of 1 bytes, for the fields \"x\", is outside"),
            ("x:column=Int7", "\"Int7\" is not a column type"),
            (
                "x:page-size=64kB,page_size=32kB",
                "\"x:page-size=64kB,page_size=32kB\" has the option page_size twice",
            ),
        ] {
            let error = field_options(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn options_of_branches() {
        let options = branch_options("Jet_*:compression=zstd:9,basket-size=64kB").unwrap();
        assert_eq!(options.glob.glob().glob(), "Jet_*");
        assert_eq!(options.compression, Some("zstd:9".parse().unwrap()));
        assert_eq!(options.basket_size, Some(64_000));
        let error = branch_options("x:page-size=64kB").unwrap_err().to_string();
        assert!(error.starts_with("branches have no option \"page_size\""), "{error}");
    }

    #[test]
    fn a_counter_has_a_glob_and_a_name() {
        let pair = |glob: &str, name: &str| (glob.to_owned(), name.to_owned());
        assert_eq!(counter("Jet_*:nJet").unwrap(), pair("Jet_*", "nJet"));
        assert_eq!(counter(r"a\:b:n").unwrap(), pair("a:b", "n"));
        for text in ["nJet", ":nJet", "Jet_*:", "", r"a\:b"] {
            assert!(counter(text).unwrap_err().to_string().contains("is not GLOB:NAME"));
        }
    }

    #[test]
    fn separators_after_a_backslash_are_characters() {
        let options = branch_options(r"a\=b\:c\,:title=x\, y\\z\:1,compression=lz4").unwrap();
        assert_eq!(options.glob.glob().glob(), "a=b:c,");
        assert_eq!(options.title.as_deref(), Some(r"x, y\z:1"));
        assert_eq!(options.compression, Some("lz4".parse().unwrap()));
        // Other backslashes belong to the glob.
        assert_eq!(field_options(r"a\*b:compression=lz4").unwrap().glob(), r"a\*b");
    }
}
