//! Names of keys in paths. A name may have any bytes: slashes, semicolons, bytes that are no UTF-8. In a path,
//! slashes separate directories and a semicolon precedes the cycle. So these characters in names are written as the
//! numbers of their bytes, such as `%2F`, and different names never look the same:
//!
//! | in the name | in a path |
//! |---|---|
//! | `/` | `%2F` |
//! | `;` | `%3B` |
//! | a byte that is no UTF-8, such as 233 | `%E9` |
//! | `%` before what looks like one of these, as in `%2F` | `%25`, as in `%252F` |
//! | the whole name of a directory, if it is empty | `%00` |
//!
//! All other names, also names with other percent signs, are written literally.

use std::fmt::Write;

use bstr::BString;

use crate::error::{Error, Result};

/// The text for the empty name of a directory. Without it, nothing would be visible between two slashes.
const UNNAMED: &str = "%00";

/// Returns the text that stands for a name in a path.
pub fn part_of(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    let escape = |out: &mut String, byte: u8| {
        // Writing to a string cannot fail.
        let _ = write!(out, "%{byte:02X}");
    };
    let mut at = 0;
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            let rest = name.get(at..).unwrap_or_default();
            match character {
                '/' => escape(&mut out, b'/'),
                ';' => escape(&mut out, b';'),
                '%' if escaped(rest).is_some() || name == UNNAMED.as_bytes() => {
                    escape(&mut out, b'%');
                }
                _ => out.push(character),
            }
            at += character.len_utf8();
        }
        for &byte in chunk.invalid() {
            escape(&mut out, byte);
            at += 1;
        }
    }
    out
}

/// Returns the name for which a text stands in a path.
pub fn name_of(part: &str) -> BString {
    if part == UNNAMED {
        return BString::default();
    }
    let mut out = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if let Some(byte) = escaped(rest) {
            out.push(byte);
            rest = rest.get(3..).unwrap_or_default();
        } else {
            out.push(first);
            rest = after;
        }
    }
    out.into()
}

/// Checks a name or a title that a caller gives a new object.
///
/// # Errors
/// `InvalidArgument` for a zero byte, at which ROOT's functions would end the text.
pub fn check_new_text(what: &str, text: &str) -> Result<()> {
    match text.contains('\0') {
        true => Err(Error::invalid_argument(format!(
            "{what} {text:?} has a zero byte, where ROOT would end it"
        ))),
        false => Ok(()),
    }
}

/// Returns the directory and the last part of a path.
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the path of a name in a directory.
pub fn join(directory: &str, name: &[u8]) -> String {
    below(directory, &part_of(name))
}

/// Returns the path of a directory in a directory.
pub(super) fn join_directory(directory: &str, name: &[u8]) -> String {
    if name.is_empty() { below(directory, UNNAMED) } else { join(directory, name) }
}

fn below(directory: &str, part: &str) -> String {
    if directory.is_empty() { part.to_owned() } else { format!("{directory}/{part}") }
}

/// Returns the byte whose number starts a text, if [`part_of`] writes this byte as a number.
fn escaped(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    let byte = digit(*high)? * 16 + digit(*low)?;
    (matches!(byte, b'/' | b';' | b'%') || !byte.is_ascii()).then_some(byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_in_paths() {
        for (name, part) in [
            (&b"Events"[..], "Events"),
            (b"SR/Signal", "SR%2FSignal"),
            (b"jet;7", "jet%3B7"),
            (b"h\xE9", "h%E9"),
            ("h\u{e9}".as_bytes(), "h\u{e9}"),
            (b"50%", "50%"),
            (b"50%20", "50%20"),
            (b"a%2Fb", "a%252Fb"),
            (b"%\xE9%2/", "%%E9%2%2F"),
            (b"%25", "%2525"),
            (b"%00", "%2500"),
            (b"%00h", "%00h"),
        ] {
            assert_eq!(part_of(name), part);
            assert_eq!(name_of(part), name);
        }
    }

    #[test]
    fn a_directory_without_a_name_is_a_part_of_a_path() {
        assert_eq!(join_directory("", b""), "%00");
        assert_eq!(join_directory("a", b""), "a/%00");
        assert_eq!(join_directory("a", b"b"), "a/b");
        assert_eq!(name_of("%00"), "");
        // An object without a name is shown as it is: the slash before it says its directory.
        assert_eq!(join("a", b""), "a/");
    }

    proptest! {
        #[test]
        fn names_come_back(name in proptest::collection::vec(
            prop_oneof![Just(b'%'), Just(b'0'), Just(b'2'), Just(b'F'), Just(b'5'), Just(b'/'), Just(b';'), any::<u8>()],
            0..12,
        )) {
            let part = part_of(&name);
            prop_assert_eq!(name_of(&part), name);
            prop_assert!(!part.contains(['/', ';']));
        }
    }
}
