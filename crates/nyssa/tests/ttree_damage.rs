//! Damaged files: an error or values, never a panic.
#![allow(clippy::unwrap_used, clippy::panic)]

mod ttree_support;

use std::sync::Arc;

use nyssa::rootfile::RootFile;
use nyssa::ttree::Reader;
use nyssa::{Context, Dataset};
use nyssa_io::MemorySource;
use proptest::prelude::*;
use ttree_support::file_bytes;

/// Reads everything that can be read of the tree in `bytes`.
fn read_all(bytes: Vec<u8>, tree: &str, context: &Context) -> nyssa::Result<usize> {
    let file = RootFile::open(Arc::new(MemorySource::new("damaged.root", bytes)))?;
    let reader = Reader::open(&file, tree)?;
    let mut read = 0;
    for item in reader.items().iter().chain(reader.below()) {
        let entries = reader.num_entries().min(1 << 20);
        read += usize::from(reader.read(&[&item.name], 0..entries, context).is_ok());
    }
    Ok(read)
}

#[test]
fn flipped_bytes_never_panic() {
    let context = Context::new(Some(1)).unwrap();
    for (path, tree) in [
        ("uproot-sample-6.20.04-uncompressed.root", "sample"),
        ("uproot-sample-6.20.04-zlib.root", "sample"),
        ("uproot-foriter2.root", "foriter2"),
        ("uproot-small-evnt-tree-fullsplit.root", "tree"),
        ("uproot-small-evnt-tree-nosplit.root", "tree"),
        ("uproot-stl_containers.root", "tree"),
        ("roottest/meta__evolution__mixedBase_53410_v1.root", "t"),
    ] {
        let Some(bytes) = file_bytes(path) else { return };
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
    let Some(bytes) = file_bytes("uproot-foriter2.root") else { return };
    for len in (0..bytes.len()).step_by(61) {
        assert!(read_all(bytes[..len].to_vec(), "foriter2", &context).is_err(), "{len} bytes");
    }
}
