//! Finds test data and opens files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nyssa_io::MemorySource;
use nyssa_root::rootfile::RootFile;

/// Returns the folder of TTrees of `NYSSA_TEST_DATA`.
pub fn data() -> PathBuf {
    nyssa_testdata::data("ttree")
}

/// All ROOT files below a folder, sorted.
pub fn root_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    {
        if path.is_dir() {
            files.extend(root_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "root") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns the bytes of a file; none when it cannot be read.
pub fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_default()
}

/// Opens bytes as a ROOT file.
pub fn open_bytes(name: &str, bytes: Vec<u8>) -> nyssa_root::Result<RootFile> {
    RootFile::open(Arc::new(MemorySource::new(name, bytes)))
}

/// Opens a ROOT file by path, named by its file name.
pub fn open(path: &Path) -> nyssa_root::Result<RootFile> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    open_bytes(&name, bytes(path))
}

/// Returns the XXH64 of lines, as the tables of expected values have it.
pub fn hash(lines: &[String]) -> u64 {
    xxhash_rust::xxh64::xxh64(lines.join("\n").as_bytes(), 0)
}
