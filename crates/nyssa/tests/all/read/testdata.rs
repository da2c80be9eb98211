//! Compares the RNTuples of `testdata` with the values that ROOT reads in them.

use crate::support::reading::{Notation, object, open_testdata, read_all, readable};
use arrow_array::Array;
use nyssa_data::Dataset;
use nyssa_rntuple::read::Reader;
use nyssa_testdata::testdata;
use serde_json::{Value, json};

/// Returns one value in the form of `show.hxx`.
fn shown(array: &dyn Array, row: usize) -> Value {
    let notation = Notation {
        boolean: Value::Bool,
        float: |value| json!(format!("{value:?}")),
        record: |members| {
            let tuple = members.iter().enumerate().all(|(n, (name, _))| *name == format!("_{n}"));
            match tuple && !members.is_empty() {
                true => members.into_iter().map(|(_, value)| value).collect(),
                false => object(members),
            }
        },
        variant: |alternatives, id, value| {
            // A variant without a value has an alternative of its own, in front.
            let first = alternatives.iter().next().is_some_and(|(_, field)| field.name() == "none");
            json!({ "variant": [id - i8::from(first), value] })
        },
    };
    notation.value(array, row)
}

/// Parses a line. Floats are texts here: `serde_json` reads some of them as their neighbours.
fn parsed(line: &str) -> Value {
    let (mut out, mut inside, mut rest) = (String::new(), false, line);
    while let Some(first) = rest.chars().next() {
        let number = !inside && (first.is_ascii_digit() || "-IN".contains(first));
        let size = if number { rest.find([',', ']', '}']).unwrap() } else { first.len_utf8() };
        let (token, after) = rest.split_at(size);
        let float = number && token.contains(['.', 'e', 'I', 'N']);
        inside ^= first == '"';
        out += &if float { format!("\"{token}\"") } else { token.to_owned() };
        rest = after;
    }
    serde_json::from_str(&out).unwrap()
}

/// Returns whether two values are equal. Floats are texts; ROOT shows whole ones as whole numbers.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::String(a), Value::Number(b)) => a.parse().ok() == b.as_f64(),
        (Value::String(a), Value::String(b)) => {
            a == b || a.parse::<f64>().is_ok_and(|a| b.parse() == Ok(a))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => ours == theirs,
    }
}

#[test]
fn every_field_reads_as_root_reads_it() {
    let lines = std::fs::read_to_string(testdata("rntuple/values.jsonl")).unwrap();
    let (mut ntuples, mut fields) = (0, 0);
    for entry in lines.lines().map(parsed) {
        let (file, name) = (entry["file"].as_str().unwrap(), entry["name"].as_str().unwrap());
        let Some(expected) = entry["fields"].as_object() else { continue };
        let root = open_testdata(file.trim_end_matches(".root"));
        let reader = Reader::open(&root, name).unwrap();
        let names = readable(&reader);
        assert_eq!(names.len(), reader.columns().len(), "{file}");
        for (name, array) in names.iter().zip(read_all(&reader, &names)) {
            // An untyped record has only its members here.
            let Some(expected) = expected.get(*name) else { continue };
            let (kind, values) = (expected[0].as_str().unwrap(), expected[1].as_array().unwrap());
            assert_eq!(values.len() as u64, reader.num_entries());
            for (row, theirs) in values.iter().enumerate() {
                let mut ours = shown(&array, row);
                let mut theirs = theirs.clone();
                if kind.starts_with("std::optional<std::optional")
                    || kind.starts_with("std::optional<std::variant")
                {
                    // These are lists of no or one item, since nothing in nothing is not nothing.
                    ours = ours.as_array().unwrap().first().cloned().unwrap_or(Value::Null);
                }
                if kind.contains("unordered") {
                    for list in [&mut ours, &mut theirs] {
                        list.as_array_mut().unwrap().sort_by_key(Value::to_string);
                    }
                }
                assert!(same(&ours, &theirs), "{file}, {name}, entry {row}: {ours} {theirs}");
            }
            fields += 1;
        }
        ntuples += 1;
    }
    assert!(ntuples >= 21 && fields >= 250, "{ntuples} RNTuples, {fields} fields");
}
