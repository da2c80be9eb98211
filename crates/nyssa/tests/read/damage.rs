//! Damaged files end as errors or as the right values, never as panics or wrong numbers.

use crate::common::{context, data, memory, read_all, readable};
use arrow_array::ArrayRef;
use nyssa::read::{Options, Reader, verify};
use nyssa::{Dataset, Kind, Result};

/// Checksummed files of ROOT 6.40 that are small enough to damage at every byte.
const FILES: [&str; 3] =
    ["types.vector.nested", "projections.cardinality", "compression.block.short"];

fn bytes(name: &str) -> Option<Vec<u8>> {
    let path = data()?.join(format!("rntuple-validation/write/{name}.root"));
    Some(std::fs::read(path).unwrap())
}

/// Opens and reads everything readable.
fn read(bytes: Vec<u8>, names: Option<&[&str]>) -> Result<Vec<ArrayRef>> {
    let reader = Reader::open(&memory(bytes)?, "ntpl")?;
    let all = readable(&reader);
    reader.read(names.unwrap_or(&all), 0..reader.num_entries(), &context())
}

fn check(damaged: Vec<u8>, sound: &[ArrayRef], names: &[&str], what: &str) {
    if let Ok(arrays) = read(damaged, Some(names)) {
        assert_eq!(arrays, sound, "{what}");
    }
}

#[test]
fn a_flipped_byte_is_found_or_harmless() {
    for file in FILES {
        let Some(bytes) = bytes(file) else { return };
        let reader = Reader::open(&memory(bytes.clone()).unwrap(), "ntpl").unwrap();
        let names = readable(&reader);
        let sound = read_all(&reader, &names);
        for position in 0..bytes.len() {
            for pattern in [0xFF, 0x01, 0x80] {
                let mut damaged = bytes.clone();
                damaged[position] ^= pattern;
                check(damaged, &sound, &names, &format!("{file}, byte {position} ^ {pattern}"));
            }
        }
    }
}

#[test]
fn a_truncated_file_is_found_or_harmless() {
    for file in FILES {
        let Some(bytes) = bytes(file) else { return };
        let reader = Reader::open(&memory(bytes.clone()).unwrap(), "ntpl").unwrap();
        let names = readable(&reader);
        let sound = read_all(&reader, &names);
        for length in 0..bytes.len() {
            check(bytes[..length].to_vec(), &sound, &names, &format!("{file}, {length} bytes"));
        }
    }
}

#[test]
fn a_flipped_byte_in_a_page_is_a_checksum_error() {
    for file in FILES {
        let Some(bytes) = bytes(file) else { return };
        let reader = Reader::open(&memory(bytes.clone()).unwrap(), "ntpl").unwrap();
        let (mut pages, mut skipped) = (0, 0);
        for (number, cluster) in reader.clusters_info().iter().enumerate() {
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
                    assert!(!report.is_sound());
                    pages += 1;
                }
            }
        }
        assert!(pages > skipped, "{file}: {pages} {skipped}");
    }
}

fn read_error(file: &nyssa::rootfile::RootFile) -> nyssa::Error {
    let reader = Reader::open(file, "ntpl").unwrap();
    let names = readable(&reader);
    reader.read(&names, 0..reader.num_entries(), &context()).unwrap_err()
}

#[test]
fn checksums_can_be_left_out_by_name() {
    let Some(mut bytes) = bytes("compression.block.short") else { return };
    let file = memory(bytes.clone()).unwrap();
    let reader = Reader::open(&file, "ntpl").unwrap();
    let sound = read_all(&reader, &readable(&reader));
    let page = reader.clusters_info()[0].columns[0].pages[0];
    // Damage the checksum itself, which follows the page.
    bytes[(page.locator.offset + page.locator.size) as usize] ^= 1;
    let file = memory(bytes).unwrap();
    assert_eq!(read_error(&file).kind(), Kind::Checksum);
    let options = Options { verify_checksums: false, ..Options::default() };
    let reader = Reader::open_with(&file, "ntpl", options).unwrap();
    assert_eq!(read_all(&reader, &readable(&reader)), sound);
}
