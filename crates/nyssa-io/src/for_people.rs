//! Turns locations, and texts from files and servers, into text for people: without secrets, and without characters
//! that move the cursor of a terminal.

use std::path::Path;

use crate::built_in::built_in;

/// The text that replaces the query of a URL.
const HIDDEN: &str = "?...";
/// The parameters of a query that are credentials.
pub(crate) const PROOFS: [&str; 7] =
    ["x-amz-signature", "x-goog-signature", "signature", "sig", "authz", "access_token", "token"];
/// The parameters that come with credentials, and say for example how long these are valid.
const OF_PROOFS: [&str; 7] =
    ["expires", "awsaccesskeyid", "googleaccessid", "key-pair-id", "policy", "se", "st"];
/// The schemes of web servers.
const WEB: [&str; 4] = ["http", "https", "dav", "davs"];

/// Returns a location for people. A URL loses its user, its password and its query, because these may be secrets, such
/// as `authz=…` or `X-Amz-Signature=…`. So does what looks like a URL that was not written correctly. A path is
/// returned as it is. Every text that shows a location gets it from here. It opens nothing again: see [`is_shown`].
pub fn shown(location: impl AsRef<Path>) -> String {
    let text = location.as_ref().to_string_lossy();
    let (start, is_typo) = match text.find("://") {
        Some(end) => (end + "://".len(), false),
        None => (start_of_typo(&text), true),
    };
    if start == 0 {
        return text.into_owned();
    }
    let (before, rest) = text.split_at(start);
    // The URL of fsspec `zip://a.root::https://host/b.zip` has two hosts.
    let rest = rest.split("://").map(without_user).collect::<Vec<_>>().join("://");
    let mut rest = rest.as_str();
    // A path of XRootD or S3 may have a number sign. For browsers it ends the URL.
    let scheme = before.trim_end_matches([':', '/', '\\']);
    if !is_typo && WEB.iter().any(|web| ends_with(scheme, web)) {
        rest = rest.split('#').next().unwrap_or_default();
    }
    let query = rest.find('?').into_iter().chain(secret_parameter(rest)).min();
    let (place, query) = query.map_or((rest, ""), |at| (&rest[..at], HIDDEN));
    format!("{before}{place}{query}")
}

/// Returns whether a location is a URL for people, whose query is left out. It would open another file.
pub(crate) fn is_shown(location: &str) -> bool {
    location.ends_with(HIDDEN)
}

/// Returns whether a parameter of a query is a credential, or comes with one.
pub(crate) fn is_secret(parameter: &str) -> bool {
    let name = parameter.to_ascii_lowercase();
    let is_signed = ["x-amz-", "x-goog-"].iter().any(|start| name.starts_with(start));
    is_signed || PROOFS.contains(&name.as_str()) || OF_PROOFS.contains(&name.as_str())
}

/// Returns the byte before a parameter with credentials, if its question mark is missing, as in `a.root&authz=…`.
fn secret_parameter(text: &str) -> Option<usize> {
    // The length in bytes stays.
    let text = text.to_ascii_lowercase();
    let starts = [";", "&", "?", "%3f", "%26", "%3b"];
    let is_secret = |at: usize, start: &str| {
        let (name, value) = text[at + start.len()..].split_once('=')?;
        // Two equal signs compare, as in a cut.
        let is_proof = PROOFS.contains(&name) || name.starts_with("x-amz-");
        (is_proof && !value.starts_with('=')).then_some(at)
    };
    let secret =
        |start: &&str| text.match_indices(*start).find_map(|(at, start)| is_secret(at, start));
    starts.iter().filter_map(secret).min()
}

/// Returns the byte at which the host begins in a text that was meant as a URL, such as `http//host`, `http:/host` and
/// `//user:password@host`; 0 for a path.
fn start_of_typo(text: &str) -> usize {
    let is_slash = |c: char| "/\\".contains(c);
    let after = |text: &str| text.trim_start_matches(is_slash).len();
    let name = text.strip_prefix('@').unwrap_or(text);
    let scheme = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
    let (scheme, rest) = name.split_at(scheme);
    let is_cut = built_in(scheme).is_some() && (rest.starts_with(':') || rest.starts_with("//"));
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    match is_cut || (scheme.is_empty() && rest.starts_with("//")) {
        true if rest.contains(['@', '?']) => text.len() - after(rest),
        _ => 0,
    }
}

fn ends_with(text: &str, scheme: &str) -> bool {
    text.len()
        .checked_sub(scheme.len())
        .and_then(|start| text.get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(scheme))
}

