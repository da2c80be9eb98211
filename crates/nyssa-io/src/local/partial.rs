//! Makes partial files: temporary files of outputs that are being written.
//!
//! The partial file of `out.root` is `.out.root.nyssa-0.part` in the same folder. If several jobs write the
//! same output at once, they use other numbers. The process that writes the file holds a lock on it. The lock
//! ends with the process, even if the process is killed. The next job removes the files that no process has
//! locked.
//!
//! If locks of other machines are perhaps not visible, only files are removed that have not changed for a
//! long time.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{NamedTempFile, TempPath};

use super::lock::{Lock, is_on_this_machine, lock};

/// The number of partial files of one output that are always checked, even if one with a lower number is
/// missing.
const CHECKED: u32 = 8;
/// The largest number of partial files of one output.
const MAX_FILES: u32 = 1000;
/// The longest name of an output that is part of the names of its partial files. The length of file names is
/// limited.
const MAX_NAME: usize = 200;
/// The time without changes after which a partial file is removed, if locks of other machines are perhaps not
/// visible.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes the partial file of `name` in `folder`, empty and locked, and removes files that no process has
/// locked.
///
/// # Errors
/// The folder cannot be written.
pub(super) fn create(folder: &Path, name: &OsStr) -> io::Result<NamedTempFile> {
    let path = |number| folder.join(file_name(name, number));
    for number in 0..CHECKED {
        clear(&path(number));
    }
    for number in 0..MAX_FILES {
        let path = path(number);
        if number >= CHECKED {
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
    Err(io::Error::other(format!(
        "other processes write {MAX_FILES} partial files of it; wait until they end"
    )))
}

fn file_name(name: &OsStr, number: u32) -> OsString {
    let mut file = OsString::from(".");
    if name.len() <= MAX_NAME {
        file.push(name);
    } else {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        file.push(format!("{:016x}", hasher.finish()));
    }
    file.push(format!(".nyssa-{number}.part"));
    file
}

/// Makes a new file with a lock. Returns `None` if another process has locked it in the meantime, to remove
/// it.
fn make(path: &Path) -> io::Result<Option<File>> {
    // The umask decides who can read the file, as for any new file.
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    match lock(&file) {
        Lock::Taken => Ok(None),
        Lock::Ours | Lock::Unknown => Ok(is_at(&file, path).then_some(file)),
    }
}

/// Removes a partial file that no process has locked. A file that cannot be removed stays.
fn clear(path: &Path) {
    // The target of a link is not removed.
    if !fs::symlink_metadata(path).is_ok_and(|it| it.is_file()) {
        return;
    }
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return };
    if lock(&file) != Lock::Ours {
        return;
    }
    let old = || {
        let changed = file.metadata().and_then(|it| it.modified()).ok();
        changed.and_then(|it| it.elapsed().ok()).is_some_and(|age| age > ABANDONED)
    };
    // The file is removed while it is locked, so that no process makes another file with this name before.
    if (is_on_this_machine(&file) || old()) && is_at(&file, path) {
        let _ = fs::remove_file(path);
    }
}

/// Returns whether an open file still has this name.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
pub fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Returns the file that is written for `path`. A link stays a link, and its target is replaced or made.
///
/// # Errors
/// A link cannot be followed, for example if links form a circle.
pub(super) fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("it is a chain of too many symbolic links"))
}

/// The largest number of links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

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

    /// Tests that each of many jobs that write one output at once has its own file until it drops it.
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
