//! Finding test data and opening files.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use nyssa::rootfile::RootFile;
use nyssa_io::{Limits, Source};

/// The folder of test data, or `None`, said on stderr, when it is absent.
pub fn data(folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("NYSSA_TEST_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED: no test data at {}; set NYSSA_TEST_DATA", path.display());
    None
}

/// All ROOT files below a folder, sorted.
pub fn root_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(root_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "root") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Bytes in memory.
pub struct Memory(pub String, pub Bytes);

impl Source for Memory {
    fn name(&self) -> &str {
        &self.0
    }

    fn size(&self) -> u64 {
        self.1.len() as u64
    }

    fn limits(&self) -> Limits {
        Limits { max_ranges: 1024, max_range_bytes: u64::MAX, coalesce_gap: 0 }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>> {
        ranges
            .iter()
            .map(|range| {
                if range.start > range.end || range.end > self.size() {
                    return Err(nyssa_io::Error::new(
                        &self.0,
                        "read",
                        std::io::ErrorKind::UnexpectedEof.into(),
                    ));
                }
                Ok(self.1.slice(range.start as usize..range.end as usize))
            })
            .collect()
    }
}

/// Opens bytes as a ROOT file.
pub fn open_bytes(name: &str, bytes: impl Into<Bytes>) -> nyssa::Result<RootFile> {
    RootFile::open(Arc::new(Memory(name.to_owned(), bytes.into())))
}

/// Opens a ROOT file by path, named by its file name.
pub fn open(path: &Path) -> nyssa::Result<RootFile> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    open_bytes(&name, std::fs::read(path).unwrap())
}
