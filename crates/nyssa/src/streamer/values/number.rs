//! Streamed numbers as values.

use crate::cursor::Cursor;
use crate::error::Result;
use crate::streamer::basic::Basic;
use crate::streamer::values::value::{Numbers, Value};
use crate::streamer::wire::IS_REFERENCED;

impl Basic {
    /// Reads one value.
    pub fn read(self, cursor: &mut Cursor<'_>) -> Result<Value> {
        Ok(match self {
            Self::Bool => Value::Bool(cursor.u8()? != 0),
            Self::I8 => Value::Int(i64::from(i8::from_be_bytes(cursor.array()?))),
            Self::U8 => Value::UInt(cursor.u8()?.into()),
            Self::I16 => Value::Int(cursor.be_i16()?.into()),
            Self::U16 => Value::UInt(cursor.be_u16()?.into()),
            Self::I32 => Value::Int(cursor.be_i32()?.into()),
            Self::U32 => Value::UInt(cursor.be_u32()?.into()),
            Self::I64 => Value::Int(cursor.be_i64()?),
            Self::U64 => Value::UInt(cursor.be_u64()?),
            Self::F32 | Self::Double32 => Value::Float(cursor.be_f32()?.into()),
            Self::F64 => Value::Float(cursor.be_f64()?),
            Self::Bits => {
                let bits = cursor.be_u32()?;
                if bits & IS_REFERENCED != 0 {
                    cursor.skip(2)?;
                }
                Value::UInt(bits.into())
            }
            Self::Ranged { .. } | Self::Truncated { .. } => {
                Value::Float(self.unpack(cursor.bytes(self.size())?))
            }
        })
    }

    /// Reads `count` values.
    pub fn read_many(self, cursor: &mut Cursor<'_>, count: usize) -> Result<Numbers> {
        let size = count
            .checked_mul(self.size())
            .ok_or_else(|| cursor.error(format!("an array of {count} numbers")))?;
        let bytes = cursor.bytes(size)?;
        Ok(match self {
            Self::Bool => Numbers::Bool(bytes.iter().map(|&byte| byte != 0).collect()),
            Self::I8 => Numbers::I8(map(bytes, i8::from_be_bytes)),
            Self::U8 => Numbers::U8(bytes.into()),
            Self::I16 => Numbers::I16(map(bytes, i16::from_be_bytes)),
            Self::U16 => Numbers::U16(map(bytes, u16::from_be_bytes)),
            Self::I32 => Numbers::I32(map(bytes, i32::from_be_bytes)),
            Self::U32 | Self::Bits => Numbers::U32(map(bytes, u32::from_be_bytes)),
            Self::I64 => Numbers::I64(map(bytes, i64::from_be_bytes)),
            Self::U64 => Numbers::U64(map(bytes, u64::from_be_bytes)),
            Self::F32 => Numbers::F32(map(bytes, f32::from_be_bytes)),
            Self::F64 => Numbers::F64(map(bytes, f64::from_be_bytes)),
            Self::Double32 => Numbers::F64(map(bytes, |one| f32::from_be_bytes(one).into())),
            Self::Ranged { .. } | Self::Truncated { .. } => {
                Numbers::F64(bytes.chunks_exact(self.size()).map(|one| self.unpack(one)).collect())
            }
        })
    }
}

fn map<T, const N: usize>(bytes: &[u8], convert: impl Fn([u8; N]) -> T) -> Box<[T]> {
    bytes.as_chunks::<N>().0.iter().map(|&one| convert(one)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacked_doubles_are_floats() {
        let double32 = Basic::from_code(9, "no range").unwrap();
        let value = double32.read(&mut Cursor::new(&1.25_f32.to_be_bytes(), 0)).unwrap();
        assert_eq!(value, Value::Float(1.25));
    }

    #[test]
    fn arrays_of_numbers() {
        let bytes = [0xFF, 0xFE, 0x00, 0x03];
        let many = |basic: Basic, count| basic.read_many(&mut Cursor::new(&bytes, 0), count);
        assert_eq!(many(Basic::I16, 2).unwrap(), Numbers::I16([-2, 3].into()));
        assert_eq!(many(Basic::U16, 2).unwrap().to_i64(), Some(vec![65534, 3]));
        assert_eq!(many(Basic::U32, 1).unwrap(), Numbers::U32([0xFFFE_0003].into()));
        let error = many(Basic::I64, 1).unwrap_err().to_string();
        assert_eq!(error, "needs 8 bytes where 4 are left (byte 0)");
        let error = many(Basic::I64, usize::MAX).unwrap_err().to_string();
        assert_eq!(error, format!("an array of {} numbers (byte 0)", usize::MAX));
    }
}
