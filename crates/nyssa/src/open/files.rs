//! The files that an argument names: one, those of a list, of a folder, or that match a glob.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::split_path;
use crate::error::{Error, Result};

/// Folders in folders that `**` looks into, at most.
const MAX_DEPTH: usize = 32;

/// `FILE`, `FILE:PATH`, `@LIST` (a file with one of these on each line), `FOLDER` (its files
/// `*.root`), or a glob such as `run*/[ab].root`, as arguments that each name one file. Files of folders
/// and globs come in the order of their names; a path inside the file stays with each.
///
/// # Errors
/// `NotFound` for a list that cannot be read and a glob or folder without files; `InvalidArgument` for
/// a glob that does not parse, and where a file has a name that is not UTF-8; `Io` where a folder cannot be
/// read: none is left out.
pub fn files(argument: &str) -> Result<Vec<String>> {
    let Some(list) = argument.strip_prefix('@') else { return one(argument) };
    let text = fs::read_to_string(list)
        .map_err(|error| Error::not_found(format!("cannot read the list {list}: {error}")))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let found = lines.map(one).collect::<Result<Vec<_>>>()?.concat();
    if found.is_empty() {
        return Err(Error::invalid_argument(format!("the list {list} names no files")));
    }
    Ok(found)
}

fn one(argument: &str) -> Result<Vec<String>> {
    let (path, object) = split_path(argument);
    let pattern = if Path::new(path).is_dir() {
        format!("{}/*.root", path.trim_end_matches('/'))
    } else if path.contains(['*', '?', '[', '{']) && !Path::new(path).exists() {
        path.to_owned()
    } else {
        return Ok(vec![argument.to_owned()]);
    };
    let found = matching(&pattern)?;
    if found.is_empty() {
        return Err(nothing_matches(&pattern));
    }
    let name = |file: String| match object {
        Some(object) => format!("{file}:{object}"),
        None => file,
    };
    Ok(found.into_iter().map(name).collect())
}

/// No file matches a glob; suggests files beside it whose names are like it.
fn nothing_matches(pattern: &str) -> Error {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let names: Vec<_> = names.filter(|name| name.ends_with(".root")).collect();
    let error = Error::not_found(format!("no file matches {pattern}"));
    error.suggest(name, names.iter().map(String::as_str))
}

fn matching(pattern: &str) -> Result<Vec<String>> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        Error::invalid_argument(format!("{pattern:?} is not a glob: {}", error.kind()))
    })?;
    let parts = pattern.split('/').collect::<Vec<_>>();
    let plain = parts.iter().take_while(|part| !part.contains(['*', '?', '[', '{'])).count();
    let depth = if pattern.contains("**") { MAX_DEPTH } else { parts.len() - plain };
    let mut folder = PathBuf::from(parts[..plain].join("/"));
    if pattern.starts_with('/') {
        folder = Path::new("/").join(folder);
    }
    let mut found = Vec::new();
    walk(&folder, depth, &glob.compile_matcher(), &mut found)?;
    found.sort();
    Ok(found)
}

/// Folders that are not there have no files; of others nothing is left out.
fn walk(folder: &Path, depth: usize, glob: &GlobMatcher, found: &mut Vec<String>) -> Result<()> {
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let failed = |error| {
        Error::from(nyssa_io::Error::new(place.display().to_string(), "list the folder", error))
    };
    let entries = match fs::read_dir(place) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        other => other.map_err(failed)?,
    };
    for entry in entries {
        let path = folder.join(entry.map_err(failed)?.file_name());
        if path.is_dir() {
            if depth > 1 {
                walk(&path, depth - 1, glob, found)?;
            }
        } else if glob.is_match(&path) {
            let name = path.to_str().ok_or_else(|| {
                let name = path.display();
                Error::invalid_argument(format!("the name {name} is not UTF-8: give it another"))
            })?;
            found.push(name.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn lists_folders_and_globs() {
        let folder = std::env::temp_dir().join(format!("nyssa-files-{}", std::process::id()));
        let deep = folder.join("x/y");
        fs::create_dir_all(&deep).unwrap();
        for name in ["b.root", "a.root", "a.txt", "x/c.root", "x/y/d.root"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let base = folder.to_str().unwrap();
        let full =
            |names: &[&str]| names.iter().map(|name| format!("{base}/{name}")).collect::<Vec<_>>();
        fs::write(folder.join("list"), format!(" {base}/b.root:E \n\n{base}/x\n")).unwrap();
        for (argument, expected) in [
            ("a.root", full(&["a.root"])),
            ("missing.root:E", full(&["missing.root:E"])),
            ("", full(&["a.root", "b.root"])),
            ("*.root:dir/E", full(&["a.root:dir/E", "b.root:dir/E"])),
            ("[ab].*", full(&["a.root", "a.txt", "b.root"])),
            ("*/*.root", full(&["x/c.root"])),
            ("**/*.root", full(&["a.root", "b.root", "x/c.root", "x/y/d.root"])),
        ] {
            assert_eq!(files(&format!("{base}/{argument}")).unwrap(), expected, "{argument}");
        }
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
}
