//! A closed list of corrupt objects in branches, each with its exact message.
//!
//! The files are seeds of fuzzing that ROOT wrote without compression (`write_seed` in
//! `python/tests/trees/kinds.cxx`): `whole.root` has unsplit branches, `split.root` split ones.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use nyssa::rootfile::RootFile;
use nyssa::ttree::Reader;
use nyssa::{Context, Dataset};
use nyssa_io::MemorySource;

const WHOLE: &[u8] = include_bytes!("../../../fuzz/corpus/tree/whole.root");
const SPLIT: &[u8] = include_bytes!("../../../fuzz/corpus/tree/split.root");

/// Reads all of a branch of the file with all places of `find` replaced by as many other bytes.
fn read(file: &[u8], find: &[u8], other: &[u8], tree: &str, branch: &str) -> nyssa::Result<usize> {
    assert_eq!(find.len(), other.len());
    let mut bytes = file.to_vec();
    let places: Vec<usize> =
        (0..bytes.len() - find.len()).filter(|&at| bytes[at..].starts_with(find)).collect();
    assert!(!places.is_empty(), "{find:02x?} is not in the file");
    for at in places {
        bytes[at..at + other.len()].copy_from_slice(other);
    }
    let file = RootFile::open(Arc::new(MemorySource::new("bad.root", bytes)))?;
    let reader = Reader::open(&file, tree)?;
    let entries = reader.num_entries();
    let context = Context::new(Some(1))?;
    let arrays = reader.read(&[branch], 0..entries, &context)?;
    Ok(arrays[0].len())
}

#[track_caller]
fn expect(file: &[u8], find: &[u8], other: &[u8], place: (&str, &str), message: &str) {
    let error = read(file, find, other, place.0, place.1).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn sound_before_it_is_broken() {
    let same = b"root";
    for (tree, branch, entries) in [
        ("with", "o.", 4),
        ("clones", "o", 2),
        ("plains", "o", 3),
        ("derived", "o.", 2),
        ("pointers", "o.", 6),
        ("counted", "o.", 3),
        ("texts", "o.", 3),
        ("map", "o", 2),
    ] {
        assert_eq!(read(WHOLE, same, same, tree, branch).unwrap(), entries, "{tree}");
    }
    for (tree, branch, entries) in [("with", "o.", 4), ("clones", "o", 2), ("plains", "o", 3)] {
        assert_eq!(read(SPLIT, same, same, tree, branch).unwrap(), entries, "{tree}");
    }
}
