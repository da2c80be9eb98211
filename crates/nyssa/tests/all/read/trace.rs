//! Tests the requests that reading sends to a source. One more round trip fails a test.

use std::sync::Arc;

use crate::support::reading::{context, readable};
use nyssa_data::Dataset;
use nyssa_io::testing::{Counters, RecordingSource};
use nyssa_rntuple::read::Reader;
use nyssa_root::rootfile::RootFile;
use nyssa_testdata::data;

fn recorded(file: &str) -> (Arc<RecordingSource>, RootFile) {
    // The requests are those for a file in the cache of the system.
    std::fs::read(data(file)).unwrap();
    let source = nyssa_io::open(data(file)).unwrap();
    let source = Arc::new(RecordingSource::new(source));
    let file = RootFile::open(source.clone()).unwrap();
    (source, file)
}

fn requests(source: &RecordingSource, job: impl FnOnce()) -> u64 {
    let before = source.counters().requests;
    job();
    source.counters().requests - before
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn opening_takes_three_requests() {
    // The anchor, header and footer, the page lists.
    for (file, name) in [
        ("rntuple/test_multiple_cluster_groups_rntuple_v1-0-0-0.root", "ntuple"),
        (
            "rntuple/cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root",
            "Events",
        ),
    ] {
        let (source, root) = recorded(file);
        let opening = requests(&source, || drop(Reader::open(&root, name).unwrap()));
        assert_eq!(opening, 3, "{file}: {:?}", source.trace());
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn one_column_takes_one_request() {
    let file = "rntuple/test_int_vfloat_tlv_vtlv_rntuple_v1-0-0-0.root";
    let (source, root) = recorded(file);
    let reader = Reader::open(&root, "ntuple").unwrap();
    for name in ["one_integers", "two_v_floats", "four_v_LVs"] {
        let reading = requests(&source, || {
            reader.read(&[name], 0..5, &context()).unwrap();
        });
        assert_eq!(reading, 1, "{name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn an_entry_range_in_a_cluster_waits_for_offsets_once() {
    let file = "rntuple/test_split_3e4_rntuple_v1-0-0-0.root";
    let (source, root) = recorded(file);
    let reader = Reader::open(&root, "ntuple").unwrap();
    for (name, waves) in [("one_int32", 1), ("three_vint32", 2)] {
        let plan = reader.plan(&[name], 10..20).unwrap();
        assert_eq!(plan.waiting.len(), waves - 1, "{plan}");
        let reading = requests(&source, || {
            reader.read(&[name], 10..20, &context()).unwrap();
        });
        assert_eq!(reading, waves as u64, "{name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn shared_columns_travel_once() {
    let file = "rntuple/cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root";
    let (source, root) = recorded(file);
    let reader = Reader::open(&root, "Events").unwrap();
    let names = readable(&reader);
    let plan = reader.plan(&names, 0..10).unwrap();
    assert_eq!(plan.streams.len(), reader.schema().columns.len());
    assert!(plan.waiting.is_empty());
    let before = source.counters();
    reader.read(&names, 0..10, &context()).unwrap();
    let Counters { requests, bytes, .. } = source.counters();
    assert_eq!(requests - before.requests, plan.fetches.len() as u64);
    // Small gaps are read over.
    assert!((plan.bytes()..plan.bytes() * 11 / 10).contains(&(bytes - before.bytes)), "{plan}");
    assert!(plan.bytes() < source_size(&root), "{plan}");
}

fn source_size(file: &RootFile) -> u64 {
    nyssa_io::Source::size(file.source().as_ref())
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn only_wanted_pages_travel() {
    // A hundred million integers in two clusters of many pages.
    let file = "rntuple/test_int_multicluster_rntuple_v1-0-0-0.root";
    let (_, root) = recorded(file);
    let reader = Reader::open(&root, "ntuple").unwrap();
    let pages = |entries| {
        let plan = reader.plan(&["one_integers"], entries).unwrap();
        plan.fetches.iter().map(|fetch| fetch.pages.len()).sum::<usize>()
    };
    assert!(pages(0..100_000_000) > 100);
    assert_eq!(pages(0..10), 1);
    assert_eq!(pages(99_999_990..100_000_000), 1);
    assert_eq!(pages(20..20), 0);
}
