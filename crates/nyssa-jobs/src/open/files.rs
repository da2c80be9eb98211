//! Finds the files that an argument names: one file, the files of a list or of a folder, or the files that
//! match a glob.

use std::io::ErrorKind;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use nyssa_io::{EntryKind, FolderEntry};
use nyssa_root::error::{Error, Result};

use super::path::{join, path_start, split_path};

/// The largest depth of nested folders that `**` searches.
const MAX_DEPTH: usize = 32;
/// The pattern of the files in a folder.
const IN_FOLDER: &str = "*.root";

/// Expands an argument to arguments that each name one file. The argument is `FILE`, `FILE:PATH`, `@LIST` (a file
/// with one such argument on each line; `#` begins a comment), `FOLDER` (its files `*.root`), or a glob such as
/// `run*/[ab].root`. Files are paths or URLs. The files of folders and globs are sorted by name. Each result has the
/// path inside the file. As in a shell, names that begin with a dot match only a pattern that begins with a dot.
///
/// # Errors
/// `NotFound` for a glob or folder without files, and for a list that cannot be read; `InvalidArgument` for a list or
/// glob that cannot be used; `Io`; `Unsupported` for a URL whose folders cannot be listed.
pub fn files(argument: &str) -> Result<Vec<String>> {
    expand(argument, false)
}

/// Expands several arguments, each as [`files`] does.
///
/// # Errors
/// The errors of [`files`].
pub fn files_of(arguments: &[String]) -> Result<Vec<String>> {
    let each = arguments.iter().map(|argument| files(argument));
    Ok(each.collect::<Result<Vec<_>>>()?.concat())
}

/// Expands an argument to arguments that each name one file. Returns no files for a glob or folder without files.
///
/// # Errors
/// `NotFound` for a list that cannot be read; `InvalidArgument` for a list that names no files, for a glob
/// that does not parse, and for a file whose name is not UTF-8; `Io` for a folder that cannot be read;
/// `Unsupported` for a URL whose folders cannot be listed.
pub fn matching_files(argument: &str) -> Result<Vec<String>> {
    expand(argument, true)
}

fn expand(argument: &str, may_be_none: bool) -> Result<Vec<String>> {
    let Some(list) = argument.strip_prefix('@') else { return expand_line(argument, may_be_none) };
    let failed = |why: &dyn std::fmt::Display| {
        Error::not_found(format!("cannot read the list {list}: {why}"))
    };
    let bytes = nyssa_io::read(list).map_err(|error| failed(&error.source))?;
    let text = String::from_utf8(bytes).map_err(|_| failed(&"it is not UTF-8"))?;
    let lines = text.lines().map(without_comment).map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty()).peekable();
    if lines.peek().is_none() {
        return Err(Error::invalid_argument(format!("the list {list} names no files")));
    }
    Ok(lines.map(|line| expand_line(line, may_be_none)).collect::<Result<Vec<_>>>()?.concat())
}

/// Returns a line without its comment. A comment begins with `#` at the start of the line or after a blank, since
/// names and URLs may contain this character.
fn without_comment(line: &str) -> &str {
    let is_start = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = line.match_indices('#').map(|(at, _)| at).find(|&at| is_start(at));
    &line[..comment.unwrap_or(line.len())]
}

fn expand_line(argument: &str, may_be_none: bool) -> Result<Vec<String>> {
    let (path, object) = split_path(argument);
    let Some(pattern) = Pattern::of(&path) else { return Ok(vec![argument.to_owned()]) };
    let matching = pattern.files()?;
    if matching.is_empty() && !may_be_none {
        return Err(pattern.nothing_matches());
    }
    Ok(matching.iter().map(|file| join(file, object)).collect())
}

/// Finds the files below a folder whose relative paths match a glob.
struct Pattern<'a> {
    /// The folder, in the form in which it precedes the names of files.
    folder: String,
    glob: String,
    /// The query of a URL, with its `?`.
    query: &'a str,
}

