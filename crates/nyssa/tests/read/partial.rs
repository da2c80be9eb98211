//! Reading an entry range gives the same as cutting it out of everything.

use std::sync::LazyLock;

use crate::common::{context, open, read_all, readable};
use arrow_array::{Array, ArrayRef};
use nyssa::rntuple::read::Reader;
use nyssa::{Dataset, Kind};
use proptest::prelude::*;

const FILES: [(&str, &str); 9] = [
    ("rntuple/test_multiple_cluster_groups_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/test_extension_columns_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/test_1jag_int_float_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/test_int_vfloat_tlv_vtlv_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/test_atomic_bitset_rntuple_v1-0-0-0.root", "ntuple"),
    ("rntuple/ntpl001_staff_rntuple_v1-0-1-0.root", "Staff"),
    ("rntuple/uproot-physlite-rntuple_v1-0-0-0.root", "EventData"),
    ("rntuple-validation/write/types.map.nested.root", "ntpl"),
    ("rntuple-validation/write/projections.cardinality.root", "ntpl"),
];

static OPEN: LazyLock<Vec<(Reader, Vec<ArrayRef>)>> = LazyLock::new(|| {
    let reader = |(file, name): &(&str, &str)| {
        let reader = Reader::open(&open(file)?, name).unwrap();
        let arrays = read_all(&reader, &readable(&reader));
        Some((reader, arrays))
    };
    FILES.iter().filter_map(reader).collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ranges_are_slices(start in 0.0..1.0f64, length in 0.0..1.0f64) {
        for ((reader, all), (file, _)) in OPEN.iter().zip(FILES) {
            let entries = reader.num_entries() as f64;
            let start = (entries * start) as u64;
            let end = start + ((entries - start as f64) * length).round() as u64;
            let arrays = reader.read(&readable(reader), start..end, &context()).unwrap();
            for ((found, all), name) in arrays.iter().zip(all).zip(readable(reader)) {
                let expected = all.slice(start as usize, (end - start) as usize);
                prop_assert!(found == &expected, "{file} {name} {start}..{end}");
            }
        }
    }
}

#[test]
fn every_short_range_of_nested_data() {
    for file in ["types.map.nested", "types.vector.nested", "types.set.nested"] {
        let Some(root) = open(&format!("rntuple-validation/write/{file}.root")) else { return };
        let reader = Reader::open(&root, "ntpl").unwrap();
        let all = read_all(&reader, &readable(&reader));
        for start in 0..=reader.num_entries() {
            for end in start..=reader.num_entries() {
                let arrays = reader.read(&readable(&reader), start..end, &context()).unwrap();
                for (found, all) in arrays.iter().zip(&all) {
                    let expected = all.slice(start as usize, (end - start) as usize);
                    assert!(found == &expected, "{file} {start}..{end}");
                }
            }
        }
    }
}

#[test]
fn ranges_beyond_the_entries_are_the_callers_fault() {
    let Some(root) = open("rntuple/test_int_float_rntuple_v1-0-0-0.root") else { return };
    let reader = Reader::open(&root, "ntuple").unwrap();
    let error = reader.read(&["one_integers"], 5..11, &context()).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    assert_eq!(error.message(), "entries 5..11 are asked for, there are 10");
    let error = reader.read(&["one_integer"], 0..1, &context()).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert_eq!(error.message(), "there is no field \"one_integer\"");
    assert_eq!(error.suggestions(), ["one_integers"]);
}
