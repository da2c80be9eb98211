//! Writes values of Arrow arrays as JSON.
//!
//! | value | JSON lines | the validation suite's style |
//! |---|---|---|
//! | integers | exact numbers | the same |
//! | floats | the shortest number that reads back to the same bits | C's `%a` in a string |
//! | not a number, infinities | `"nan"`, `"-nan"`, `"inf"`, `"-inf"` | the same |
//! | booleans | `true`, `false` | `1`, `0` |
//! | strings | strings; `{"bytes": [195, 40]}` when they are not UTF-8 | the same |
//! | pairs, tuples | arrays | the same |
//! | maps with strings as keys | objects; with other or repeated keys arrays of pairs | objects |
//! | classes | objects | the same |
//! | empty optional or pointer | `null` | the same |
//! | variants | the value they hold; `null` for none | the same |
//! | bitsets | strings of 0 and 1, the most significant bit first | the same |
//! | dates (`TDatime`) | `"2020-02-29 12:34:56"`; `null` for invalid dates | the same |
//! | pointers to objects | the object; `{"$ref": 3}` for one that is in the text already, as the JSON object with this number |
//! | objects that nyssa does not decode | `{"_typename": "TSome", "_undecoded": "the reason"}` | |
//! | objects serialised by ROOT's streamer | `{"bytes": [...]}` | the same |

mod float;
mod objects;

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type, UInt32Type};
use arrow_array::{Array, StructArray, downcast_integer_array};
use arrow_schema::DataType;
use nyssa_data::dataset::{CppKind, CppType};
use nyssa_root::arrow::Date;
use objects::Objects;
pub(crate) use objects::write_object;

/// The style of the JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonStyle {
    /// The style for people and scripts.
    Lines,
    /// The style of the RNTuple Validation Suite.
    Suite,
    /// The style of objects of any class, for people: the members of base classes are among the members of the class,
    /// and the items of a class `TArray` are its member `fArray`. See [`write_object`].
    Object,
}

/// How values are written.
#[derive(Clone, Copy)]
struct How<'a> {
    style: JsonStyle,
    /// The objects that pointers lead to.
    objects: Option<&'a Objects<'a>>,
    /// The number of objects around the value.
    depth: usize,
}

/// Writes one value.
///
/// # Errors
/// `out` cannot be written; `Unsupported` for Arrow types that no dataset has.
pub(crate) fn write(
    out: &mut dyn Write,
    array: &dyn Array,
    row: usize,
    cpp_type: &CppType,
    style: JsonStyle,
) -> io::Result<()> {
    value(out, array, row, cpp_type, How { style, objects: None, depth: 0 })
}

fn value(
    out: &mut dyn Write,
    array: &dyn Array,
    row: usize,
    cpp_type: &CppType,
    how: How<'_>,
) -> io::Result<()> {
    if array.is_null(row) {
        return out.write_all(b"null");
    }
    match array.data_type() {
        DataType::Boolean => {
            let value = array.as_boolean().value(row);
            let text = match (how.style, value) {
                (JsonStyle::Suite, true) => "1",
                (JsonStyle::Suite, false) => "0",
                (_, true) => "true",
                (_, false) => "false",
            };
            out.write_all(text.as_bytes())
        }
        DataType::UInt32 if cpp_type.kind == CppKind::Date => {
            match Date::unpack(array.as_primitive::<UInt32Type>().value(row)) {
                Some(date) => write!(out, "\"{date}\""),
                None => out.write_all(b"null"),
            }
        }
        DataType::UInt32 if cpp_type.kind == CppKind::Link => {
            objects::write(out, array.as_primitive::<UInt32Type>().value(row), how)
        }
        integer if integer.is_integer() => downcast_integer_array!(
            array => write!(out, "{}", array.value(row)),
            other => Err(unsupported(other)),
        ),
        DataType::Float16 => {
            let half = array.as_primitive::<Float16Type>().value(row);
            float::write_f32(out, half.to_f32(), how.style)
        }
        DataType::Float32 => {
            float::write_f32(out, array.as_primitive::<Float32Type>().value(row), how.style)
        }
        DataType::Float64 => {
            float::write_f64(out, array.as_primitive::<Float64Type>().value(row), how.style)
        }
        DataType::LargeBinary if cpp_type.kind == CppKind::Bytes => {
            bytes(out, array.as_binary::<i64>().value(row))
        }
        DataType::LargeBinary => string(out, array.as_binary::<i64>().value(row)),
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let (start, end) = (list.value_offsets()[row], list.value_offsets()[row + 1]);
            if cpp_type.kind == CppKind::Optional {
                return match end - start {
                    0 => out.write_all(b"null"),
                    _ => value(out, list.values(), start as usize, cpp_type.item(), how),
                };
            }
            items(out, list.values(), start as usize..end as usize, cpp_type, how)
        }
        DataType::FixedSizeList(_, size) => {
            let list = array.as_fixed_size_list();
            let start = list.value_offset_at(row);
            if cpp_type.kind == CppKind::Bitset {
                let bits = list.value(row);
                let digits = bits.as_boolean().values().iter();
                let digits: String = digits.map(|bit| if bit { '1' } else { '0' }).collect();
                return write!(out, "\"{}\"", digits.chars().rev().collect::<String>());
            }
            items(out, list.values(), start..start + *size as usize, cpp_type, how)
        }
        DataType::Struct(_) => record(out, array, row, cpp_type, how),
        DataType::Null => out.write_all(b"null"),
        DataType::Union(..) => {
            let union = array.as_union();
            let tag = union.type_id(row);
            // The first child means that there is no value.
            let alternative = cpp_type.member(usize::try_from(tag).unwrap_or(0).saturating_sub(1));
            value(out, union.child(tag), union.value_offset(row), alternative, how)
        }
        other => Err(unsupported(other)),
    }
}