impl<'a> Pattern<'a> {
    /// Returns the pattern of a path or URL, if it can name several files.
    fn of(location: &'a str) -> Option<Self> {
        let start = path_start(location);
        // In a URL, `?` begins the query.
        let end = match nyssa_io::is_url(location) {
            true => location[start..].find('?').map_or(location.len(), |at| start + at),
            false => location.len(),
        };
        let (path, query) = location.split_at(end);
        if is_folder(location, path) {
            let folder = match path.trim_end_matches('/') {
                // The first slash of `root://host//` belongs to the URL, and the second one to the path.
                short if short.len() <= start => path.to_owned(),
                short => format!("{short}/"),
            };
            return Some(Self { folder, glob: IN_FOLDER.to_owned(), query });
        }
        let wildcard = path[start..].find(['*', '?', '[', '{'])?;
        if nyssa_io::exists(location) {
            return None;
        }
        let folder_end = path[..start + wildcard].rfind('/').map_or(0, |slash| slash + 1);
        let (folder, glob) = path.split_at(folder_end.max(start));
        Some(Self { folder: folder.to_owned(), glob: glob.to_owned(), query })
    }

    /// Returns the files, sorted by name.
    fn files(&self) -> Result<Vec<String>> {
        let glob = GlobBuilder::new(&self.glob).literal_separator(true).build();
        let glob = glob.map_err(|error| {
            Error::invalid_argument(format!("{:?} is not a glob: {}", self.whole(), error.kind()))
        })?;
        let parts = || self.glob.split('/');
        let depth = if self.glob.contains("**") { MAX_DEPTH } else { parts().count() };
        let hidden = parts().any(|part| part.starts_with('.'));
        let search = Search { pattern: self, glob: glob.compile_matcher(), hidden };
        let mut files = Vec::new();
        search.folder("", depth, &mut files)?;
        files.sort();
        Ok(files)
    }

    /// Returns the pattern as it was given.
    fn whole(&self) -> String {
        format!("{}{}", self.folder, self.glob)
    }

    /// Lists the folder `below` the folder of the pattern.
    fn list(&self, below: &str) -> Result<Vec<FolderEntry>> {
        let folder = format!("{}{below}", self.folder);
        let start = path_start(&folder);
        let place = match folder.strip_suffix('/') {
            Some(place) if place.len() > start && !place.ends_with('/') => place,
            None if folder.len() == start => &format!("{folder}."),
            _ => &folder,
        };
        match nyssa_io::list(format!("{place}{}", self.query)) {
            // A missing folder has no files. Other errors are reported, so that no folder is left out.
            Err(error)
                if matches!(
                    error.source.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory
                ) =>
            {
                Ok(Vec::new())
            }
            other => Ok(other?),
        }
    }

    /// Makes the error for a pattern that matches no file. It suggests files with similar names in the folder, or a
    /// pattern for the files of its subfolders.
    fn nothing_matches(&self) -> Error {
        let (folder, name) = self.glob.rsplit_once('/').unwrap_or(("", &self.glob));
        let beside = match folder.is_empty() {
            true => self.list("").unwrap_or_default(),
            false => Vec::new(),
        };
        let names: Vec<_> = beside.iter().filter_map(|entry| entry.name.to_str()).collect();
        let error = Error::not_found(format!("no file matches {}", self.whole()));
        let has_folders = beside.iter().any(|entry| entry.kind == EntryKind::Folder);
        if self.glob == IN_FOLDER && has_folders {
            let below = format!("{}**/{IN_FOLDER}", self.folder);
            return error.suggest(&below, [below.as_str()]);
        }
        error.suggest(name, names.into_iter().filter(|name| name.ends_with(".root")))
    }
}

