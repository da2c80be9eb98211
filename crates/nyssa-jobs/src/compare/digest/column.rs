//! Hashes the values of one column.
//!
//! A column is a tree of streams: a list has its lengths and the stream of its items, a text its lengths and the
//! stream of its characters, a record the streams of its members. Each stream is hashed by XXH3 (128 bits) over its
//! values one after the other, from the first entry to the last, for any division into clusters. Values are
//! little-endian: integers as 64 bits, floats as their bits, booleans as a byte, lengths as integers, characters of
//! text as bytes, all of a column one after the other. The digest is the XXH3 of one line for each stream:
//!
//! ```text
//! int 3 <hash>                   list 3 <hash>                  text 3 <hash>
//!                                list/float32 7 <hash>          text/bytes 12 <hash>
//! ```
//!
//! with its path, its number of values, and its hash as 32 hexadecimal digits. Members are in the order of their
//! names. Nulls are a stream of their positions, which is left out when there are no nulls; the other streams leave
//! them out.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt8Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, UnionArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use arrow_select::filter::filter;
use nyssa_root::arrow::{brief, bytes_of_bits, with_integer_type};
use nyssa_root::error::{Error, Result};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::compare::diff::{alternatives, lists, single};

/// The number of values that are converted to bytes at the same time.
const CHUNK: usize = 1024;

/// One stream of values, and its current hash.
#[derive(Clone)]
struct Stream {
    hash: Xxh3,
    count: u64,
}

/// The computation of the digest of a column, or of a part of it.
#[derive(Clone)]
pub struct ColumnHasher {
    kind: Kind,
    values: Box<Stream>,
    /// The positions of nulls. It is made for the first null.
    nulls: Option<Box<Stream>>,
    /// The items, members or alternatives, by name.
    parts: Vec<(String, ColumnHasher)>,
}

/// The kind of the values of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Int,
    Float(u8),
    Text,
    Bytes,
    List,
    Array(i32),
    Record,
    Variant,
}