fn items(
    out: &mut dyn Write,
    values: &dyn Array,
    rows: std::ops::Range<usize>,
    cpp_type: &CppType,
    how: How<'_>,
) -> io::Result<()> {
    let item = cpp_type.item();
    if cpp_type.kind == CppKind::Map && keys_are_names(values, rows.clone(), how) {
        return object(out, values, rows, item, how);
    }
    out.write_all(b"[")?;
    for (index, row) in rows.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        value(out, values, row, item, how)?;
    }
    out.write_all(b"]")
}

/// Returns whether the pairs of a map can be the members of an object without loss.
fn keys_are_names(pairs: &dyn Array, rows: std::ops::Range<usize>, how: How<'_>) -> bool {
    let Some(keys) = pairs.as_struct_opt().and_then(|pairs| pairs.columns().first()) else {
        return false;
    };
    let Some(keys) = keys.as_binary_opt::<i64>() else { return false };
    let mut seen = std::collections::HashSet::new();
    rows.map(|row| keys.value(row)).all(|key| {
        std::str::from_utf8(key).is_ok() && (seen.insert(key) || how.style == JsonStyle::Suite)
    })
}

fn object(
    out: &mut dyn Write,
    pairs: &dyn Array,
    rows: std::ops::Range<usize>,
    pair: &CppType,
    how: How<'_>,
) -> io::Result<()> {
    let [keys, values, ..] = pairs.as_struct().columns() else { return out.write_all(b"{}") };
    out.write_all(b"{")?;
    for (index, row) in rows.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        string(out, keys.as_binary::<i64>().value(row))?;
        out.write_all(b":")?;
        value(out, values, row, pair.member(1), how)?;
    }
    out.write_all(b"}")
}

fn record(
    out: &mut dyn Write,
    array: &dyn Array,
    row: usize,
    cpp_type: &CppType,
    how: How<'_>,
) -> io::Result<()> {
    let record = array.as_struct();
    if how.style == JsonStyle::Object {
        how.objects.iter().for_each(|objects| objects.begin());
        out.write_all(b"{")?;
        members(out, record, row, cpp_type, (how, &mut true))?;
        return out.write_all(b"}");
    }
    let tuple = cpp_type.kind == CppKind::Tuple;
    out.write_all(if tuple { b"[" } else { b"{" })?;
    for (index, (field, column)) in record.fields().iter().zip(record.columns()).enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        if !tuple {
            name(out, field.name())?;
        }
        value(out, column, row, cpp_type.member(index), how)?;
    }
    out.write_all(if tuple { b"]" } else { b"}" })
}

/// Writes the members of an object. The members of its base classes come first.
fn members(
    out: &mut dyn Write,
    record: &StructArray,
    row: usize,
    cpp_type: &CppType,
    (how, first): (How<'_>, &mut bool),
) -> io::Result<()> {
    for (index, (field, column)) in record.fields().iter().zip(record.columns()).enumerate() {
        let base = field.name().starts_with(":_");
        let cpp_type = cpp_type.member(index);
        if let (true, Some(base)) = (base, column.as_struct_opt()) {
            members(out, base, row, cpp_type, (how, &mut *first))?;
            continue;
        }
        if !std::mem::take(first) {
            out.write_all(b",")?;
        }
        let array = base && cpp_type.kind != CppKind::Link;
        name(out, if array { "fArray" } else { field.name() })?;
        value(out, column, row, cpp_type, how)?;
    }
    Ok(())
}

/// Writes the name of a member and the colon.
pub(crate) fn name(out: &mut dyn Write, name: &str) -> io::Result<()> {
    serde_json::to_writer(&mut *out, name)?;
    out.write_all(b":")
}

fn string(out: &mut dyn Write, value: &[u8]) -> io::Result<()> {
    match std::str::from_utf8(value) {
        Ok(text) => Ok(serde_json::to_writer(out, text)?),
        Err(_) => bytes(out, value),
    }
}

fn bytes(out: &mut dyn Write, value: &[u8]) -> io::Result<()> {
    out.write_all(b"{\"bytes\":")?;
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"}")
}

fn unsupported(data_type: &DataType) -> io::Error {
    let message =
        format!("there is no JSON for values of type {}", nyssa_root::arrow::brief(data_type));
    io::Error::new(io::ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests;
