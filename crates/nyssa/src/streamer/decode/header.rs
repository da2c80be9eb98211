//! Version headers and byte counts.

use super::{BYTE_COUNT, Decoder};
use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::streamer::class::{Class, Version};

/// A version header.
pub(super) struct Header {
    pub version: u16,
    /// Where the object ends, if it says so.
    pub end: Option<usize>,
}

impl Decoder<'_> {
    /// The next version header.
    pub(super) fn header(&mut self) -> Result<Header> {
        let mut ahead = self.cursor.clone();
        let end = match ahead.be_u32() {
            Ok(count) if count & BYTE_COUNT != 0 => {
                self.cursor = ahead;
                Some(self.end_of(count)?)
            }
            _ => None,
        };
        Ok(Header { version: self.cursor.be_u16()?, end })
    }

    /// Where a byte count that was just read says that its object ends.
    pub(super) fn end_of(&self, count: u32) -> Result<usize> {
        let count = (count & !BYTE_COUNT) as usize;
        let left = self.cursor.remaining().len();
        if count > left {
            let message = format!("byte count of {count} where {left} bytes are left");
            return Err(self.cursor.error(message));
        }
        Ok(self.cursor.position() + count)
    }

    /// The version that a header names, by number or by the checksum that follows.
    pub(super) fn class_version<'c>(
        &mut self,
        class: &'c Class,
        version: u16,
    ) -> Result<&'c Version> {
        let number = i32::from(version.cast_signed());
        if number > 0 {
            return class
                .version(number)
                .ok_or_else(|| unknown_version(class, &format!("version {number}")));
        }
        let checksum = self.cursor.be_u32()?;
        class
            .checksum(checksum)
            .ok_or_else(|| unknown_version(class, &format!("checksum {checksum:#010x}")))
    }

    /// Checks that an object ends where its header says.
    pub(super) fn finish(&self, class: &str, header: &Header, start: &Cursor<'_>) -> Result<()> {
        match header.end {
            Some(end) if end != self.cursor.position() => Err(start.error(format!(
                "{class} says that it ends at byte {end}, its members end at byte {}",
                self.cursor.position()
            ))),
            _ => Ok(()),
        }
    }
}

/// Of a version that the streamer infos do not describe.
pub(super) fn unknown_version(class: &Class, version: &str) -> Error {
    let known: Vec<String> =
        class.versions.iter().map(|version| version.version.to_string()).collect();
    Error::unsupported(format!(
        "no streamer info of {version} of class {}, only of version {}",
        class.name,
        known.join(", ")
    ))
}
