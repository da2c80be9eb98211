//! Reading an entry range gives the values that a cut out of everything gives.

use std::sync::LazyLock;

use crate::support::reading::{context, open, open_testdata, read_all, readable};
use arrow_array::{Array, ArrayRef};
use nyssa_data::Dataset;
use nyssa_rntuple::read::Reader;
use nyssa_root::Kind;
use nyssa_root::rootfile::RootFile;
use proptest::prelude::*;

const FILES: [(&str, &str); 10] = [
    ("structures", "ntpl"),
    ("types", "n"),
    ("late", "ntpl"),
    ("projections", "ntpl"),
    ("representations", "ntpl"),
    ("reals", "ntpl"),
    ("several", "a/b/n2"),
    ("keys-600-0", "ntpl"),
    ("codec-zstd", "ntpl"),
    ("imported", "Events"),
];

/// The files of other writers and versions.
const REAL_FILES: [(&str, &str); 7] = [
    ("rntuple/test_multiple_cluster_groups_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/test_extension_columns_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/test_1jag_int_float_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/test_int_vfloat_tlv_vtlv_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/test_atomic_bitset_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/ntpl001_staff_rntuple_v1-0-1-0.root", "Staff"),
    ("rntuple/uproot-physlite-rntuple_v1-0-0-0.root", "EventData"),
];

/// A dataset with all of its columns.
struct Whole {
    file: &'static str,
    reader: Reader,
    columns: Vec<ArrayRef>,
}

impl Whole {
    fn new(file: &'static str, root: &RootFile, name: &str) -> Self {
        let reader = Reader::open(root, name).unwrap();
        let columns = read_all(&reader, &readable(&reader));
        Self { file, reader, columns }
    }

    /// Reads the range that begins at `start` parts of all entries and has `length` parts of the rest.
    fn check(&self, start: f64, length: f64) {
        let entries = self.reader.num_entries() as f64;
        let start = (entries * start) as u64;
        let end = start + ((entries - start as f64) * length).round() as u64;
        self.check_range(start, end);
    }

    fn check_range(&self, start: u64, end: u64) {
        let names = readable(&self.reader);
        let arrays = self.reader.read(&names, start..end, &context()).unwrap();
        for ((array, all), name) in arrays.iter().zip(&self.columns).zip(names) {
            let expected = all.slice(start as usize, (end - start) as usize);
            assert!(array == &expected, "{} {name} {start}..{end}", self.file);
        }
    }
}

static OPEN: LazyLock<Vec<Whole>> = LazyLock::new(|| {
    FILES.iter().map(|(file, name)| Whole::new(file, &open_testdata(file), name)).collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ranges_are_slices(start in 0.0..1.0f64, length in 0.0..1.0f64) {
        OPEN.iter().for_each(|whole| whole.check(start, length));
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn ranges_of_real_files_are_slices() {
    for (file, name) in REAL_FILES {
        let whole = Whole::new(file, &open(file), name);
        for part in 0..20 {
            whole.check(f64::from(part) / 20.0, f64::from(part * 7 % 20) / 20.0);
        }
    }
}

#[test]
fn every_short_range_of_nested_data() {
    for (file, name) in [("structures", "ntpl"), ("late", "ntpl"), ("several", "n0")] {
        let whole = Whole::new(file, &open_testdata(file), name);
        let entries = whole.reader.num_entries();
        (0..=entries)
            .for_each(|start| (start..=entries).for_each(|end| whole.check_range(start, end)));
    }
}

#[test]
fn ranges_beyond_the_entries_are_the_callers_fault() {
    let reader = Reader::open(&open_testdata("several"), "n0").unwrap();
    let error = reader.read(&["x"], 5..11, &context()).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    assert_eq!(error.message(), "entries 5..11 are requested, but there are 10");
    let reader = Reader::open(&open_testdata("codec-zstd"), "ntpl").unwrap();
    let error = reader.read(&["texts"], 0..1, &context()).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert_eq!(error.message(), "there is no field \"texts\"");
    assert_eq!(error.suggestions(), ["text"]);
}
