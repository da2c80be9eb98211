//! Reads and writes locators and envelope links (specification, "Locators and Envelope Links").

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

/// The type of a locator with a 64-bit size.
const LARGE: u32 = 0x01;
/// The size in bytes of a large locator: head, content size, content offset.
const LARGE_SIZE: u32 = 20;

/// A range of bytes on storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locator {
    /// The offset in the file, in bytes.
    pub offset: u64,
    /// The size on storage in bytes, without the checksum of a page.
    pub size: u64,
}

impl Locator {
    /// The minimum size of a locator, in bytes.
    pub(crate) const MIN_SIZE: usize = 12;

    /// Parses a simple or large locator.
    ///
    /// # Errors
    /// `Unsupported` for other types, which belong to object stores; `OutOfSpecification`.
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let at = cursor.clone();
        let head = cursor.le_i32()?;
        let locator = if head >= 0 {
            Self { size: u64::from(head.unsigned_abs()), offset: cursor.le_u64()? }
        } else {
            Self::parse_typed(cursor, &at, head.unsigned_abs())?
        };
        // After the bytes there must be space for 8 bytes of page checksum.
        if locator.offset.checked_add(locator.size).and_then(|end| end.checked_add(8)).is_none() {
            return Err(at.error(format!(
                "locator of {} bytes at byte {} ends beyond byte 2^64",
                locator.size, locator.offset
            )));
        }
        Ok(locator)
    }

    fn parse_typed(cursor: &mut Cursor<'_>, at: &Cursor<'_>, head: u32) -> Result<Self> {
        let (kind, size) = (head >> 24, head & 0xFFFF);
        if kind != LARGE {
            let offset = at.offset();
            return Err(Error::unsupported(format!(
                "locator of type {kind:#04x}: only byte ranges in files can be read"
            ))
            .at(|place| place.offset = Some(offset)));
        }
        if size < LARGE_SIZE {
            return Err(at.error(format!("large locator of {size} bytes")));
        }
        let locator = Self { size: cursor.le_u64()?, offset: cursor.le_u64()? };
        cursor.skip((size - LARGE_SIZE) as usize)?;
        Ok(locator)
    }

    /// Appends the simple form if the size fits in 31 bits, or else the large form.
    pub fn serialize(&self, out: &mut Vec<u8>) {
        match i32::try_from(self.size) {
            Ok(size) => out.extend_from_slice(&size.to_le_bytes()),
            Err(_) => {
                let head = -((LARGE << 24 | LARGE_SIZE) as i32);
                out.extend_from_slice(&head.to_le_bytes());
                out.extend_from_slice(&self.size.to_le_bytes());
            }
        }
        out.extend_from_slice(&self.offset.to_le_bytes());
    }
}

/// The place and uncompressed size of an envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnvelopeLink {
    /// The uncompressed size, in bytes.
    pub length: u64,
    /// The position of the stored bytes.
    pub locator: Locator,
}

impl EnvelopeLink {
    /// Parses a link.
    ///
    /// # Errors
    /// `Unsupported` for locators of object stores; `OutOfSpecification`.
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { length: cursor.le_u64()?, locator: Locator::parse(cursor)? })
    }

    /// Appends the link.
    pub fn serialize(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.length.to_le_bytes());
        self.locator.serialize(out);
    }
}
