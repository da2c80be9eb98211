//! Reads streamed numbers as values.

use std::mem::discriminant;

use arrow_array::ArrowPrimitiveType;

use crate::arrow::{Native, Number, each_number, numbers_of, with_number};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::streamer::basic::Basic;
use crate::streamer::values::value::{Numbers, Value};
use crate::streamer::wire::IS_REFERENCED;

impl Basic {
    /// Reads one value.
    pub fn read(self, cursor: &mut Cursor<'_>) -> Result<Value> {
        Ok(match self {
            Self::Plain(Number::Bool) => Value::Bool(cursor.u8()? != 0),
            Self::Plain(number) => {
                let bytes = cursor.bytes(number.size())?;
                with_number!(number, T => value::<<T as ArrowPrimitiveType>::Native>(bytes),
                    bool => Value::Null)
            }
            Self::Double32 => Value::Float(cursor.be_f32()?.into()),
            Self::Date => Value::UInt(cursor.be_u32()?.into()),
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
            Self::Plain(_) | Self::Bits | Self::Date => numbers_of!(Numbers, self.number(),
                T => <T as ArrowPrimitiveType>::Native::read_be(bytes).collect(),
                bool => bytes.iter().map(|&byte| byte != 0).collect()),
            Self::Double32 => Numbers::Float64(f32::read_be(bytes).map(f64::from).collect()),
            Self::Ranged { .. } | Self::Truncated { .. } => {
                let values = bytes.chunks_exact(self.size()).map(|item| self.unpack(item));
                Numbers::Float64(values.collect())
            }
        })
    }
}

/// The sizes in bytes of the data before the elements of an array: nothing, the byte of a pointer that is not null,
/// the length, and the header of a container with its length.
const BEFORE: [usize; 4] = [0, 1, 4, 10];

/// Returns the bytes of `new` in the form of `old`, whose bytes are `stored`. The data before the elements stays the
/// same, or changes with their number. Returns `None` for values of different types, and for numbers that take fewer
/// bytes in the file than in memory.
pub(super) fn bytes_of(new: &Value, old: &Value, stored: &[u8]) -> Option<Vec<u8>> {
    if discriminant(new) != discriminant(old) {
        return None;
    }
    let last = |bytes: [u8; 8]| Some(bytes.get(8usize.checked_sub(stored.len())?..)?.to_vec());
    match (new, old) {
        (Value::Bool(value), _) => Some(vec![u8::from(*value)]),
        (Value::Int(value), _) => last(value.to_be_bytes()),
        (Value::UInt(value), _) => last(value.to_be_bytes()),
        #[allow(clippy::cast_possible_truncation)]
        (Value::Float(value), _) if stored.len() == 4 => Some((*value as f32).to_be_bytes().into()),
        (Value::Float(value), _) if stored.len() == 8 => Some(value.to_be_bytes().into()),
        (Value::Numbers(new), Value::Numbers(old)) if discriminant(new) == discriminant(old) => {
            let size =
                each_number!(Numbers, old, values => size_of_val(&**values), bits => bits.len());
            let before = stored.len().checked_sub(size).filter(|size| BEFORE.contains(size))?;
            let mut bytes = match before {
                _ if new.len() == old.len() => stored.get(..before)?.to_vec(),
                1 => vec![u8::from(!new.is_empty())],
                4 => u32::try_from(new.len()).ok()?.to_be_bytes().to_vec(),
                _ => return None,
            };
            each_number!(Numbers, new, values => Native::put_all_be(values, &mut bytes),
                bits => bytes.extend(bits.iter().map(|&bit| u8::from(bit))));
            Some(bytes)
        }
        _ => None,
    }
}

/// Returns the number in `bytes`.
fn value<T: Native + Into<Value>>(bytes: &[u8]) -> Value {
    T::read_be(bytes).next().map_or(Value::Null, Into::into)
}

macro_rules! values {
    ($($type:ty => $value:ident;)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$value(value.into())
            }
        }
    )*};
}

values! {
    i8 => Int;
    i16 => Int;
    i32 => Int;
    i64 => Int;
    u8 => UInt;
    u16 => UInt;
    u32 => UInt;
    u64 => UInt;
    f32 => Float;
    f64 => Float;
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
        assert_eq!(many(Basic::Plain(Number::Int16), 2).unwrap(), Numbers::Int16([-2, 3].into()));
        assert_eq!(many(Basic::Plain(Number::UInt16), 2).unwrap().to_i64(), Some(vec![65534, 3]));
        assert_eq!(
            many(Basic::Plain(Number::UInt32), 1).unwrap(),
            Numbers::UInt32([0xFFFE_0003].into())
        );
        let error = many(Basic::Plain(Number::Int64), 1).unwrap_err().to_string();
        assert_eq!(error, "needs 8 bytes where 4 are left (byte 0)");
        let error = many(Basic::Plain(Number::Int64), usize::MAX).unwrap_err().to_string();
        assert_eq!(error, format!("an array of {} numbers (byte 0)", usize::MAX));
    }
}
