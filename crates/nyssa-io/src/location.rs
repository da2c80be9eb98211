//! Reads the text of locations, which are paths and URLs.

use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::built_in::{BuiltIn, built_in};
use crate::for_people::{is_secret, shown};
use crate::{Error, Result};

/// The text of messages about URLs of other schemes.
const KNOWN: &str =
    "nyssa opens paths, and URLs of file, http, https, dav, davs, s3, root and roots";

/// Returns whether a location is a URL and not a path. `file:name`, ROOT's short form, is a path.
pub fn is_url(location: impl AsRef<Path>) -> bool {
    location.as_ref().to_str().and_then(scheme).is_some()
}

/// Returns whether reads of a location wait for a network, which is so for a URL that is not a local file.
pub fn is_remote(location: impl AsRef<Path>) -> bool {
    let scheme = location.as_ref().to_str().and_then(scheme);
    scheme.is_some_and(|(scheme, _)| !scheme.eq_ignore_ascii_case("file"))
}

/// Returns the scheme of what was meant as a URL and lacks a slash, such as `root:/host/file.root`. A path that starts
/// with a folder of this name is none.
pub fn scheme_without_slashes(location: &str) -> Option<&str> {
    let (scheme, rest) = location.split_once(':')?;
    let is_cut = rest.starts_with('/') && !rest.starts_with("//");
    let folder = || Path::new(&location[..=scheme.len()]).exists();
    (is_cut && built_in(scheme).is_some() && !folder()).then_some(scheme)
}

/// Returns the location for a process that runs in another folder: an absolute path, or the unchanged URL.
///
/// # Errors
/// The folder of this process does not exist any more.
pub fn absolute(location: impl AsRef<Path>) -> Result<PathBuf> {
    let location = location.as_ref();
    if is_url(location) {
        return Ok(location.to_owned());
    }
    let path = local(location, "find")?;
    std::path::absolute(path)
        .map_err(|error| Error::new(location.display().to_string(), "find", error))
}

/// Returns the name of the file at a location: without the folder, and without the query and the secrets of a URL.
pub fn file_name(location: &str) -> String {
    let path = shown(location);
    // A question mark in the name of a local file begins no query.
    let is_whole = path == location && !is_remote(location);
    let path = if is_whole { &path } else { path.split('?').next().unwrap_or_default() };
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Returns a digest of the request in the query of a URL, such as `version=2`. It distinguishes two files with the same
/// path where the query may not be shown. Credentials do not count, because they change. Returns `None` for a path, and
/// for a URL without such a request.
pub fn query_digest(location: &str) -> Option<String> {
    let (_, query) = location.split_once('?').filter(|_| is_remote(location))?;
    let is_requested =
        |part: &&str| !part.is_empty() && !is_secret(part.split('=').next().unwrap_or_default());
    let requested = query.split('&').filter(is_requested).collect::<Vec<_>>().join("&");
    (!requested.is_empty()).then(|| format!("{:016x}", xxh3_64(requested.as_bytes())))
}

/// Returns the text that names a file in a URL of a web server: parsers of URLs change some characters, or give them a
/// meaning, so these are written with percent signs. Returns `None` for `.` and `..`, which no URL can have.
pub(crate) fn in_web_url(name: &[u8]) -> Option<String> {
    if matches!(name, b"." | b"..") {
        return None;
    }
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '%' | '?' | '#' | '/' | '\\' | '\0'..=' ' | '\u{7f}' => {
                    text.push_str(&format!("%{:02X}", u32::from(c)));
                }
                _ => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("%{byte:02X}")));
    }
    // A space in a name stays, so that globs can have one.
    let start = text.len() - text.trim_start_matches("%20").len();
    let end = text.trim_end_matches("%20").len().max(start);
    let inner = text[start..end].replace("%20", " ");
    Some(format!("{}{inner}{}", &text[..start], &text[end..]))
}

/// Returns whether a `?` begins the query in a URL, and has no other meaning. The keys of S3 may have one.
pub fn question_mark_begins_query(location: &str) -> bool {
    scheme(location).is_some_and(|(scheme, _)| {
        !["s3", "file"].iter().any(|other| scheme.eq_ignore_ascii_case(other))
    })
}

/// Returns the scheme and the host of a URL, which identify its server. A path has no server.
pub(crate) fn server(location: &str) -> Option<String> {
    let (scheme, rest) = scheme(location)?;
    Some(format!("{scheme}://{}", rest.split('/').next().unwrap_or_default()))
}

/// Returns the path of a `name` that is stored in the file at `location`. A relative name starts from the
/// folder of that file.
pub(crate) fn beside(location: &str, name: &str) -> PathBuf {
    let plain = name.strip_prefix("file:").unwrap_or(name);
    if scheme(name).is_some() || Path::new(plain).is_absolute() {
        return PathBuf::from(if scheme(name).is_some() { name } else { plain });
    }
    if !is_remote(location) {
        return Path::new(location).parent().unwrap_or(Path::new("")).join(plain);
    }
    let path = location.split_once('?').map_or(location, |(path, _)| path);
    let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
    // It is the name of a file, and no text of a URL.
    let in_url = |part: &str| in_web_url(part.as_bytes()).unwrap_or_else(|| part.to_owned());
    match is_web(location) {
        true => format!("{folder}{}", plain.split('/').map(in_url).collect::<Vec<_>>().join("/")),
        false => format!("{folder}{plain}"),
    }
    .into()
}

