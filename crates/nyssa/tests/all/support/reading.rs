//! Has helpers of the tests of reading: the data folder, opening files, arrays as JSON.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, downcast_integer_array};
use arrow_schema::{DataType, UnionFields};
use nyssa_data::Dataset;
use nyssa_root::Context;
use nyssa_root::rootfile::RootFile;
use nyssa_testdata::{data, testdata};
use serde_json::{Value, json};

/// Returns a context with two threads. All tests share it.
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

pub fn memory(bytes: Vec<u8>) -> nyssa_root::Result<RootFile> {
    RootFile::open(Arc::new(nyssa_io::MemorySource::new("memory.root", bytes)))
}

/// Returns the names of all readable columns.
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

/// The notation of JSON values.
pub struct Notation {
    pub boolean: fn(bool) -> Value,
    pub float: fn(f64) -> Value,
    pub record: fn(Vec<(String, Value)>) -> Value,
    /// Gets the alternatives, the type id, and the value.
    pub variant: fn(&UnionFields, i8, Value) -> Value,
}

impl Notation {
    /// Returns one value.
    pub fn value(&self, array: &dyn Array, row: usize) -> Value {
        if array.is_null(row) {
            return Value::Null;
        }
        let list = |items: &dyn Array| (0..items.len()).map(|row| self.value(items, row)).collect();
        match array.data_type() {
            DataType::Boolean => (self.boolean)(array.as_boolean().value(row)),
            DataType::Float32 => {
                (self.float)(array.as_primitive::<Float32Type>().value(row).into())
            }
            DataType::Float64 => (self.float)(array.as_primitive::<Float64Type>().value(row)),
            DataType::LargeBinary => {
                json!(String::from_utf8_lossy(array.as_binary::<i64>().value(row)))
            }
            DataType::LargeList(_) => list(array.as_list::<i64>().value(row).as_ref()),
            DataType::FixedSizeList(..) => list(array.as_fixed_size_list().value(row).as_ref()),
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns().iter();
                let members = fields.iter().zip(columns);
                let members = members.map(|(f, c)| (f.name().clone(), self.value(c, row)));
                (self.record)(members.collect())
            }
            DataType::Null => Value::Null,
            DataType::Union(alternatives, _) => {
                let union = array.as_union();
                let (id, at) = (union.type_id(row), union.value_offset(row));
                (self.variant)(alternatives, id, self.value(union.child(id), at))
            }
            _ => downcast_integer_array!(
                array => json!(array.value(row)),
                other => panic!("no JSON for {other}"),
            ),
        }
    }
}

/// Returns one value in the notation of the RNTuple Validation Suite: floats are hexadecimal strings, booleans
/// are 0 and 1.
pub fn value(array: &dyn Array, row: usize) -> Value {
    let suite = Notation {
        boolean: |value| json!(u8::from(value)),
        float: hex,
        record: object,
        variant: |_, _, value| value,
    };
    suite.value(array, row)
}

/// Returns a record as a JSON object.
pub fn object(members: Vec<(String, Value)>) -> Value {
    Value::Object(members.into_iter().collect())
}

/// Returns a number as `%a` of C prints it.
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

/// Rewrites a value to the suite's notation of its C++ type: maps become objects, pairs and tuples become lists.
pub fn like(expected: &Value, value: Value) -> Value {
    match (expected, value) {
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
        // Bitsets are strings, the last bit first.
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
        (_, value) => value,
    }
}