/// Returns a URL after its scheme, without users and passwords. There may be several hosts.
fn without_user(place: &str) -> String {
    let end = place.find(['/', '?', '#', '\\']).unwrap_or(place.len());
    let (hosts, path) = place.split_at(end);
    // A password may have the signs that end a host. What comes after the colon is then no port.
    if !hosts.contains('@')
        && !hosts.split(',').all(has_plain_port)
        && let Some((_, after)) = path.rsplit_once('@')
    {
        return after.to_owned();
    }
    let host = |host: &str| host.rsplit_once('@').map_or(host, |(_, host)| host).to_owned();
    format!("{}{path}", hosts.split(',').map(host).collect::<Vec<_>>().join(","))
}

/// Returns whether a host has no port, or a number as its port. The address of IPv6 is in brackets.
fn has_plain_port(host: &str) -> bool {
    let name = host.rfind(']').map_or(host, |end| &host[end..]);
    name.split_once(':').is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns a text without the secrets of the URLs in it.
pub fn without_secrets(text: &str) -> String {
    match text.contains("://") || text.contains(['=', '@']) {
        true => each_word(text, url_in),
        false => text.to_owned(),
    }
}

/// Returns the text of a server without secrets. It may repeat the requested path, with its query.
pub(crate) fn said_by_server(text: &str) -> String {
    each_word(text, |word| match word.split_once('?') {
        Some((path, query)) if !word.contains("://") && query.contains('=') => {
            format!("{}{HIDDEN}", shown(path))
        }
        _ => url_in(word),
    })
}

/// Changes each word of a text. Blanks and quotes are between words.
fn each_word(text: &str, change: impl Fn(&str) -> String) -> String {
    let is_end = |c: char| c.is_whitespace() || "\"'<>`".contains(c);
    let mut changed = String::with_capacity(text.len());
    for part in text.split_inclusive(is_end) {
        let word = part.trim_end_matches(is_end);
        changed.push_str(&change(word));
        changed.push_str(&part[word.len()..]);
    }
    changed
}

/// Returns a word. If it is a URL, its secrets are left out.
fn url_in(word: &str) -> String {
    let Some(scheme_end) = word.find("://") else {
        let word = shown(word);
        return match secret_parameter(&word) {
            Some(at) => format!("{}{HIDDEN}", &word[..at]),
            None => word,
        };
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let start = word[..scheme_end].trim_end_matches(is_scheme).len();
    // A sign that ends a sentence does not belong to the URL. A hidden query contains it.
    let end = word.trim_end_matches([',', ';', ':', '.', ')', ']', '}']).len();
    match word.find(HIDDEN) {
        Some(_) => word.to_owned(),
        None => format!("{}{}{}", &word[..start], shown(&word[start..end]), &word[end..]),
    }
}

/// Returns a text from a file, a server or a user on one line. The characters are escaped that move the cursor of a
/// terminal, or change the direction of the text after them. JSON has the same escapes.
pub fn printable(text: &str) -> String {
    escaped(text, |_| false)
}

/// Returns a text of several lines, in which line ends and tabs stay, and the other characters that [`printable`]
/// escapes are escaped.
pub fn printable_lines(text: &str) -> String {
    escaped(text, |rest| rest.starts_with(['\n', '\t']))
}

/// Returns a message, in which the characters that [`printable`] escapes are escaped. A line end stays only before two
/// blanks, because each line of a list in a message begins with two blanks.
pub fn printable_message(text: &str) -> String {
    escaped(text, |rest| rest.starts_with("\n  "))
}

fn escaped(text: &str, is_kept: impl Fn(&str) -> bool) -> String {
    let mut escaped_text = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            _ if !changes_the_terminal(c) || is_kept(&text[at..]) => escaped_text.push(c),
            '\n' => escaped_text.push_str("\\n"),
            '\r' => escaped_text.push_str("\\r"),
            '\t' => escaped_text.push_str("\\t"),
            _ => escaped_text.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    escaped_text
}

/// Returns whether a character is a control character, or changes the direction or the lines of the text around it.
fn changes_the_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_locations_are_not_shown() {
        for (location, expected) in [
            ("root://me:pass@a:1,b//d/a.root?authz=secret", "root://a:1,b//d/a.root?..."),
            ("roots://host//a.root", "roots://host//a.root"),
            ("root://host//a@b:c.root", "root://host//a@b:c.root"),
            ("root://host//a#b.root?x=1", "root://host//a#b.root?..."),
            ("https://me:p@ss@host:8443//a/b.root?sig=x#y", "https://host:8443//a/b.root?..."),
            ("https://host/a#access_token=x", "https://host/a"),
            ("davs://token@host", "davs://host"),
            ("s3://bucket/key#1?versionId=x", "s3://bucket/key#1?..."),
            ("@https://me:pass@host/list?sig=x", "@https://host/list?..."),
            ("simplecache::https://me:pass@host/a?sig=x", "simplecache::https://host/a?..."),
            ("zip://a.root::https://me:pass@host/b.zip?x", "zip://a.root::https://host/b.zip?..."),
            ("new-scheme://host/a?key=x", "new-scheme://host/a?..."),
            // A password with the signs that end a host.
            ("http://u:ab/s3cr3t@h:1/a.root", "http://h:1/a.root"),
            ("http://u:ab?s3cr3t@h/a.root", "http://h/a.root"),
            ("http://u:ab#s3cr3t@h/a.root?x=y", "http://h/a.root?..."),
            ("s3://KEY:ab/s3cr3t@bucket/a.root", "s3://bucket/a.root"),
            ("root://[::1]:1//a@b.root", "root://[::1]:1//a@b.root"),
            ("root://h:1,g:2//a@b:c.root", "root://h:1,g:2//a@b:c.root"),
            // A query without its question mark.
            ("http://h/a.root;authz=s3cr3t", "http://h/a.root?..."),
            ("http://h/a.root&X-Amz-Signature=s3cr3t", "http://h/a.root?..."),
            ("http://h/a.root%3Fauthz=s3cr3t", "http://h/a.root?..."),
            ("s3://b/run=1&x=2/a.root:t;1", "s3://b/run=1&x=2/a.root:t;1"),
            ("http://h/a.root:t?authz=s3cr3t", "http://h/a.root:t?..."),
            // Schemes that are not written correctly.
            ("http//u:s3cr3t@h/a.root?x=y", "http//h/a.root?..."),
            ("http:/u:ab/s3cr3t@h/a.root", "http:/h/a.root"),
            ("https:\\\\u:s3cr3t@h/a.root", "https:\\\\h/a.root"),
            ("root:u:s3cr3t@h//a.root", "root:h//a.root"),
            ("//u:s3cr3t@h/a.root", "//h/a.root"),
            ("file://u:s3cr3t@host/a.root", "file://host/a.root"),
            ("root/a@b?.root", "root/a@b?.root"),
            ("root:dir/Events", "root:dir/Events"),
            ("data/u:p@h.root", "data/u:p@h.root"),
            ("/data/what?.root", "/data/what?.root"),
            ("data/a#1.root:Events", "data/a#1.root:Events"),
        ] {
            assert_eq!(shown(location), expected);
            assert_eq!(shown(expected), expected);
        }
    }

    #[test]
    fn secrets_in_texts_are_not_shown() {
        for (text, expected) in [
            ("no such file", "no such file"),
            ("the cut a?b==1&sig==2 is wrong", "the cut a?b==1&sig==2 is wrong"),
            ("no \"t?authz=s3cr3t\" in this file", "no \"t?...\" in this file"),
            (
                "it redirects to (https://me:pass@host/a?sig=x), which",
                "it redirects to (https://host/a?...), which",
            ),
            ("see \"http://host/a?b=c\".", "see \"http://host/a?...\"."),
            ("cannot read https://host/a?...: no", "cannot read https://host/a?...: no"),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
        for (text, expected) in [
            ("Unable to open /d/a.root?authz=Bearer%20x; no", "Unable to open /d/a.root?... no"),
            ("GET https://host/a?sig=x: no", "GET https://host/a?...: no"),
            ("is it there?", "is it there?"),
            ("there is no folder http//u:s3cr3t@h", "there is no folder http//h"),
            ("GET //u:s3cr3t@h/a?b=c no", "GET //h/a?... no"),
        ] {
            assert_eq!(said_by_server(text), expected);
        }
    }

    #[test]
    fn no_character_moves_the_cursor() {
        let text = "a\u{1b}[31m\n\r\t\u{7f}\u{9b}\u{202e}\u{2066}\u{2028}\u{200f}é";
        let expected = r"a\u001b[31m\n\r\t\u007f\u009b\u202e\u2066\u2028\u200fé";
        assert_eq!(printable(text), expected);
        assert_eq!(printable_lines("a\n\tb\u{1b}"), "a\n\tb\\u001b");
        assert_eq!(printable_message("these:\n  a\nhint: b"), "these:\n  a\\nhint: b");
    }
}
