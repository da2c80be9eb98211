//! Reads numbers and strings from bytes and checks all bounds. ROOT's own streams are big-endian, and RNTuple envelopes
//! are little-endian.

use std::borrow::Cow;

use crate::error::{Error, Result};

/// The flag that marks the byte count before a streamed object (`kByteCountMask`).
pub const BYTE_COUNT: u32 = 0x4000_0000;

/// The version header of a streamed object.
pub(crate) struct VersionHeader {
    pub version: u16,
    /// The position of the end of the object in the slice, if the header has a byte count.
    pub end: Option<usize>,
}

/// A position in a byte slice. Every read is checked; an error carries the byte offset.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    data: &'a [u8],
    position: usize,
    /// The offset of `data[0]` in the file or object, for messages.
    base: u64,
}

macro_rules! numbers {
    ($($be:ident $le:ident $type:ty;)*) => {$(
        #[doc = concat!("The next big-endian `", stringify!($type), "`.")]
        #[inline]
        pub fn $be(&mut self) -> Result<$type> {
            self.array().map(<$type>::from_be_bytes)
        }
        #[doc = concat!("The next little-endian `", stringify!($type), "`.")]
        #[inline]
        pub fn $le(&mut self) -> Result<$type> {
            self.array().map(<$type>::from_le_bytes)
        }
    )*};
}

impl<'a> Cursor<'a> {
    /// Makes a cursor at the start of `data`, which lies at byte `base` of its file.
    pub fn new(data: &'a [u8], base: u64) -> Self {
        Self { data, position: 0, base }
    }

    numbers! {
        be_u16 le_u16 u16;
        be_u32 le_u32 u32;
        be_u64 le_u64 u64;
        be_i16 le_i16 i16;
        be_i32 le_i32 i32;
        be_i64 le_i64 i64;
        be_f32 le_f32 f32;
        be_f64 le_f64 f64;
    }

    /// Reads the next byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads the next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.bytes(N)?);
        Ok(out)
    }

    /// Reads the next `len` bytes.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.position.checked_add(len).filter(|&end| end <= self.data.len());
        let Some(end) = end else {
            return Err(self.short(len));
        };
        let bytes = &self.data[self.position..end];
        self.position = end;
        Ok(bytes)
    }

    #[cold]
    fn short(&self, len: usize) -> Error {
        self.error(format!("needs {len} bytes where {} are left", self.remaining().len()))
    }

    /// Skips `len` bytes.
    pub fn skip(&mut self, len: usize) -> Result<()> {
        self.bytes(len).map(|_| ())
    }

    /// Returns the index of the next byte in the slice.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Moves to `position` in the slice.
    pub fn seek(&mut self, position: usize) -> Result<()> {
        if position > self.data.len() {
            return Err(self.error(format!("points to byte {position} of {}", self.data.len())));
        }
        self.position = position;
        Ok(())
    }

    /// Returns the offset of the next byte in the file.
    pub fn offset(&self) -> u64 {
        self.base.saturating_add(self.position as u64)
    }

    /// Returns the bytes not read yet.
    pub fn remaining(&self) -> &'a [u8] {
        &self.data[self.position..]
    }

    /// Makes an out-of-specification error at the current offset.
    #[cold]
    pub fn error(&self, message: impl Into<String>) -> Error {
        let offset = self.offset();
        Error::out_of_spec(message).at(|place| place.offset = Some(offset))
    }

    /// Reads a version header: an optional byte count, and the version.
    #[inline]
    pub(crate) fn version_header(&mut self) -> Result<VersionHeader> {
        let mut ahead = self.clone();
        let end = match ahead.be_u32() {
            Ok(count) if count & BYTE_COUNT != 0 => {
                *self = ahead;
                Some(self.end_of(count)?)
            }
            _ => None,
        };
        Ok(VersionHeader { version: self.be_u16()?, end })
    }

    /// Returns where an object ends, from the byte count that was just read.
    #[inline]
    pub(crate) fn end_of(&self, count: u32) -> Result<usize> {
        let count = (count & !BYTE_COUNT) as usize;
        let left = self.remaining().len();
        if count > left {
            return Err(self.error(format!("byte count of {count} where {left} bytes are left")));
        }
        Ok(self.position + count)
    }

    /// Reads a 32-bit count of items that have at least `size` bytes each.
    #[inline]
    pub(crate) fn number_of(&mut self, size: usize) -> Result<usize> {
        let count = self.be_i32()?;
        let left = self.remaining().len();
        usize::try_from(count)
            .ok()
            .filter(|count| count.checked_mul(size).is_some_and(|bytes| bytes <= left))
            .ok_or_else(|| self.error(format!("{count} items in {left} bytes")))
    }

    /// Reads a ROOT string: one length byte, or 255 and a 32-bit length (`TString::ReadBuffer`), then the bytes.
    pub(crate) fn root_bytes(&mut self) -> Result<&'a [u8]> {
        let len = match self.u8()? {
            255 => self.number_of(1)?,
            len => usize::from(len),
        };
        self.bytes(len)
    }

    /// Reads a ROOT string as text. Bytes that are not UTF-8 are replaced.
    pub fn root_string(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.root_bytes()?).into_owned())
    }

    /// Reads the name of a class, which a zero byte ends.
    pub(crate) fn class_name(&mut self) -> Result<Cow<'a, str>> {
        let Some(len) = self.remaining().iter().position(|&byte| byte == 0) else {
            return Err(self.error("class name without an end"));
        };
        let name = String::from_utf8_lossy(self.bytes(len)?);
        self.skip(1)?;
        Ok(name)
    }

    /// Reads an RNTuple string: a 32-bit little-endian length and UTF-8 bytes (specification, "Basic Types").
    pub fn le_string(&mut self) -> Result<String> {
        let len = self.le_u32()? as usize;
        let bytes = self.bytes(len)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.error("string is not UTF-8"))
    }
}
