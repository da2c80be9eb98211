//! Parses the path of a request. It does no I/O.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters that are not encoded in the names of a URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Returns the names in a path, decoded once. Returns `None` for a path that could lead out of the offered
/// folders: one with `.` or `..`, with a slash, a backslash or a control character inside a name, with bytes
/// that are not UTF-8, or with a hidden name.
pub(crate) fn names(path: &str) -> Option<Vec<String>> {
    let parts = path.strip_prefix('/')?.split('/').filter(|part| !part.is_empty());
    parts.map(|part| name(part).filter(|name| is_open(name))).collect()
}

fn name(part: &str) -> Option<String> {
    percent_decode_str(part).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

/// Returns whether a name is offered. Hidden names are not.
pub(crate) fn is_open(name: &str) -> bool {
    let strange = |c: char| c.is_control() || matches!(c, '/' | '\\');
    !name.is_empty() && !name.starts_with('.') && !name.contains(strange)
}

/// Returns whether a name can be a part of a URL of an origin. Names with characters that have a meaning in
/// URLs cannot, and neither can the scheme of a URL that a proxy would follow.
pub(crate) fn is_open_in_url(name: &str) -> bool {
    is_open(name) && !name.contains(['?', '#', '%']) && !name.ends_with(':')
}

/// Returns a name encoded for a URL.
pub(crate) fn encoded(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}

/// Returns the path of names, with a slash at its end if it is a folder.
pub(crate) fn joined(names: &[String], is_folder: bool) -> String {
    let mut path = String::new();
    for name in names {
        path.push('/');
        path.push_str(&encoded(name));
    }
    if is_folder || path.is_empty() {
        path.push('/');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_down_or_nowhere() {
        let good = |path: &str, expected: &[&str]| {
            assert_eq!(names(path).unwrap_or_else(|| panic!("{path}")), expected, "{path}");
        };
        good("/", &[]);
        good("/a/b.root", &["a", "b.root"]);
        good("//a//b/", &["a", "b"]);
        good("/a%20b%25c/%C3%A9", &["a b%c", "é"]);
        for path in [
            "",
            "a",
            "*",
            "/..",
            "/../a",
            "/a/../b",
            "/%2e%2e/a",
            "/%2E%2e%2Fa",
            "/a%2fb",
            "/a%5Cb",
            "/a\\b",
            "/a%00",
            "/%00",
            "/a%0d%0ab",
            "/.",
            "/./a",
            "/..a",
            "/.ssh/id",
            "/a/.git",
            "/%2essh",
            "/%ff",
            "/%c0%ae%c0%ae/a",
        ] {
            assert_eq!(names(path), None, "{path}");
        }
        // A name that is encoded twice is a strange name, but it does not lead out of the folder.
        good("/%252e%252e%252fa", &["%2e%2e%2fa"]);
    }

    #[test]
    fn names_are_encoded_for_urls() {
        let names = ["a b".to_owned(), "ü?#%&<>\"'".to_owned()];
        assert_eq!(joined(&names, false), "/a%20b/%C3%BC%3F%23%25%26%3C%3E%22%27");
        assert_eq!(joined(&names[..1], true), "/a%20b/");
        assert_eq!(joined(&[], false), "/");
        for name in ["a?b", "a#", "a%2e", "root:", ".a", "a/b"] {
            assert!(!is_open_in_url(name), "{name}");
        }
    }
}
