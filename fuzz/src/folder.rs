//! Makes a folder for files that must be on disk.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The folder is in memory if the system has one there.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = place.join(format!("nyssa-fuzz-{}", std::process::id()));
    match std::fs::create_dir_all(&folder) {
        Ok(()) => folder,
        Err(error) => panic!("no folder to write to: {error}"),
    }
});

/// Returns the path of a file of this process.
pub fn path(name: &str) -> PathBuf {
    FOLDER.join(name)
}

/// Writes a file of these bytes.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = path(name);
    match std::fs::write(&path, bytes) {
        Ok(()) => path,
        Err(error) => panic!("cannot write {}: {error}", path.display()),
    }
}
