//! Encodes numbers.

use std::ops::Range;

use super::misfit;
use super::source::Numbers;
use crate::arrow::{Native, Number, each_number};
use crate::error::Result;
use crate::streamer::basic::Basic;

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