/// Returns whether a location names a folder. A URL whose path ends like the name of a ROOT file is not
/// checked, because that would take a round trip for each file.
fn is_folder(location: &str, path: &str) -> bool {
    let is_plain_file = nyssa_io::is_url(location) && path.ends_with(".root");
    !is_plain_file && matches!(nyssa_io::kind(location), Ok(Some(EntryKind::Folder)))
}

/// Searches for files that match a glob.
struct Search<'a> {
    pattern: &'a Pattern<'a>,
    glob: GlobMatcher,
    /// Whether names that begin with a dot can match.
    hidden: bool,
}

impl Search<'_> {
    /// Adds the files that match in a folder. `below` is its path relative to the folder of the pattern.
    fn folder(&self, below: &str, depth: usize, files: &mut Vec<String>) -> Result<()> {
        for entry in self.pattern.list(below)? {
            if !self.hidden && entry.name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = Path::new(below).join(&entry.name);
            if entry.kind == EntryKind::Folder {
                if depth > 1 {
                    let below = self.text(&path)?;
                    self.folder(&format!("{below}/"), depth - 1, files)?;
                }
            } else if self.glob.is_match(&path) {
                self.check_query(&path)?;
                let Pattern { folder, query, .. } = self.pattern;
                files.push(format!("{folder}{}{query}", self.text(&path)?));
            }
        }
        Ok(())
    }

    /// Refuses a file that a URL cannot name, because `?` would begin the query.
    fn check_query(&self, path: &Path) -> Result<()> {
        let folder = &self.pattern.folder;
        if !nyssa_io::question_mark_begins_query(folder) || !self.text(path)?.contains('?') {
            return Ok(());
        }
        let name = path.display();
        Err(Error::invalid_argument(format!(
            "a URL cannot name the file {name:?} in {folder}, because a question mark begins the \
             query: give it another name"
        )))
    }

    fn text<'p>(&self, path: &'p Path) -> Result<&'p str> {
        path.to_str().ok_or_else(|| {
            let name = format!("{}{}", self.pattern.folder, path.display());
            Error::invalid_argument(format!("the name {name} is not UTF-8: give it another"))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use nyssa_io::MemorySource;
    use nyssa_io::testing::serve;

    use super::*;
    use nyssa_root::error::Kind;

    #[test]
    fn lists_folders_and_globs() {
        let folder = std::env::temp_dir().join(format!("nyssa-files-{}", std::process::id()));
        let deep = folder.join("x/y");
        fs::create_dir_all(&deep).unwrap();
        for name in ["b.root", "a.root", "a.txt", "x/c.root", "x/y/d.root", ".hidden.root"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let base = folder.to_str().unwrap();
        let full =
            |names: &[&str]| names.iter().map(|name| format!("{base}/{name}")).collect::<Vec<_>>();
        fs::write(
            folder.join("list"),
            format!("# all files\n {base}/b.root:E # good\n\n{base}/x\n  #{base}/a.root\n"),
        )
        .unwrap();
        for (argument, expected) in [
            ("a.root", full(&["a.root"])),
            ("missing.root:E", full(&["missing.root:E"])),
            ("", full(&["a.root", "b.root"])),
            ("*.root:dir/E", full(&["a.root:dir/E", "b.root:dir/E"])),
            ("[ab].*", full(&["a.root", "a.txt", "b.root"])),
            ("*/*.root", full(&["x/c.root"])),
            ("**/*.root", full(&["a.root", "b.root", "x/c.root", "x/y/d.root"])),
            (".*.root", full(&[".hidden.root"])),
            ("x//*.root", full(&["x//c.root"])),
        ] {
            assert_eq!(files(&format!("{base}/{argument}")).unwrap(), expected, "{argument}");
            let url = |path: &String| format!("file://{path}");
            let expected: Vec<_> = expected.iter().map(url).collect();
            assert_eq!(
                files(&format!("file://{base}/{argument}")).unwrap(),
                expected,
                "{argument}"
            );
        }
        assert_eq!(matching_files(&format!("{base}/c*.root:E")).unwrap(), [""; 0]);
        let list = files(&format!("@{base}/list")).unwrap();
        assert_eq!(list, full(&["b.root:E", "x/c.root"]));
        for (argument, kind, part) in [
            (format!("{base}/c*.root"), Kind::NotFound, "no file matches"),
            (format!("{base}/x/y/../*.txt"), Kind::NotFound, "no file matches"),
            (format!("@{base}/missing"), Kind::NotFound, "cannot read the list"),
            (format!("{base}/[a.root"), Kind::InvalidArgument, "is not a glob"),
        ] {
            let error = files(&argument).unwrap_err();
            assert_eq!(error.kind(), kind, "{argument}");
            assert!(error.message().contains(part), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn no_file_is_left_out() {
        use std::os::unix::ffi::OsStrExt;

        let folder = std::env::temp_dir().join(format!("nyssa-odd-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.root"), "").unwrap();
        fs::write(folder.join(std::ffi::OsStr::from_bytes(b"b\xff.root")), "").unwrap();
        let base = folder.to_str().unwrap();
        let error = files(base).unwrap_err();
        let expected = format!("the name {base}/b\u{fffd}.root is not UTF-8: give it another");
        assert_eq!((error.kind(), error.message()), (Kind::InvalidArgument, expected.as_str()));
        assert_eq!(files(&format!("{base}/a*.root")).unwrap(), [format!("{base}/a.root")]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn urls_are_listed_as_folders_are() {
        let base = "test://files/run";
        for name in ["b.root", "a.root", "x/c.root", "a.txt"] {
            serve(Arc::new(MemorySource::new(format!("{base}/{name}"), "")));
        }
        for name in ["a.root", "a.root:b", "a.root:b.root"] {
            serve(Arc::new(MemorySource::new(format!("test://files/odd/{name}"), "")));
        }
        let odd =
            |names: &[&str]| names.iter().map(|name| format!("test://files/odd/{name}")).collect();
        let lines = format!("{base}/x:E\n{base}/b.root\n");
        serve(Arc::new(MemorySource::new("test://files/list", lines)));
        let full =
            |names: &[&str]| names.iter().map(|name| format!("{base}/{name}")).collect::<Vec<_>>();
        for (argument, expected) in [
            (format!("{base}/a.root:dir/E"), full(&["a.root:dir/E"])),
            (base.to_owned(), full(&["a.root", "b.root"])),
            (format!("{base}/:E"), full(&["a.root:E", "b.root:E"])),
            (format!("{base}/[ab].*"), full(&["a.root", "a.txt", "b.root"])),
            ("test://files/**/c.root:E".to_owned(), full(&["x/c.root:E"])),
            ("@test://files/list".to_owned(), full(&["x/c.root:E", "b.root"])),
            // A colon in the name of an existing file does not end the name.
            (
                "test://files/odd/*:E".to_owned(),
                odd(&["a.root:E", "a.root:b:/E", "a.root:b.root:/E"]),
            ),
            ("test://files/odd".to_owned(), odd(&["a.root", "a.root:b.root:/"])),
            // A query, and no glob.
            (format!("{base}/a.root?token=[1]"), full(&["a.root?token=[1]"])),
        ] {
            assert_eq!(files(&argument).unwrap(), expected, "{argument}");
        }
        for (argument, kind, message) in [
            ("test://files/ru/a*.root", Kind::NotFound, "no file matches test://files/ru/a*.root"),
            (
                "test://files/run/d*.root",
                Kind::NotFound,
                "no file matches test://files/run/d*.root",
            ),
            (
                "far://host/run/*.root",
                Kind::Unsupported,
                "cannot list the folder far://host/run: nyssa opens paths, and URLs of file, \
                 http, https, dav, davs, s3, root and roots, not far://; copy the file first",
            ),
        ] {
            let error = files(argument).unwrap_err();
            assert_eq!((error.kind(), error.message()), (kind, message));
        }
    }
}
