//! Streamed numbers → columns of numbers.

use super::column::{Column, Numbers, mismatch};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::rootfile::object::Basic;

/// `TObject::kIsReferenced`: a process id follows the bits.
const IS_REFERENCED: u32 = 1 << 4;

/// Appends `count` numbers.
pub(super) fn read(
    basic: Basic,
    cursor: &mut Cursor<'_>,
    count: usize,
    column: &mut Column,
) -> Result<()> {
    let Column::Number(numbers) = column else { return Err(mismatch()) };
    if basic == Basic::Bits {
        return bits(cursor, count, numbers);
    }
    let size = count.checked_mul(basic.size());
    let size = size.ok_or_else(|| cursor.error(format!("an array of {count} numbers")))?;
    let bytes = cursor.bytes(size)?;
    macro_rules! append {
        ($values:ident, $type:ty) => {
            $values.extend(bytes.as_chunks().0.iter().map(|&one| <$type>::from_be_bytes(one)))
        };
    }
    match (basic, numbers) {
        (Basic::Bool, Numbers::Bool(values)) => {
            bytes.iter().for_each(|&byte| values.append(byte != 0));
        }
        (Basic::I8, Numbers::I8(values)) => append!(values, i8),
        (Basic::U8, Numbers::U8(values)) => values.extend_from_slice(bytes),
        (Basic::I16, Numbers::I16(values)) => append!(values, i16),
        (Basic::U16, Numbers::U16(values)) => append!(values, u16),
        (Basic::I32, Numbers::I32(values)) => append!(values, i32),
        (Basic::U32, Numbers::U32(values)) => append!(values, u32),
        (Basic::I64, Numbers::I64(values)) => append!(values, i64),
        (Basic::U64, Numbers::U64(values)) => append!(values, u64),
        (Basic::F32, Numbers::F32(values)) => append!(values, f32),
        (Basic::F64, Numbers::F64(values)) => append!(values, f64),
        (Basic::Double32, Numbers::F64(values)) => {
            let floats = bytes.as_chunks().0.iter().map(|&one| f32::from_be_bytes(one));
            values.extend(floats.map(f64::from));
        }
        (Basic::Ranged { .. } | Basic::Truncated { .. }, Numbers::F64(values)) => {
            values.extend(bytes.chunks_exact(basic.size()).map(|one| basic.unpack(one)));
        }
        (Basic::Ranged { .. } | Basic::Truncated { .. }, Numbers::F32(values)) => {
            values.extend(bytes.chunks_exact(basic.size()).map(|one| basic.unpack(one) as f32));
        }
        _ => return Err(mismatch()),
    }
    Ok(())
}

/// `TObject`'s bits as a member: a process id follows where they say so.
fn bits(cursor: &mut Cursor<'_>, count: usize, numbers: &mut Numbers) -> Result<()> {
    let Numbers::U32(values) = numbers else { return Err(mismatch()) };
    for _ in 0..count {
        let bits = cursor.be_u32()?;
        if bits & IS_REFERENCED != 0 {
            cursor.skip(2)?;
        }
        values.push(bits);
    }
    Ok(())
}

/// Appends one number to a column of `UInt32`.
pub(super) fn push_u32(column: &mut Column, value: u32) -> Result<()> {
    match column {
        Column::Number(Numbers::U32(values)) => {
            values.push(value);
            Ok(())
        }
        _ => Err(mismatch()),
    }
}
