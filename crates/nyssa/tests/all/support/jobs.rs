//! Converts files of the test data.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;

use nyssa_jobs::convert::{ConvertReport, Direction, ToRNTuple, convert};
use nyssa_jobs::job::OutputOptions;
use nyssa_rntuple::read;
use nyssa_root::rootfile::RootFile;
use nyssa_root::{Context, Result};

pub fn open(path: &Path) -> RootFile {
    RootFile::open(nyssa_io::open(path).unwrap()).unwrap()
}

pub fn threads(count: usize) -> Context {
    Context::new(Some(count)).unwrap()
}

/// Returns the options with verification.
pub fn verified() -> ToRNTuple {
    ToRNTuple {
        output: OutputOptions { verify: true, ..OutputOptions::default() },
        ..ToRNTuple::default()
    }
}

/// Converts `tree` of the file of the test data to `out.root` in `folder`.
pub fn run(
    input: &Path,
    tree: &str,
    folder: &Path,
    options: &impl Direction,
) -> Result<ConvertReport> {
    convert(&open(input), tree, &folder.join("out.root"), options, &threads(2))
}

/// Opens an RNTuple.
pub fn ntuple(file: &Path, name: &str) -> read::Reader {
    read::Reader::open(&open(file), name).unwrap()
}

/// Returns the names of the files in a folder.
pub fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
