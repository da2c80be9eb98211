//! Reads the compact protocol of Thrift, in which the metadata of Parquet are. The library `parquet` shows only parts of
//! them.

use nyssa_root::error::{Error, Result};

/// The largest number of structures and lists within each other. Footers and page headers of Parquet have six.
const DEPTH: u32 = 32;

/// The types of values in the compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
pub(super) const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Bytes in the compact protocol, which are read from the front.
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of bytes that were read.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(cut)
    }

    fn unsigned(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Error::out_of_spec("the metadata have a number of more than 64 bits"))
    }

    /// Reads a signed number in the zigzag form.
    pub(super) fn number(&mut self) -> Result<i64> {
        let number = self.unsigned()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Reads a number that may not be negative.
    pub(super) fn size(&mut self) -> Result<u64> {
        let size = self.number()?;
        u64::try_from(size)
            .map_err(|_| Error::out_of_spec(format!("the metadata have the size {size}")))
    }

    /// Reads the number and the type of the next field. Returns `None` at the end of a structure.
    pub(super) fn field(&mut self, last: i16) -> Result<Option<(i16, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let id = match byte >> 4 {
            0 => i16::try_from(self.number()?).ok(),
            distance => last.checked_add(i16::from(distance)),
        };
        let id =
            id.ok_or_else(|| Error::out_of_spec("the metadata have a field without a number"))?;
        Ok(Some((id, byte & 0xf)))
    }

    /// Reads the number of items of a list, and their type.
    pub(super) fn list(&mut self) -> Result<(u64, u8)> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.unsigned()?,
            count => u64::from(count),
        };
        Ok((count, byte & 0xf))
    }

    fn jump(&mut self, count: u64) -> Result<()> {
        let left = self.bytes.len().saturating_sub(self.at);
        let count = usize::try_from(count).ok().filter(|&count| count <= left);
        self.at += count.ok_or_else(cut)?;
        Ok(())
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self, kind: u8) -> Result<()> {
        self.skip_within(kind, DEPTH)
    }

    /// Passes over a value. `depth` is the number of structures that may still be within it.
    fn skip_within(&mut self, kind: u8, depth: u32) -> Result<()> {
        let below = depth.checked_sub(1);
        let below =
            below.ok_or_else(|| Error::out_of_spec("the metadata are nested too deeply"))?;
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.jump(1),
            I16 | I32 | I64 => self.unsigned().map(drop),
            DOUBLE => self.jump(8),
            UUID => self.jump(16),
            BINARY => {
                let length = self.unsigned()?;
                self.jump(length)
            }
            LIST | SET => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_item(kind, below))
            }
            MAP => {
                let count = self.unsigned()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (0..count).try_for_each(|_| {
                    self.skip_item(kinds >> 4, below)?;
                    self.skip_item(kinds & 0xf, below)
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    self.skip_within(kind, below)?;
                    last = id;
                }
                Ok(())
            }
            other => Err(Error::out_of_spec(format!("the metadata have a value of type {other}"))),
        }
    }

    /// Passes over an item of a list or map. No footer and no page header has lists of truth values, and the library would
    /// pass over as many as a list claims.
    fn skip_item(&mut self, kind: u8, depth: u32) -> Result<()> {
        match kind {
            TRUE | FALSE => Err(Error::out_of_spec("the metadata have a list of truth values")),
            other => self.skip_within(other, depth),
        }
    }
}

fn cut() -> Error {
    Error::out_of_spec("the metadata end too early")
}
