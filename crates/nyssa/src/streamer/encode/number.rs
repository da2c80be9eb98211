//! Columns of numbers → streamed numbers.

use std::ops::Range;

use super::misfit;
use super::source::Numbers;
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
    macro_rules! append {
        ($values:ident) => {
            append!($values, |value| value)
        };
        ($values:ident, $convert:expr) => {{
            let values = $values.get(rows).ok_or_else(misfit)?;
            out.extend(values.iter().map($convert).flat_map(|value| value.to_be_bytes()));
        }};
    }
    match (basic, numbers) {
        (Basic::Bool, Numbers::Bool(values)) => {
            if rows.end > arrow_array::Array::len(*values) {
                return Err(misfit());
            }
            out.extend(rows.map(|row| u8::from(values.value(row))));
        }
        (Basic::U8, Numbers::U8(values)) => {
            out.extend_from_slice(values.get(rows).ok_or_else(misfit)?);
        }
        (Basic::I8, Numbers::I8(values)) => append!(values),
        (Basic::I16, Numbers::I16(values)) => append!(values),
        (Basic::U16, Numbers::U16(values)) => append!(values),
        (Basic::I32, Numbers::I32(values)) => append!(values),
        (Basic::U32, Numbers::U32(values)) => append!(values),
        (Basic::I64, Numbers::I64(values)) => append!(values),
        (Basic::U64, Numbers::U64(values)) => append!(values),
        (Basic::F32, Numbers::F32(values)) => append!(values),
        (Basic::F64, Numbers::F64(values)) => append!(values),
        (Basic::Double32, Numbers::F64(values)) => append!(values, |&value| value as f32),
        (Basic::Bits, Numbers::U32(values)) => {
            for &value in values.get(rows).ok_or_else(misfit)? {
                bits(value, out);
            }
        }
        (Basic::Ranged { .. } | Basic::Truncated { .. }, Numbers::F64(values)) => {
            let values = values.get(rows).ok_or_else(misfit)?;
            values.iter().for_each(|&value| basic.pack(value, out));
        }
        (Basic::Ranged { .. } | Basic::Truncated { .. }, Numbers::F32(values)) => {
            let values = values.get(rows).ok_or_else(misfit)?;
            values.iter().for_each(|&value| basic.pack(value.into(), out));
        }
        _ => return Err(misfit()),
    }
    Ok(())
}

/// Appends `TObject`'s bits, and the process id that follows when they say that the object is referenced:
/// always the first of the file, for arrays of objects do not have it.
pub(super) fn bits(value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes());
    if value & IS_REFERENCED != 0 {
        out.extend_from_slice(&[0; 2]);
    }
}
