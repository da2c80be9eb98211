//! Tests damaged files: each gives an error or values, never a panic.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use nyssa_data::Dataset;
use nyssa_io::MemorySource;
use nyssa_root::Context;
use nyssa_root::rootfile::RootFile;
use nyssa_testdata::testdata;
use nyssa_ttree::Reader;
use proptest::prelude::*;

fn file(name: &str) -> Vec<u8> {
    std::fs::read(testdata(&format!("ttree/{name}.root"))).unwrap()
}

/// Reads everything that can be read of the tree in `bytes`.
fn read_all(bytes: Vec<u8>, tree: &str, context: &Context) -> nyssa_root::Result<usize> {
    let file = RootFile::open(Arc::new(MemorySource::new("damaged.root", bytes)))?;
    let reader = Reader::open(&file, tree)?;
    let mut read = 0;
    for item in reader.columns().iter().chain(reader.subcolumns()) {
        let entries = reader.num_entries().min(1 << 20);
        read += usize::from(reader.read(&[&item.name], 0..entries, context).is_ok());
    }
    Ok(read)
}

#[test]
fn flipped_bytes_never_panic() {
    let context = Context::new(Some(1)).unwrap();
    for (path, tree) in [
        ("events-none", "Events"),
        ("events-zlib", "Events"),
        ("leaves", "leaves"),
        ("evolved0", "Evolving"),
        ("evolved99", "Evolving"),
        ("references", "split"),
        ("old_branches", "t"),
    ] {
        let bytes = file(path);
        let whole = read_all(bytes.clone(), tree, &context).unwrap();
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
        let damage = prop::collection::vec((0..bytes.len(), any::<u8>()), 1..20);
        runner
            .run(&damage, |damage| {
                let mut bytes = bytes.clone();
                for (at, value) in damage {
                    bytes[at] = value;
                }
                if let Ok(read) = read_all(bytes, tree, &context) {
                    prop_assert!(read <= whole);
                }
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn cut_files_never_panic() {
    let context = Context::new(Some(1)).unwrap();
    let bytes = file("leaves");
    for len in (0..bytes.len()).step_by(61) {
        assert!(read_all(bytes[..len].to_vec(), "leaves", &context).is_err(), "{len} bytes");
    }
}
