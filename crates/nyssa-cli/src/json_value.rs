//! Values of Arrow arrays as JSON.
//!
//! | value | JSON lines | the validation suite's form |
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
//! | dates (`TDatime`) | `"2020-02-29 12:34:56"`; `null` for what is no date | the same |
//! | objects serialised by ROOT's streamer | `{"bytes": [...]}` | the same |

mod float;
mod notation;

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::{Array, StructArray, types::*};
use arrow_schema::DataType;
use nyssa::arrow::Date;

pub use notation::{Kind, Notation};

/// Which of the two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people and scripts.
    Lines,
    /// That of the RNTuple Validation Suite.
    Suite,
    /// Objects of any class as for people: members of base classes are among those of the class, and
    /// the items of a class `TArray` are its member `fArray`.
    Object,
}

/// Writes one value.
///
/// # Errors
/// Those of `out`; `Unsupported` for Arrow types that no dataset has.
pub fn write(
    out: &mut dyn Write,
    array: &dyn Array,
    row: usize,
    notation: &Notation,
    form: Form,
) -> io::Result<()> {
    if array.is_null(row) {
        return out.write_all(b"null");
    }
    match array.data_type() {
        DataType::Boolean => {
            let value = array.as_boolean().value(row);
            let text = match (form, value) {
                (Form::Suite, true) => "1",
                (Form::Suite, false) => "0",
                (_, true) => "true",
                (_, false) => "false",
            };
            out.write_all(text.as_bytes())
        }
        DataType::Int8 => write!(out, "{}", array.as_primitive::<Int8Type>().value(row)),
        DataType::UInt8 => write!(out, "{}", array.as_primitive::<UInt8Type>().value(row)),
        DataType::Int16 => write!(out, "{}", array.as_primitive::<Int16Type>().value(row)),
        DataType::UInt16 => write!(out, "{}", array.as_primitive::<UInt16Type>().value(row)),
        DataType::Int32 => write!(out, "{}", array.as_primitive::<Int32Type>().value(row)),
        DataType::UInt32 if notation.kind == Kind::Date => {
            match Date::unpack(array.as_primitive::<UInt32Type>().value(row)) {
                Some(date) => write!(out, "\"{date}\""),
                None => out.write_all(b"null"),
            }
        }
        DataType::UInt32 => write!(out, "{}", array.as_primitive::<UInt32Type>().value(row)),
        DataType::Int64 => write!(out, "{}", array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt64 => write!(out, "{}", array.as_primitive::<UInt64Type>().value(row)),
        DataType::Float32 => {
            float::write_f32(out, array.as_primitive::<Float32Type>().value(row), form)
        }
        DataType::Float64 => {
            float::write_f64(out, array.as_primitive::<Float64Type>().value(row), form)
        }
        DataType::LargeBinary if notation.kind == Kind::Bytes => {
            bytes(out, array.as_binary::<i64>().value(row))
        }
        DataType::LargeBinary => string(out, array.as_binary::<i64>().value(row)),
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let (start, end) = (list.value_offsets()[row], list.value_offsets()[row + 1]);
            if notation.kind == Kind::Optional {
                return match end - start {
                    0 => out.write_all(b"null"),
                    _ => write(out, list.values(), start as usize, notation.item(), form),
                };
            }
            items(out, list.values(), start as usize..end as usize, notation, form)
        }
        DataType::FixedSizeList(_, size) => {
            let list = array.as_fixed_size_list();
            let start = list.value_offset_at(row);
            if notation.kind == Kind::Bitset {
                let bits = list.value(row);
                let digits = bits.as_boolean().values().iter();
                let digits: String = digits.map(|bit| if bit { '1' } else { '0' }).collect();
                return write!(out, "\"{}\"", digits.chars().rev().collect::<String>());
            }
            items(out, list.values(), start..start + *size as usize, notation, form)
        }
        DataType::Struct(_) => record(out, array, row, notation, form),
        DataType::Null => out.write_all(b"null"),
        DataType::Union(..) => {
            let union = array.as_union();
            let tag = union.type_id(row);
            // The first child stands for no value.
            let alternative = notation.member(usize::try_from(tag).unwrap_or(0).saturating_sub(1));
            write(out, union.child(tag), union.value_offset(row), alternative, form)
        }
        other => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("there is no JSON for values of type {other}"),
        )),
    }
}

fn items(
    out: &mut dyn Write,
    values: &dyn Array,
    rows: std::ops::Range<usize>,
    notation: &Notation,
    form: Form,
) -> io::Result<()> {
    let item = notation.item();
    if notation.kind == Kind::Map && keys_are_names(values, rows.clone(), form) {
        return object(out, values, rows, item, form);
    }
    out.write_all(b"[")?;
    for (index, row) in rows.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write(out, values, row, item, form)?;
    }
    out.write_all(b"]")
}

/// Whether the pairs of a map can be the members of an object and nothing is lost.
fn keys_are_names(pairs: &dyn Array, rows: std::ops::Range<usize>, form: Form) -> bool {
    let Some(keys) = pairs.as_struct_opt().and_then(|pairs| pairs.columns().first()) else {
        return false;
    };
    let Some(keys) = keys.as_binary_opt::<i64>() else { return false };
    let mut seen = std::collections::HashSet::new();
    rows.map(|row| keys.value(row))
        .all(|key| std::str::from_utf8(key).is_ok() && (seen.insert(key) || form == Form::Suite))
}

fn object(
    out: &mut dyn Write,
    pairs: &dyn Array,
    rows: std::ops::Range<usize>,
    pair: &Notation,
    form: Form,
) -> io::Result<()> {
    let [keys, values, ..] = pairs.as_struct().columns() else { return out.write_all(b"{}") };
    out.write_all(b"{")?;
    for (index, row) in rows.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        string(out, keys.as_binary::<i64>().value(row))?;
        out.write_all(b":")?;
        write(out, values, row, pair.member(1), form)?;
    }
    out.write_all(b"}")
}

fn record(
    out: &mut dyn Write,
    array: &dyn Array,
    row: usize,
    notation: &Notation,
    form: Form,
) -> io::Result<()> {
    let record = array.as_struct();
    if form == Form::Object {
        out.write_all(b"{")?;
        members(out, record, row, notation, &mut true)?;
        return out.write_all(b"}");
    }
    let tuple = notation.kind == Kind::Tuple;
    out.write_all(if tuple { b"[" } else { b"{" })?;
    for (index, (field, column)) in record.fields().iter().zip(record.columns()).enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        if !tuple {
            name(out, field.name())?;
        }
        write(out, column, row, notation.member(index), form)?;
    }
    out.write_all(if tuple { b"]" } else { b"}" })
}

/// Writes the members of an object and of its base classes, these first.
fn members(
    out: &mut dyn Write,
    record: &StructArray,
    row: usize,
    notation: &Notation,
    first: &mut bool,
) -> io::Result<()> {
    for (index, (field, column)) in record.fields().iter().zip(record.columns()).enumerate() {
        let base = field.name().starts_with(":_");
        let notation = notation.member(index);
        if let (true, Some(base)) = (base, column.as_struct_opt()) {
            members(out, base, row, notation, first)?;
            continue;
        }
        if !std::mem::take(first) {
            out.write_all(b",")?;
        }
        name(out, if base { "fArray" } else { field.name() })?;
        write(out, column, row, notation, Form::Object)?;
    }
    Ok(())
}

/// Writes a member's name and the colon.
pub fn name(out: &mut dyn Write, name: &str) -> io::Result<()> {
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

#[cfg(test)]
mod tests;
