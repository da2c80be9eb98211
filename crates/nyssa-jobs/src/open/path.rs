//! Splits arguments such as `file.root:dir/Events` into a file and an object in it.

use std::borrow::Cow;

use nyssa_io::EntryKind;

/// Splits `file.root:dir/Events` into the file and the object in it. Colons of URLs, of Windows drives and in the
/// names of existing files do not separate. A URL is not opened to check that it exists. The text after `.root:` in
/// it is an object, unless a colon with one slash comes later: `https://host/a.root:b:/Events` is the object `Events`
/// in the file `a.root:b`, and `https://host/a.root:b:/` is this whole file. The query of a URL may come after the
/// object, as in `https://host/a.root:Events?version=2`.
pub fn split_path(path: &str) -> (Cow<'_, str>, Option<&str>) {
    let (file, object) = split(path);
    let is_query = |(_, query): &(&str, &str)| query.contains('=') && !file.contains('?');
    match object.filter(|_| nyssa_io::is_remote(path)).and_then(|it| it.split_once('?')) {
        Some((object, query)) if is_query(&(object, query)) => {
            let object = Some(object.trim_matches('/')).filter(|object| !object.is_empty());
            (Cow::Owned(format!("{file}?{query}")), object)
        }
        _ => (Cow::Borrowed(file), object),
    }
}

/// Returns the path of an object without its cycle.
pub(crate) fn without_cycle(path: &str) -> &str {
    path.split(';').next().unwrap_or(path)
}

/// Splits a path, or a URL whose query comes before the object.
fn split(path: &str) -> (&str, Option<&str>) {
    let is_url = nyssa_io::is_url(path);
    if !is_url && nyssa_io::exists(path) {
        return (path, None);
    }
    let start = path_start(path);
    let drive =
        matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let candidates = path
        .match_indices(':')
        .map(|(colon, _)| colon)
        .filter(|&colon| colon >= start && !(drive && colon == 1))
        .collect::<Vec<_>>();
    let is_file = |colon: &usize| {
        !is_url && matches!(nyssa_io::kind(&path[..*colon]), Ok(Some(EntryKind::File)))
    };
    let is_named_root = |colon: &usize| path[..*colon].to_ascii_lowercase().ends_with(".root");
    let has_slash = |colon: &usize| {
        let rest = &path[colon + 1..];
        rest.starts_with('/') && !rest.starts_with("//")
    };
    let all = || candidates.iter().copied();
    let last_with_slash = |is_right: &dyn Fn(&usize) -> bool| {
        all().rev().find(|colon| has_slash(colon) && is_right(colon))
    };
    let by_name = all().find(is_named_root).or_else(|| all().next_back());
    let colon = match by_name {
        Some(first) if is_url => last_with_slash(&|&colon| colon > first).or(by_name),
        _ => last_with_slash(&is_file).or_else(|| all().find(is_file)).or(by_name),
    };
    match colon {
        Some(colon) => {
            let object = path[colon + 1..].trim_matches('/');
            (&path[..colon], Some(object).filter(|object| !object.is_empty()))
        }
        None => (path, None),
    }
}

/// Returns the argument for an object in the file at a location, or for the whole file. Colons in the location do not
/// separate, because a location that was not written by a user is never an object.
pub(crate) fn join(location: &str, object: Option<&str>) -> String {
    let plain = match object {
        Some(object) => format!("{location}:{object}"),
        None => location.to_owned(),
    };
    let has_colons = plain[path_start(location)..].contains(':');
    match has_colons && split_path(&plain) != (location.into(), object) {
        true => format!("{location}:/{}", object.unwrap_or_default()),
        false => plain,
    }
}

