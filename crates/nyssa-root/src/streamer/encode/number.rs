//! Encodes numbers.

use std::ops::Range;

use super::misfit;
use super::source::Numbers;
use crate::arrow::{Native, Number, each_number};
use crate::error::Result;
use crate::streamer::basic::Basic;
use crate::streamer::wire::IS_REFERENCED;

/// Appends the numbers in `rows`.
pub(super) fn write(
    basic: Basic,
    numbers: &Numbers<'_>,
    rows: Range<usize>,
    out: &mut Vec<u8>,
) -> Result<()> {
    match (basic, numbers) {
        (_, Numbers::Bool(values)) if basic == Basic::Plain(Number::Bool) => {
            if rows.end > arrow_array::Array::len(*values) {
                return Err(misfit());
            }
            out.extend(rows.map(|row| u8::from(values.value(row))));
        }
        (Basic::Plain(_) | Basic::Date, numbers) if numbers.number() == basic.number() => {
            each_number!(Numbers, numbers, values => {
                let values = values.get(rows).ok_or_else(misfit)?;
                out.reserve(values.len().saturating_mul(basic.size()));
                values.iter().for_each(|value| value.put_be(out));
            }, _bits => return Err(misfit()));
        }
        (Basic::Double32, Numbers::Float64(values)) => {
            let values = values.get(rows).ok_or_else(misfit)?;
            values.iter().for_each(|&value| (value as f32).put_be(out));
        }
        (Basic::Bits, Numbers::UInt32(values)) => {
            for &value in values.get(rows).ok_or_else(misfit)? {
                bits(value, out);
            }
        }
        (Basic::Ranged { .. } | Basic::Truncated { .. }, Numbers::Float64(values)) => {
            let values = values.get(rows).ok_or_else(misfit)?;
            values.iter().for_each(|&value| basic.pack(value, out));
        }
        (Basic::Ranged { .. } | Basic::Truncated { .. }, Numbers::Float32(values)) => {
            let values = values.get(rows).ok_or_else(misfit)?;
            values.iter().for_each(|&value| basic.pack(value.into(), out));
        }
        _ => return Err(misfit()),
    }
    Ok(())
}

/// Appends the bits of a `TObject`, and the number of a process if the bits say that the object is referenced. Arrays
/// do not hold this number; it is always the number of the first process of the file.
pub(super) fn bits(value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes());
    if value & IS_REFERENCED != 0 {
        out.extend_from_slice(&[0; 2]);
    }
}
