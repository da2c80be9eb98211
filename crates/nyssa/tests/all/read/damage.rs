//! Damaged files end as errors or as the right values, never as panics or wrong numbers.

use std::path::Path;

use crate::support::reading::{context, memory, read_all, readable};
use arrow_array::ArrayRef;
use nyssa_data::Dataset;
use nyssa_rntuple::read::{RNTupleReadOptions, Reader, verify};
use nyssa_root::rootfile::RootFile;
use nyssa_root::{Kind, Result};
use nyssa_testdata::testdata;

/// The checksummed files of ROOT 6.40 that are small enough to damage at every byte.
const FILES: [&str; 3] = ["representations", "projections", "late"];

/// The uncompressed files, one for each thing that files can have besides plain fields.
const SEEDS: [(&str, &str); 7] = [
    ("attributes", "n"),
    ("groups", "n"),
    ("keys", "n"),
    ("late", "n"),
    ("pointers", "ntpl"),
    ("representations", "n"),
    ("types", "n"),
];

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(testdata(&format!("rntuple/{name}.root"))).unwrap()
}

/// A file that is to be damaged.
pub struct Case {
    pub name: &'static str,
    /// The path of its RNTuple.
    pub path: &'static str,
    pub bytes: Vec<u8>,
    /// The readable columns.
    pub columns: Vec<String>,
}

impl Case {
    fn new(name: &'static str, path: &'static str, bytes: Vec<u8>) -> Self {
        let reader = Reader::open(&memory(bytes.clone()).unwrap(), path).unwrap();
        let columns = readable(&reader).into_iter().map(str::to_owned).collect();
        Self { name, path, bytes, columns }
    }

    pub fn names(&self) -> Vec<&str> {
        self.columns.iter().map(String::as_str).collect()
    }

    pub fn open(&self, file: &RootFile) -> Result<Reader> {
        Reader::open(file, self.path)
    }
}

/// Returns the smallest of the checksummed files, and the seeds.
pub fn cases() -> Vec<Case> {
    let of_root = Case::new(FILES[0], "ntpl", bytes(FILES[0]));
    std::iter::once(of_root).chain(seeds()).collect()
}

/// Returns the seeds for fuzzing.
pub fn seeds() -> impl Iterator<Item = Case> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/ntuple"));
    SEEDS.iter().map(move |(name, path)| {
        Case::new(name, path, std::fs::read(folder.join(format!("{name}.root"))).unwrap())
    })
}

/// Returns the readable columns, and all of the attribute sets.
pub fn values(file: &RootFile, case: &Case) -> Result<Vec<ArrayRef>> {
    let reader = case.open(file)?;
    let mut arrays = reader.read(&case.names(), 0..reader.num_entries(), &context())?;
    for link in reader.attribute_links() {
        let set = reader.open_attribute_set(&link.name)?;
        arrays.extend(set.read(&readable(&set), 0..set.num_entries(), &context())?);
    }
    Ok(arrays)
}

#[test]
fn a_flipped_byte_is_found_or_harmless() {
    for case in cases() {
        let sound = values(&memory(case.bytes.clone()).unwrap(), &case).unwrap();
        for position in 0..case.bytes.len() {
            for pattern in [0xFF, 0x01, 0x80] {
                let mut damaged = case.bytes.clone();
                damaged[position] ^= pattern;
                if let Ok(arrays) = memory(damaged).and_then(|file| values(&file, &case)) {
                    assert_eq!(arrays, sound, "{}, byte {position} ^ {pattern}", case.name);
                }
            }
        }
    }
}

#[test]
fn a_truncated_file_is_found_or_harmless() {
    for case in cases() {
        let sound = values(&memory(case.bytes.clone()).unwrap(), &case).unwrap();
        for length in 0..case.bytes.len() {
            let damaged = case.bytes[..length].to_vec();
            if let Ok(arrays) = memory(damaged).and_then(|file| values(&file, &case)) {
                assert_eq!(arrays, sound, "{}, {length} bytes", case.name);
            }
        }
    }
}

#[test]
fn a_flipped_byte_in_a_page_is_a_checksum_error() {
    for file in FILES {
        let bytes = bytes(file);
        let reader = Reader::open(&memory(bytes.clone()).unwrap(), "ntpl").unwrap();
        let (mut pages, mut skipped) = (0, 0);
        for (number, cluster) in reader.clusters_info().unwrap().iter().enumerate() {
            for (column, range) in cluster.columns.iter().enumerate() {
                for (index, page) in range.pages.iter().enumerate() {
                    let mut damaged = bytes.clone();
                    damaged[page.locator.offset as usize] ^= 0x10;
                    let damaged = memory(damaged).unwrap();
                    let error = read_error(&damaged);
                    assert_eq!(error.kind(), Kind::Checksum, "{error}");
                    // Identical pages are stored once: the first that shares the bytes is named.
                    let place = error.place();
                    let named = (place.cluster, place.column, place.page)
                        == (Some(number as u64), Some(column as u64), Some(index as u64));
                    skipped += usize::from(!named);
                    assert!(place.field.is_some() && place.offset == Some(page.locator.offset));

                    let reader = Reader::open(&damaged, "ntpl").unwrap();
                    let report = verify(&reader, &context()).unwrap();
                    assert!(report.problems.iter().all(|problem| problem.kind == "Checksum"));
                    assert_ne!(report.problems, []);
                    pages += 1;
                }
            }
        }
        assert!(pages > skipped, "{file}: {pages} {skipped}");
    }
}

fn read_error(file: &nyssa_root::rootfile::RootFile) -> nyssa_root::Error {
    let reader = Reader::open(file, "ntpl").unwrap();
    let names = readable(&reader);
    reader.read(&names, 0..reader.num_entries(), &context()).unwrap_err()
}

#[test]
fn checksums_can_be_left_out_by_name() {
    let mut bytes = bytes("codec-zstd");
    let file = memory(bytes.clone()).unwrap();
    let reader = Reader::open(&file, "ntpl").unwrap();
    let sound = read_all(&reader, &readable(&reader));
    let page = reader.clusters_info().unwrap().get(0).unwrap().columns[0].pages[0];
    // Damage the checksum itself, which follows the page.
    bytes[(page.locator.offset + page.locator.size) as usize] ^= 1;
    let file = memory(bytes).unwrap();
    assert_eq!(read_error(&file).kind(), Kind::Checksum);
    let options = RNTupleReadOptions { verify_checksums: false, ..RNTupleReadOptions::default() };
    let reader = Reader::open_with(&file, "ntpl", options).unwrap();
    assert_eq!(read_all(&reader, &readable(&reader)), sound);
}
