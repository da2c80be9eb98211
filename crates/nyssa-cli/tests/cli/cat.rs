//! Compares the output of `cat` with the values that ROOT reads.

use serde_json::{Map, Value};

use crate::common::{STAFF, ZMUMU, file, fine, nyssa};
use nyssa_testdata::data;

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn json_is_that_of_the_validation_suite() {
    let folder = data("rntuple-validation");
    let (mut files, mut columns) = (0, 0);
    for entry in std::fs::read_dir(folder.join("read")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let expected: Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let file = folder.join(format!("write/{stem}.root"));
        let ran = nyssa(&["cat", file.to_str().unwrap(), "--json", "--attributes"]);
        if expected.get("error").is_some() {
            assert_eq!(ran.code, 4, "{stem}");
            continue;
        }
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{stem}");
        let printed: Value = serde_json::from_str(&ran.out).unwrap();
        columns += compare(&stem, printed["entries"].as_array().unwrap(), &expected);
        files += 1;
    }
    assert!(files >= 33 && columns > 100, "{files} files, {columns} columns");
}

/// Compares all columns of all entries.
fn compare(stem: &str, printed: &[Value], expected: &Value) -> usize {
    let Value::Array(rows) = expected else {
        // One object stands for the sums over all entries.
        for (name, sum) in expected.as_object().unwrap() {
            let total: i64 = printed.iter().map(|row| row[name].as_i64().unwrap()).sum();
            assert_eq!(total, sum.as_i64().unwrap(), "{stem}");
        }
        return 1;
    };
    assert_eq!(printed.len(), rows.len(), "{stem}");
    let mut columns = 0;
    for (row, (printed, expected)) in printed.iter().zip(rows).enumerate() {
        let expected = expected.as_object().unwrap();
        assert_eq!(printed.as_object().map(Map::len), Some(expected.len()), "{stem}");
        for (name, value) in expected {
            let (mut printed, mut value) = (printed[name].clone(), value.clone());
            if stem.contains("unordered") {
                sort(&mut printed);
                sort(&mut value);
            }
            assert_eq!(printed, value, "{stem}, {name}, entry {row}");
            columns += usize::from(row == 0);
        }
    }
    columns
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
fn lines_of_an_rntuple() {
    let file = file(STAFF);
    let line = r#"{"Category":202,"Age":58,"Nation":"DE"}"#;
    let args = ["cat", &file, "-n", "1", "--filter", "Category", "--filter", "{Age,Nation}"];
    assert_eq!(fine(&args), format!("{line}\n"));
    assert_eq!(fine(&["cat", &file]).lines().count(), 10);
    assert_eq!(fine(&["cat", &file, "--entries", "3350:"]).lines().count(), 4);
    assert_eq!(fine(&["cat", &file, "--entries", ":"]).lines().count(), 3354);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn lines_of_a_tree() {
    let file = file(ZMUMU);
    let args = ["cat", &file, "--entries", "0:1", "--filter", "{Type,Run,Event,E1,Q1}"];
    let expected =
        "{\"Type\":\"GT\",\"Run\":148031,\"Event\":10507008,\"E1\":82.2018663875,\"Q1\":1}\n";
    assert_eq!(fine(&args), expected);
}

/// Compares a histogram with what uproot reads.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn objects_are_their_members() {
    let file = file("ttree/uproot-histograms.root");
    for json in [&[][..], &["--json"]] {
        let name = format!("{file}:one");
        let ran = nyssa(&[&["cat", &name], json].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let printed: Value = serde_json::from_str(&ran.out).unwrap();
        let printed = if json.is_empty() { printed } else { printed["object"].clone() };
        assert_eq!(printed["fName"], "one");
        assert_eq!(printed["fNcells"], 12);
        assert_eq!(printed["fXaxis"]["fXmax"], 3.0);
        let bins: Vec<f64> = serde_json::from_value(printed["fArray"].clone()).unwrap();
        assert_eq!(bins, [0., 68., 285., 755., 1580., 2296., 2286., 1570., 795., 289., 76., 0.]);
    }
    let ran = nyssa(&["cat", &format!("{file}:one"), "-n", "3"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.err, "error: \"one\" is a TH1F, which has no entries to choose from\n");
}

/// A basket in the middle is damaged. The entries before it are in the document, and so is the error.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn json_is_complete_also_on_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.root");
    let mut bytes = std::fs::read(data("ttree/uproot-HZZ-lz4.root")).unwrap();
    let third = bytes.len() * 3 / 10;
    bytes[third..].iter_mut().step_by(37).take(60).for_each(|byte| *byte ^= 0x5a);
    std::fs::write(&path, bytes).unwrap();
    let ran = nyssa(&["cat", path.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let printed: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&printed["version"], &printed["error"]["exit_code"]), (&1.into(), &1.into()));
    assert_eq!(printed["error"]["kind"], "Checksum");
    assert!(printed["entries"].is_array());
}
