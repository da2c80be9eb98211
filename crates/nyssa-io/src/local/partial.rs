//! Partial files: where an output grows until it gets its name.
//!
//! The partial file of `out.root` is `.out.root.nyssa-0.part` beside it, or another number where several
//! jobs write the same output at once. Whoever writes it holds a lock on it, which ends with the process,
//! however it ends. So whoever comes next knows the files that nobody holds, and removes them.
//!
//! Where locks may not be seen by other machines, only files are removed that have not changed for long.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{NamedTempFile, TempPath};

use super::lock::{Lock, lock, sees_all_locks};

/// Partial files of one output that are looked at, even where one before them is not there.
const LOOKED_AT: u32 = 8;
/// Partial files of one output at most.
const MOST: u32 = 1000;
/// Longest name of an output that is a part of the names of its partial files; names of files are limited.
const LONGEST_NAME: usize = 200;
/// A partial file that others may hold without our knowledge is left alone until it has not changed for
/// this long.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes the partial file of `name` in `folder`, empty and locked, and removes those that nobody holds.
///
/// # Errors
/// The system's.
pub fn create(folder: &Path, name: &OsStr) -> io::Result<NamedTempFile> {
    let path = |number| folder.join(file_name(name, number));
    for number in 0..LOOKED_AT {
        clear(&path(number));
    }
    for number in 0..MOST {
        let path = path(number);
        if number >= LOOKED_AT {
            clear(&path);
        }
        match make(&path) {
            Ok(Some(file)) => {
                return Ok(NamedTempFile::from_parts(file, TempPath::try_from_path(path)?));
            }
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{MOST} partial files of it are in use")))
}

fn file_name(name: &OsStr, number: u32) -> OsString {
    let mut file = OsString::from(".");
    if name.len() <= LONGEST_NAME {
        file.push(name);
    } else {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        file.push(format!("{:016x}", hasher.finish()));
    }
    file.push(format!(".nyssa-{number}.part"));
    file
}

/// A new file with a lock; `None` when another process took it for one that nobody holds.
fn make(path: &Path) -> io::Result<Option<File>> {
    // As any new file: the umask decides who may read it.
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    match lock(&file)? {
        Lock::Taken => Ok(None),
        Lock::Ours | Lock::Unknown => Ok(is_at(&file, path).then_some(file)),
    }
}

/// Removes a partial file that nobody holds. What cannot be removed stays.
fn clear(path: &Path) {
    // Not what a link points to.
    if !fs::symlink_metadata(path).is_ok_and(|it| it.is_file()) {
        return;
    }
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return };
    if !matches!(lock(&file), Ok(Lock::Ours)) {
        return;
    }
    let old = || {
        let changed = file.metadata().and_then(|it| it.modified()).ok();
        changed.and_then(|it| it.elapsed().ok()).is_some_and(|age| age > ABANDONED)
    };
    // While it is locked: nobody makes another of that name before this one is gone.
    if (sees_all_locks(&file) || old()) && is_at(&file, path) {
        let _ = fs::remove_file(path);
    }
}

/// Whether an open file is still the one of that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// The file that is written when `path` is: a link stays a link, what it points to is replaced, or made.
///
/// # Errors
/// The system's, such as for links that go round in a circle.
pub fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links lead on from it"))
}

/// Links that are followed, as the system does.
const MOST_LINKS: usize = 40;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_nobody_holds_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let left = [".a.nyssa-0.part", ".a.nyssa-3.part", ".b.nyssa-0.part", ".a.part"];
        for name in left {
            fs::write(folder.path().join(name), "left by a process that was killed").unwrap();
        }
        let file = create(folder.path(), OsStr::new("a")).unwrap();
        assert_eq!(file.path(), folder.path().join(".a.nyssa-0.part"));
        assert_eq!(file.as_file().metadata().unwrap().len(), 0);
        assert_eq!(names(folder.path()), [".a.nyssa-0.part", ".a.part", ".b.nyssa-0.part"]);
    }

    #[test]
    fn what_is_held_stays() {
        let folder = tempfile::tempdir().unwrap();
        let first = create(folder.path(), OsStr::new("a")).unwrap();
        let second = create(folder.path(), OsStr::new("a")).unwrap();
        assert_eq!(second.path(), folder.path().join(".a.nyssa-1.part"));
        drop(first);
        let third = create(folder.path(), OsStr::new("a")).unwrap();
        assert_eq!(third.path(), folder.path().join(".a.nyssa-0.part"));
        assert_eq!(names(folder.path()), [".a.nyssa-0.part", ".a.nyssa-1.part"]);
        drop((second, third));
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn links_and_folders_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mine = folder.path().join("mine");
        fs::write(&mine, "mine").unwrap();
        std::os::unix::fs::symlink(&mine, folder.path().join(".a.nyssa-0.part")).unwrap();
        fs::create_dir(folder.path().join(".a.nyssa-1.part")).unwrap();
        let file = create(folder.path(), OsStr::new("a")).unwrap();
        assert_eq!(file.path(), folder.path().join(".a.nyssa-2.part"));
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
    }

    #[test]
    fn long_names() {
        let folder = tempfile::tempdir().unwrap();
        let name = "n".repeat(255);
        let file = create(folder.path(), OsStr::new(&name)).unwrap();
        assert!(file.persist(folder.path().join(&name)).is_ok());
    }

    /// Many jobs on one output at once: each has a file of its own until it drops it.
    #[test]
    fn live_jobs_do_not_harm_each_other() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let file = create(folder.path(), OsStr::new("a")).unwrap();
                        std::thread::yield_now();
                        assert!(is_at(file.as_file(), file.path()));
                    }
                });
            }
        });
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
