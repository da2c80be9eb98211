//! Converts the numbers of arrays to the type of a leaf, and writes them big-endian. Every value is checked: integers of
//! another width fit, and doubles are only rounded.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, types};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use nyssa_root::arrow::{Native, Number, brief, with_integer, with_number};
use nyssa_root::error::{Error, Result};

/// Converts an array to numbers of a type. Arrays of this type are not copied.
///
/// # Errors
/// `InvalidArgument` for arrays of other types, missing values, and values that do not fit, with their place in the
/// array.
pub(super) fn convert(array: &ArrayRef, number: Number) -> Result<ArrayRef> {
    let data_type = array.data_type();
    if array.logical_null_count() != 0 {
        let at =
            array.logical_nulls().and_then(|nulls| (0..nulls.len()).find(|&i| nulls.is_null(i)));
        return Err(at_entry(Error::invalid_argument("a value is missing"), at.unwrap_or(0)));
    }
    if *data_type == number.data_type() {
        return Ok(Arc::clone(array));
    }
    if array.is_empty() {
        return Ok(arrow_array::new_empty_array(&number.data_type()));
    }
    macro_rules! reals {
        ($type:ty) => {{
            let values = array.as_primitive::<$type>().values().iter();
            of_reals(values.map(|&value| f64::from(value)), number, data_type)
        }};
    }
    match (Number::of_data_type(data_type), data_type) {
        (Some(from), _) if !from.is_float() => with_integer!(from,
            T => {
                let values = array.as_primitive::<T>().values().iter();
                of_integers(values.map(|&value| i128::from(value)), number)
            },
            bool => of_integers(array.as_boolean().values().iter().map(i128::from), number),
            float => Err(mismatch(data_type, number))),
        (_, DataType::Float16) => reals!(types::Float16Type),
        (_, DataType::Float32) => reals!(types::Float32Type),
        (_, DataType::Float64) => reals!(types::Float64Type),
        _ => Err(mismatch(data_type, number)),
    }
}

fn of_integers(values: impl Iterator<Item = i128> + Clone, number: Number) -> Result<ArrayRef> {
    let range = number.integers();
    if let Some((at, value)) = values.clone().enumerate().find(|(_, value)| !range.contains(value))
    {
        return Err(at_entry(misfit(value, number), at));
    }
    Ok(with_number!(number,
        T => Native::array(values.map(|value| value as <T as ArrowPrimitiveType>::Native).collect()),
        bool => Arc::new(BooleanArray::from(values.map(|value| value != 0).collect::<Vec<_>>()))))
}

fn of_reals(
    values: impl Iterator<Item = f64> + Clone,
    number: Number,
    data_type: &DataType,
) -> Result<ArrayRef> {
    match number {
        Number::Float64 => Ok(Native::array(values.collect::<Vec<f64>>())),
        Number::Float32 => {
            let lost = |value: f64| value.is_finite() && !(value as f32).is_finite();
            match values.clone().enumerate().find(|(_, value)| lost(*value)) {
                Some((at, value)) => Err(at_entry(misfit(value, number), at)),
                None => Ok(Native::array(values.map(|value| value as f32).collect())),
            }
        }
        _ => Err(mismatch(data_type, number)),
    }
}

/// Appends the numbers `range` of an array of type `number`, big-endian.
pub(super) fn put(array: &dyn Array, number: Number, range: Range<usize>, out: &mut Vec<u8>) {
    with_number!(number,
    T => Native::put_all_be(&array.as_primitive::<T>().values()[range], out),
    bool => {
        let bits = array.as_boolean().values().slice(range.start, range.len());
        put_bits(&bits, out);
    });
}

/// Appends a byte for each bit, 64 bits at a time.
fn put_bits(bits: &BooleanBuffer, out: &mut Vec<u8>) {
    out.reserve(bits.len());
    let chunks = bits.bit_chunks();
    let spread = |word: u64| std::array::from_fn::<u8, 64, _>(|bit| (word >> bit & 1) as u8);
    chunks.iter().for_each(|word| out.extend_from_slice(&spread(word)));
    out.extend_from_slice(&spread(chunks.remainder_bits())[..chunks.remainder_len()]);
}

/// Returns the largest of some counts, or 0.
pub(super) fn largest(array: &ArrayRef, rows: &Range<usize>) -> i64 {
    let counts = convert(&array.slice(rows.start, rows.len()), Number::Int64);
    let largest =
        |counts: ArrayRef| counts.as_primitive::<types::Int64Type>().iter().flatten().max();
    counts.ok().and_then(largest).unwrap_or(0)
}

/// Appends the numbers of items between offsets as integers of type `number`. The caller has checked that they fit.
pub(super) fn put_counts(offsets: &[i64], number: Number, out: &mut Vec<u8>) {
    let counts = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    with_integer!(number,
        T => {
            let counts: Vec<<T as ArrowPrimitiveType>::Native> = counts.map(|count| count as _).collect();
            Native::put_all_be(&counts, out);
        },
        bool => out.extend(counts.map(|count| count as u8)),
        float => {});
}

fn mismatch(data_type: &DataType, number: Number) -> Error {
    Error::invalid_argument(format!(
        "an array of type {} cannot fill a leaf of type {}",
        brief(data_type),
        number.type_name()
    ))
}

fn misfit(value: impl std::fmt::Display, number: Number) -> Error {
    Error::invalid_argument(format!(
        "value {value} does not fit a leaf of type {}",
        number.type_name()
    ))
}

pub(super) fn at_entry(error: Error, entry: usize) -> Error {
    error.at(|place| place.entry = Some(entry as u64))
}