impl ColumnHasher {
    /// Starts the digest of a column of this type. It has no values yet.
    ///
    /// # Errors
    /// Returns the reason why values of this type have no digest.
    pub fn new(data_type: &DataType) -> std::result::Result<Self, String> {
        let part = |data_type: &DataType| Ok::<_, String>((String::new(), Self::new(data_type)?));
        let (kind, mut parts) = match data_type {
            DataType::Null => (Kind::Null, Vec::new()),
            DataType::Boolean => (Kind::Bool, Vec::new()),
            integer if integer.is_integer() => (Kind::Int, Vec::new()),
            // RNTuples read half precision as single precision, which has all its values.
            DataType::Float16 | DataType::Float32 => (Kind::Float(32), Vec::new()),
            DataType::Float64 => (Kind::Float(64), Vec::new()),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
                let kind = Kind::Bytes;
                let bytes = Self { kind, values: Box::default(), nulls: None, parts: Vec::new() };
                (Kind::Text, vec![(String::new(), bytes)])
            }
            DataType::List(item) | DataType::LargeList(item) => {
                (Kind::List, vec![part(item.data_type())?])
            }
            DataType::FixedSizeList(item, size) => {
                (Kind::Array(*size), vec![part(item.data_type())?])
            }
            DataType::Struct(members) => {
                let members = members.iter().map(|member| {
                    Ok((format!(".{}", member.name()), Self::new(member.data_type())?))
                });
                (Kind::Record, members.collect::<std::result::Result<Vec<_>, String>>()?)
            }
            DataType::Union(alternatives, _) => {
                let alternatives = alternatives.iter().enumerate().map(|(index, (_, field))| {
                    Ok((format!("[{index}]"), Self::new(field.data_type())?))
                });
                (Kind::Variant, alternatives.collect::<std::result::Result<Vec<_>, String>>()?)
            }
            other => {
                return Err(format!("values of the Arrow type {} have no digest", brief(other)));
            }
        };
        if kind == Kind::Record {
            parts.sort_by(|a, b| a.0.cmp(&b.0));
        }
        Ok(Self { kind, values: Box::default(), nulls: None, parts })
    }

    /// Makes the digest of lists from the digests of their lengths and of their items.
    #[must_use]
    pub fn list(lengths: &Self, items: &Self) -> Self {
        let parts = vec![(String::new(), items.clone())];
        Self { kind: Kind::List, values: lengths.values.clone(), nulls: None, parts }
    }

    /// Adds the values that follow.
    ///
    /// # Errors
    /// `InvalidArgument` for an array of another type.
    pub fn add(&mut self, array: &dyn Array) -> Result<()> {
        let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
            return self.add_valid(array);
        };
        let first = self.values.count + self.nulls.as_ref().map_or(0, |nulls| nulls.count);
        let positions = (first..).zip(nulls.iter()).filter(|(_, valid)| !valid);
        let positions: Vec<u64> = positions.map(|(position, _)| position).collect();
        self.nulls.get_or_insert_default().add(&positions, u64::to_le_bytes);
        let valid = filter(array, &BooleanArray::new(nulls.inner().clone(), None));
        self.add_valid(&valid.map_err(|error| Error::invalid_argument(error.to_string()))?)
    }

    /// Adds the lengths between offsets, as integers.
    pub fn add_lengths(&mut self, offsets: &[i64]) {
        let ends = offsets.get(1..).unwrap_or_default();
        let lengths = ends.iter().zip(offsets).map(|(end, start)| end.wrapping_sub(*start));
        self.values.add(&lengths.collect::<Vec<i64>>(), i64::to_le_bytes);
    }

    fn add_valid(&mut self, array: &dyn Array) -> Result<()> {
        let other = || {
            Error::invalid_argument(format!(
                "an array of type {} came where others were before",
                brief(array.data_type())
            ))
        };
        match self.kind {
            Kind::Null => self.values.count += array.len() as u64,
            Kind::Bool => {
                self.values.bools(array.as_boolean_opt().ok_or_else(other)?.values());
            }
            Kind::Int => self.values.integers(array).ok_or_else(other)?,
            Kind::Float(32) if array.data_type() == &DataType::Float16 => {
                self.values.floats::<Float32Type, 4>(&single(array)).ok_or_else(other)?;
            }
            Kind::Float(32) => self.values.floats::<Float32Type, 4>(array).ok_or_else(other)?,
            Kind::Float(_) => self.values.floats::<Float64Type, 8>(array).ok_or_else(other)?,
            Kind::Text => {
                let text = lists(array).ok_or_else(other)?;
                self.add_lengths(&text.offsets);
                self.add_parts(|_, _| Some(Arc::clone(&text.items)), other)?;
            }
            Kind::Bytes => {
                let bytes = array.as_primitive_opt::<UInt8Type>().ok_or_else(other)?.values();
                self.values.hash.update(bytes);
                self.values.count += bytes.len() as u64;
            }
            Kind::List => {
                let list = lists(array).ok_or_else(other)?;
                self.add_lengths(&list.offsets);
                self.add_parts(|_, _| Some(Arc::clone(&list.items)), other)?;
            }
            Kind::Array(size) => {
                let list =
                    array.as_fixed_size_list_opt().filter(|list| list.value_length() == size);
                let list = list.ok_or_else(other)?;
                self.values.count += array.len() as u64;
                // The `values` of a slice are already limited to the slice.
                self.add_parts(|_, _| Some(Arc::clone(list.values())), other)?;
            }
            Kind::Record => {
                let record = array.as_struct_opt().ok_or_else(other)?;
                self.values.count += array.len() as u64;
                self.add_parts(|_, name| record.column_by_name(name.get(1..)?).cloned(), other)?;
            }
            Kind::Variant => self.add_variant(array.as_union_opt().ok_or_else(other)?)?,
        }
        Ok(())
    }

    fn add_parts(
        &mut self,
        part: impl Fn(usize, &str) -> Option<ArrayRef>,
        other: impl Fn() -> Error,
    ) -> Result<()> {
        self.parts.iter_mut().enumerate().try_for_each(|(index, (name, column))| {
            column.add(&part(index, name).ok_or_else(&other)?)
        })
    }

    /// Adds the number of the alternative of each value, and the values of each alternative.
    fn add_variant(&mut self, union: &UnionArray) -> Result<()> {
        let missing = || Error::invalid_argument("the values of a variant are not in order");
        self.values.add(union.type_ids(), i8::to_le_bytes);
        let values = alternatives(union).ok_or_else(missing)?;
        self.add_parts(|index, _| values.get(index).cloned(), missing)
    }

    /// Returns the digest of all values that were added, as 32 hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut lines = String::new();
        self.lines("", &mut lines);
        format!("{:032x}", xxh3_128(lines.as_bytes()))
    }

    /// Appends one line for each stream.
    fn lines(&self, path: &str, lines: &mut String) {
        let path = format!("{path}{}", self.kind.name());
        let mut line = |path: &str, stream: &Stream| {
            let hash = stream.hash.digest128();
            lines.push_str(&format!("{path} {} {hash:032x}\n", stream.count));
        };
        line(&path, &self.values);
        if let Some(nulls) = &self.nulls {
            line(&format!("{path}?"), nulls);
        }
        for (name, column) in &self.parts {
            column.lines(&format!("{path}{name}/"), lines);
        }
    }
}

