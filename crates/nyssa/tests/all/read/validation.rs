//! The files of the RNTuple Validation Suite against what ROOT reads in them.

use crate::support::reading::{context, like, open, read_all, readable, value};
use arrow_array::{Array, ArrayRef};
use nyssa_data::Dataset;
use nyssa_rntuple::read::{Reader, verify};
use nyssa_root::{Context, Kind};
use nyssa_testdata::data;
use serde_json::Value;

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn every_file_reads_as_root_reads_it() {
    let folder = data("rntuple-validation");
    let (mut files, mut columns) = (0, 0);
    for entry in std::fs::read_dir(folder.join("write")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.strip_suffix(".root").unwrap();
        let text = std::fs::read_to_string(folder.join(format!("read/{stem}.json"))).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        // Attribute sets are not entries.
        if expected.get("error").is_some() || stem == "structure.attributes" {
            continue;
        }
        let file = open(&format!("rntuple-validation/write/{name}"));
        let reader = Reader::open(&file, "ntpl").unwrap();
        columns += check(&name, &reader, &expected, &context());
        files += 1;
    }
    assert!(files >= 33, "{files}");
    assert!(columns > 100, "{columns}");
}

fn check(file: &str, reader: &Reader, expected: &Value, context: &Context) -> usize {
    let names = readable(reader);
    assert_eq!(names.len(), reader.columns().len(), "{file}");
    let arrays = read_all(reader, &names);
    let rows = match expected {
        Value::Array(rows) => rows.clone(),
        // One object stands for the sums over all entries.
        sums => {
            let total = |array: &ArrayRef| {
                (0..array.len()).map(|row| value(array, row).as_i64().unwrap()).sum::<i64>()
            };
            for (name, array) in names.iter().zip(&arrays) {
                assert_eq!(total(array), sums[*name].as_i64().unwrap(), "{file}, {name}");
            }
            return names.len();
        }
    };
    if rows.is_empty() && reader.num_entries() > 0 {
        panic!("{file} has {} entries", reader.num_entries());
    }
    assert_eq!(rows.len() as u64, reader.num_entries(), "{file}");
    for (row, expected) in rows.iter().enumerate() {
        for (name, array) in names.iter().zip(&arrays) {
            let mut ours = like(&expected[*name], value(array, row));
            let mut expected = expected[*name].clone();
            if file.contains("unordered") {
                sort(&mut ours);
                sort(&mut expected);
            }
            assert_eq!(ours, expected, "{file}, {name}, entry {row}");
        }
    }
    let report = verify(reader, context).unwrap();
    assert_eq!(report.problems, [], "{file}");
    assert_eq!(report.parts, report.checksummed, "{file}");
    names.len()
}

/// Sorts unordered containers, because they are read in the order in which they were written.
fn sort(value: &mut Value) {
    if let Value::Array(items) = value {
        items.iter_mut().for_each(sort);
        items.sort_by_key(Value::to_string);
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn unknown_feature_flags_are_refused() {
    let file = open("rntuple-validation/write/structure.feature_flag.root");
    let error = Reader::open(&file, "ntpl").err().unwrap();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.to_string().contains("137"), "{error}");
}