/// Returns the byte at which the path begins in a location: after the host of a URL, or after `file:`. A proxy may
/// have a URL in its path, as in `root://proxy//root://host:1094//file.root`; then the path of the inner URL counts.
pub(super) fn path_start(location: &str) -> usize {
    if let Some(scheme) = nyssa_io::scheme_without_slashes(location) {
        return scheme.len() + 1;
    }
    if !nyssa_io::is_url(location) {
        return location.strip_prefix("file:").map_or(0, |path| location.len() - path.len());
    }
    let host = location.find("://").map_or(0, |scheme| scheme + 3);
    let Some(slash) = location[host..].find('/') else { return location.len() };
    let path = &location[host + slash..];
    let inner = path.trim_start_matches('/');
    if nyssa_io::is_url(inner.split('?').next().unwrap_or_default()) {
        return location.len() - inner.len() + path_start(inner);
    }
    host + slash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_at_the_object() {
        for (path, file, object) in [
            ("a.root", "a.root", None),
            ("a.root:", "a.root", None),
            ("a.root:Events", "a.root", Some("Events")),
            ("a.root:/dir/Events;2", "a.root", Some("dir/Events;2")),
            ("run:3.root:Events", "run:3.root", Some("Events")),
            ("a.root:x:y", "a.root", Some("x:y")),
            (r"C:\data\a.root", r"C:\data\a.root", None),
            (r"C:\data\a.root:Events", r"C:\data\a.root", Some("Events")),
            ("https://host:8443/a.root", "https://host:8443/a.root", None),
            (
                "root://host:1094//store/a.root:Events",
                "root://host:1094//store/a.root",
                Some("Events"),
            ),
            (
                "root://proxy:1094//root://host:1095//store/a.root:Events",
                "root://proxy:1094//root://host:1095//store/a.root",
                Some("Events"),
            ),
            (
                "root://proxy//xroot://host:1095//store/a",
                "root://proxy//xroot://host:1095//store/a",
                None,
            ),
            ("root://proxy//root://host:1095//a:b", "root://proxy//root://host:1095//a", Some("b")),
            ("https://host:1/a/b://c:d", "https://host:1/a/b://c", Some("d")),
            ("a.ntuple:Events", "a.ntuple", Some("Events")),
            ("https://host/a.root:b:/Events", "https://host/a.root:b", Some("Events")),
            ("https://host/a.root:b:/", "https://host/a.root:b", None),
            ("s3://bucket/a:b:/", "s3://bucket/a:b", None),
            ("https://host/x:/a.root:/dir/E", "https://host/x:/a.root", Some("dir/E")),
            ("root://host//x:/a.root:E", "root://host//x:/a.root", Some("E")),
            ("https://h/a.root?v=2:d/E", "https://h/a.root?v=2", Some("d/E")),
            ("https://h/a.root:d/E?v=2", "https://h/a.root?v=2", Some("d/E")),
            ("root://h//a.root:E;1?authz=a:b/c", "root://h//a.root?authz=a:b/c", Some("E;1")),
            ("https://h/a.root:what?", "https://h/a.root", Some("what?")),
            ("a.root:what?x=y", "a.root", Some("what?x=y")),
        ] {
            assert_eq!(split_path(path), (file.into(), object), "{path}");
        }
    }

    #[test]
    fn what_was_found_is_never_split() {
        for location in [
            "https://host:1/a.root",
            "https://host:1/a.root:Events",
            "s3://bucket/a:b",
            "s3://bucket/x:/a.root:b:/c",
            "root://host//x:/a.root",
            "root://proxy//root://host:1095//a.root:b",
        ] {
            for object in [None, Some("Events"), Some("dir/E;2")] {
                assert_eq!(split_path(&join(location, object)), (location.into(), object));
            }
        }
        assert_eq!(join("https://host:1/a.root", Some("E")), "https://host:1/a.root:E");
    }

    #[test]
    fn colons_in_names_of_files_do_not_split() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a:b");
        std::fs::write(&file, "").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(split_path(file), (file.into(), None));
        let with_object = format!("{file}:Events");
        assert_eq!(split_path(&with_object), (file.into(), Some("Events")));
        // Another file has a name that is the start of this name.
        std::fs::write(folder.path().join("a"), "").unwrap();
        assert_eq!(split_path(file), (file.into(), None));
        assert_eq!(split_path(&join(file, Some("Events"))), (file.into(), Some("Events")));
        let short = folder.path().join("a");
        let short = short.to_str().unwrap();
        assert_eq!(split_path(&join(short, Some("b"))), (short.into(), Some("b")));
    }

    #[test]
    fn urls_that_lack_a_slash_are_not_split() {
        assert_eq!(split_path("root:/host//a.root"), ("root:/host//a.root".into(), None));
        let with_object = "HTTPS:/host/a.root:dir/Events";
        assert_eq!(split_path(with_object), ("HTTPS:/host/a.root".into(), Some("dir/Events")));
        assert_eq!(split_path("run:/Events"), ("run".into(), Some("Events")));
    }
}
