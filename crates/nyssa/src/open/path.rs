//! Splits arguments such as `file.root:dir/Events` into a file and an object in it.

use nyssa_io::EntryKind;

/// Splits `file.root:dir/Events` into the file and the object in it. Colons of URLs, of Windows drives and in
/// the names of existing files do not separate. A URL is not opened to check that it exists.
pub fn split_path(path: &str) -> (&str, Option<&str>) {
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
    let colon = candidates
        .iter()
        .copied()
        .find(is_file)
        .or_else(|| candidates.iter().copied().find(is_named_root))
        .or_else(|| candidates.last().copied());
    match colon {
        Some(colon) => {
            let object = path[colon + 1..].trim_matches('/');
            (&path[..colon], Some(object).filter(|object| !object.is_empty()))
        }
        None => (path, None),
    }
}

/// Returns the byte at which the path begins in a location: after the host of a URL, or after `file:`. A proxy
/// may have a URL in its path, as in `root://proxy//root://host:1094//file.root`; the path is then that of the
/// inner URL.
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
        ] {
            assert_eq!(split_path(path), (file, object), "{path}");
        }
    }

    #[test]
    fn colons_in_names_of_files_do_not_split() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a:b");
        std::fs::write(&file, "").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(split_path(file), (file, None));
        let with_object = format!("{file}:Events");
        assert_eq!(split_path(&with_object), (file, Some("Events")));
    }

    #[test]
    fn urls_that_lack_a_slash_are_not_split() {
        assert_eq!(split_path("root:/host//a.root"), ("root:/host//a.root", None));
        let with_object = "HTTPS:/host/a.root:dir/Events";
        assert_eq!(split_path(with_object), ("HTTPS:/host/a.root", Some("dir/Events")));
        assert_eq!(split_path("run:/Events"), ("run", Some("Events")));
    }
}
