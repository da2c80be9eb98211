//! Helpers of the tests of reading: the data folder, opening files, arrays as JSON.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, types::*};
use arrow_schema::DataType;
use nyssa::rootfile::RootFile;
use nyssa::{Context, Dataset};
use nyssa_testdata::{data, testdata};
use serde_json::{Map, Value, json};

/// Two threads, made once.
pub fn context() -> Context {
    static CONTEXT: LazyLock<Context> = LazyLock::new(|| Context::new(Some(2)).unwrap());
    CONTEXT.clone()
}

/// Opens a file of `NYSSA_TEST_DATA`.
pub fn open(file: &str) -> RootFile {
    open_path(&data(file))
}

/// Opens a file of `testdata/rntuple`.
pub fn open_testdata(name: &str) -> RootFile {
    open_path(&testdata(&format!("rntuple/{name}.root")))
}

fn open_path(path: &Path) -> RootFile {
    RootFile::open(nyssa_io::open(path).unwrap()).unwrap()
}

pub fn memory(bytes: Vec<u8>) -> nyssa::Result<RootFile> {
    RootFile::open(Arc::new(nyssa_io::MemorySource::new("memory.root", bytes)))
}

/// All readable columns, by name.
pub fn readable(dataset: &dyn Dataset) -> Vec<&str> {
    let items = dataset.columns().iter().filter(|item| item.field.is_ok());
    items.map(|item| item.name.as_str()).collect()
}

/// Checks array types against the promised ones and returns the arrays.
pub fn read_all(dataset: &dyn Dataset, names: &[&str]) -> Vec<ArrayRef> {
    let arrays = dataset.read(names, 0..dataset.num_entries(), &context()).unwrap();
    for (name, array) in names.iter().zip(&arrays) {
        let item = dataset.find_column(name).unwrap();
        assert_eq!(array.data_type(), item.field.as_ref().unwrap().data_type(), "{name}");
        assert_eq!(array.len() as u64, dataset.num_entries(), "{name}");
    }
    arrays
}

/// One value in the notation of the RNTuple Validation Suite: floats as hexadecimal strings, booleans
/// as 0 and 1; pairs as lists, maps as objects.
pub fn value(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => json!(u8::from(array.as_boolean().value(row))),
        DataType::Int8 => json!(array.as_primitive::<Int8Type>().value(row)),
        DataType::UInt8 => json!(array.as_primitive::<UInt8Type>().value(row)),
        DataType::Int16 => json!(array.as_primitive::<Int16Type>().value(row)),
        DataType::UInt16 => json!(array.as_primitive::<UInt16Type>().value(row)),
        DataType::Int32 => json!(array.as_primitive::<Int32Type>().value(row)),
        DataType::UInt32 => json!(array.as_primitive::<UInt32Type>().value(row)),
        DataType::Int64 => json!(array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt64 => json!(array.as_primitive::<UInt64Type>().value(row)),
        DataType::Float32 => hex(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => hex(array.as_primitive::<Float64Type>().value(row)),
        DataType::LargeBinary => {
            json!(String::from_utf8_lossy(array.as_binary::<i64>().value(row)))
        }
        DataType::LargeList(_) => list(array.as_list::<i64>().value(row).as_ref()),
        DataType::FixedSizeList(..) => list(array.as_fixed_size_list().value(row).as_ref()),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let members =
                fields.iter().zip(columns).map(|(f, c)| (f.name().clone(), value(c, row)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        DataType::Null => Value::Null,
        DataType::Union(..) => {
            let union = array.as_union();
            value(union.child(union.type_id(row)), union.value_offset(row))
        }
        other => panic!("no JSON for {other}"),
    }
}

fn list(array: &dyn Array) -> Value {
    (0..array.len()).map(|row| value(array, row)).collect()
}

/// C's `%a`.
pub fn hex(value: f64) -> Value {
    let bits = value.to_bits();
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let mantissa = bits & ((1 << 52) - 1);
    let exponent = (bits >> 52 & 0x7FF) as i64;
    let (lead, exponent) = match exponent {
        0 if mantissa == 0 => return json!(format!("{sign}0x0p+0")),
        0 => (0, -1022),
        exponent => (1, exponent - 1023),
    };
    let digits = format!("{mantissa:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    json!(format!("{sign}0x{lead}{point}{digits}p{exponent:+}"))
}

/// Rewrites a value to the suite's notation of its C++ type: maps as objects, pairs and tuples as lists.
pub fn like(expected: &Value, found: Value) -> Value {
    match (expected, found) {
        (Value::Object(keys), Value::Array(pairs)) => {
            let entry = |pair: Value| {
                let key = pair["_0"].as_str().unwrap().to_owned();
                let inner = keys.get(&key).unwrap_or(&Value::Null);
                let value = like(inner, pair["_1"].clone());
                (key, value)
            };
            Value::Object(pairs.into_iter().map(entry).collect())
        }
        (Value::Object(keys), Value::Object(members)) => {
            let null = Value::Null;
            let member = |(name, value)| {
                let value = like(keys.get(&name).unwrap_or(&null), value);
                (name, value)
            };
            Value::Object(members.into_iter().map(member).collect())
        }
        (Value::Array(items), Value::Object(members)) => {
            items.iter().zip(members).map(|(item, (_, value))| like(item, value)).collect()
        }
        (Value::Array(items), Value::Array(values)) => {
            let null = Value::Null;
            let item = |(index, value)| like(items.get(index).unwrap_or(&null), value);
            values.into_iter().enumerate().map(item).collect()
        }
        // Bitsets as strings, the last bit first.
        (Value::String(digits), Value::Array(bits))
            if digits.len() == bits.len() && digits.bytes().all(|it| it == b'0' || it == b'1') =>
        {
            let digit = |bit: &Value| if bit == &json!(1) { '1' } else { '0' };
            json!(bits.iter().rev().map(digit).collect::<String>())
        }
        // Optional variants are lists of no or one item.
        (Value::Null, Value::Array(items)) if items.is_empty() => Value::Null,
        (Value::String(_) | Value::Number(_), Value::Array(items)) if items.len() == 1 => {
            items.into_iter().next().unwrap()
        }
        (_, found) => found,
    }
}
