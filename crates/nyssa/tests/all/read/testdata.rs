//! The RNTuples of `testdata` against what ROOT reads in them.

use crate::support::reading::{open_testdata, read_all, readable};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use nyssa::Dataset;
use nyssa::rntuple::read::Reader;
use nyssa_testdata::testdata;
use serde_json::{Map, Value, json};

/// One value in the form of `show.hxx`.
fn shown(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let all = |array: &ArrayRef| (0..array.len()).map(|row| shown(array, row)).collect();
    match array.data_type() {
        DataType::Boolean => json!(array.as_boolean().value(row)),
        DataType::Int8 => json!(array.as_primitive::<Int8Type>().value(row)),
        DataType::UInt8 => json!(array.as_primitive::<UInt8Type>().value(row)),
        DataType::Int16 => json!(array.as_primitive::<Int16Type>().value(row)),
        DataType::UInt16 => json!(array.as_primitive::<UInt16Type>().value(row)),
        DataType::Int32 => json!(array.as_primitive::<Int32Type>().value(row)),
        DataType::UInt32 => json!(array.as_primitive::<UInt32Type>().value(row)),
        DataType::Int64 => json!(array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt64 => json!(array.as_primitive::<UInt64Type>().value(row)),
        DataType::Float32 => float(f64::from(array.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::LargeBinary => {
            json!(str::from_utf8(array.as_binary::<i64>().value(row)).unwrap())
        }
        DataType::LargeList(_) => all(&array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => all(&array.as_fixed_size_list().value(row)),
        DataType::Struct(fields) => {
            let values = array.as_struct().columns().iter().map(|column| shown(column, row));
            let names = fields.iter().map(|field| field.name().clone());
            if !fields.is_empty() && names.clone().enumerate().all(|(n, it)| it == format!("_{n}"))
            {
                return values.collect();
            }
            Value::Object(names.zip(values).collect::<Map<_, _>>())
        }
        DataType::Union(fields, _) => {
            let union = array.as_union();
            let (id, at) = (union.type_id(row), union.value_offset(row));
            // A variant without a value has an alternative of its own, in front.
            let first = fields.iter().next().is_some_and(|(_, field)| field.name() == "none");
            json!({ "variant": [id - i8::from(first), shown(union.child(id), at)] })
        }
        DataType::Null => Value::Null,
        other => panic!("no JSON for {other}"),
    }
}

fn float(value: f64) -> Value {
    json!(format!("{value:?}"))
}

/// Floats are texts here: `serde_json` reads some of them as their neighbours.
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

/// Floats are texts; ROOT shows whole ones as whole numbers.
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
    for one in lines.lines().map(parsed) {
        let (file, name) = (one["file"].as_str().unwrap(), one["name"].as_str().unwrap());
        let Some(expected) = one["fields"].as_object() else { continue };
        let root = open_testdata(file.trim_end_matches(".root"));
        let reader = Reader::open(&root, name).unwrap();
        let names = readable(&reader);
        assert_eq!(names.len(), reader.columns().len(), "{file}");
        for (name, array) in names.iter().zip(read_all(&reader, &names)) {
            // Of an untyped record there are the members.
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
                    for one in [&mut ours, &mut theirs] {
                        one.as_array_mut().unwrap().sort_by_key(Value::to_string);
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