impl Default for Stream {
    fn default() -> Self {
        Self { hash: Xxh3::new(), count: 0 }
    }
}

impl Stream {
    /// Adds values. `bytes` converts each of them to bytes.
    fn add<T: Copy, const N: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
        let mut buffer = [[0; N]; CHUNK];
        for chunk in values.chunks(CHUNK) {
            for (place, value) in buffer.iter_mut().zip(chunk) {
                *place = bytes(*value);
            }
            self.hash.update(buffer[..chunk.len()].as_flattened());
        }
        self.count += values.len() as u64;
    }

    /// Adds booleans, each as a byte.
    fn bools(&mut self, bools: &BooleanBuffer) {
        self.hash.update(&bytes_of_bits(bools));
        self.count += bools.len() as u64;
    }

    fn floats<T: ArrowPrimitiveType, const N: usize>(&mut self, array: &dyn Array) -> Option<()>
    where
        T::Native: ToBytes<N>,
    {
        self.add(array.as_primitive_opt::<T>()?.values(), ToBytes::little);
        Some(())
    }

    fn integers(&mut self, array: &dyn Array) -> Option<()> {
        // An integer of more than 63 bits hashes as the negative integer with the same bits.
        fn of<T: ArrowPrimitiveType<Native: Into<i128>>>(
            stream: &mut Stream,
            array: &dyn Array,
        ) -> Option<()> {
            let values = array.as_primitive_opt::<T>()?.values();
            stream.add(values, |value| (value.into() as i64).to_le_bytes());
            Some(())
        }
        with_integer_type!(array.data_type(), T => of::<T>(self, array), _ => None)
    }
}

/// A float whose bits can be taken as little-endian bytes.
trait ToBytes<const N: usize>: Copy {
    fn little(self) -> [u8; N];
}

impl ToBytes<4> for f32 {
    fn little(self) -> [u8; 4] {
        self.to_le_bytes()
    }
}

impl ToBytes<8> for f64 {
    fn little(self) -> [u8; 8] {
        self.to_le_bytes()
    }
}

impl Kind {
    fn name(self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool => "bool".into(),
            Self::Int => "int".into(),
            Self::Float(bits) => format!("float{bits}"),
            Self::Text => "text".into(),
            Self::Bytes => "bytes".into(),
            Self::List => "list".into(),
            Self::Array(size) => format!("array[{size}]"),
            Self::Record => "record".into(),
            Self::Variant => "variant".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_bytes() {
        let bools: Vec<bool> = (0..3000).map(|i: u32| i.count_ones() % 2 == 1).collect();
        let bytes: Vec<u8> = bools.iter().map(|&bool| u8::from(bool)).collect();
        for range in [0..3000, 5..2999, 1..64, 7..8, 9..9] {
            let mut stream = Stream::default();
            stream.bools(&BooleanBuffer::from(bools.clone()).slice(range.start, range.len()));
            assert_eq!(stream.count, range.len() as u64);
            assert_eq!(stream.hash.digest128(), xxh3_128(&bytes[range]));
        }
    }
}