/// Returns whether a location is a URL of a web server.
pub(crate) fn is_web(location: &str) -> bool {
    scheme(location).is_some_and(|(scheme, _)| built_in(scheme) == Some(BuiltIn::Http))
}

/// Returns the path that `~/name` means: a file in the home folder, as in a shell. A folder that is named `~`
/// comes first.
fn in_home(path: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix("~").ok()?;
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty())?;
    (!Path::new("~").exists()).then(|| home.join(rest))
}

/// Returns the local path that a location names: a path, `~/name`, or a `file://` URL. `action` is for the message.
///
/// # Errors
/// `Unsupported` for other URLs; `InvalidInput` for what is neither a path nor a URL.
pub fn local(location: &Path, action: &str) -> Result<PathBuf> {
    let refused = |kind, why| {
        Err(Error::new(location.display().to_string(), action, io::Error::new(kind, why)))
    };
    if let Some(scheme) = location.to_str().and_then(scheme_without_slashes) {
        let form = match built_in(scheme) {
            Some(BuiltIn::S3) => "s3://bucket/key",
            Some(BuiltIn::Http) => "https://host/path",
            _ => "root://host//path, with two slashes before the host and before the path",
        };
        let why = format!("it is neither a path nor a URL: a URL of this kind is {form}");
        return refused(io::ErrorKind::InvalidInput, why);
    }
    let Some((scheme, rest)) = location.to_str().and_then(scheme) else {
        // This is ROOT's short form.
        let short = location.to_str().and_then(|location| location.strip_prefix("file:"));
        let path = short.filter(|_| !location.exists()).map_or(location, Path::new);
        return Ok(in_home(path).unwrap_or_else(|| path.to_owned()));
    };
    if !scheme.eq_ignore_ascii_case("file") {
        let why = match action {
            _ if built_in(scheme).is_none() => {
                format!("{KNOWN}, not {scheme}://; copy the file first")
            }
            "open for writing" => {
                format!(
                    "files at {scheme}:// URLs cannot be changed; copy the file first, and back"
                )
            }
            _ => format!("{scheme}:// URLs do not name files of this machine"),
        };
        return refused(io::ErrorKind::Unsupported, why);
    }
    let host = rest.find('/').map_or(rest, |slash| &rest[..slash]);
    if !host.is_empty() && host != "localhost" {
        let host = host.rsplit('@').next().unwrap_or_default();
        let why = format!("a file:// URL names a file of this machine, not of {host}");
        return refused(io::ErrorKind::Unsupported, why);
    }
    let path = &rest[host.len()..];
    // ROOT writes names into URLs unchanged. Other programs write %20 for a space.
    match decoded(path).filter(|_| !Path::new(path).exists()) {
        Some(decoded) => Ok(decoded.into()),
        None => Ok(path.into()),
    }
}

/// Returns the scheme of a URL and the rest after `://`.
pub(crate) fn scheme(location: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = location.split_once("://")?;
    let mut chars = scheme.chars();
    let is_scheme = chars.next().is_some_and(|first| first.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some((scheme, rest))
}

/// Decodes the percent signs in the path of a URL. Returns `None` if the result is not UTF-8.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|_| first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_no_query_and_no_secret() {
        for (location, expected) in [
            ("data/q?x.root", "q?x.root"),
            ("https://me:ab/s3cr3t@h/d/a.root?x=/y", "a.root"),
            ("https://u:ab/s3cr3t@host", "host"),
            ("http//u:ab/s3cr3t@host?x", "host"),
        ] {
            assert_eq!(file_name(location), expected);
        }
    }

    #[test]
    fn a_query_that_asks_for_another_file_has_another_digest() {
        let of = |query: &str| query_digest(&format!("https://h/a.root{query}"));
        for nothing in ["", "?", "?authz=a", "?X-Amz-Date=1&X-Amz-Signature=b", "?sig=x&se=2"] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
        assert!(of("?version=1").is_some());
        assert_ne!(of("?version=1"), of("?version=2"));
        assert_eq!(of("?version=1&authz=a"), of("?AUTHZ=b&version=1"));
        assert_eq!(query_digest("data/q?x.root"), None);
    }

    #[test]
    fn names_in_files_count_from_their_folder() {
        for (location, name, expected) in [
            ("/data/a.root", "b.root", "/data/b.root"),
            ("a.root", "b.root", "b.root"),
            ("/data/a.root", "/other/b.root", "/other/b.root"),
            ("/data/a.root", "file:b.root", "/data/b.root"),
            ("root://host//store/a.root", "b.root", "root://host//store/b.root"),
            ("https://h/d/a.root", "s/b\t.root", "https://h/d/s/b%09.root"),
            ("https://h/d/a.root", "s\\..\\b.root ", "https://h/d/s%5C..%5Cb.root%20"),
            ("https://h/d/a.root", "%2e%2e/b?c#.root", "https://h/d/%252e%252e/b%3Fc%23.root"),
            ("https://h/d/a.root", "../b c.root", "https://h/d/../b c.root"),
            ("/data/a.root", "root://host//store/b.root", "root://host//store/b.root"),
        ] {
            assert_eq!(beside(location, name).to_str(), Some(expected));
        }
    }
}
