//! What version headers say.

use super::Decoder;
use crate::cursor::{Cursor, VersionHeader};
use crate::error::{Error, Result};
use crate::streamer::class::{Class, Version};

impl Decoder<'_> {
    /// The version that a header names, by number or by the checksum that follows.
    pub(super) fn class_version<'c>(
        &mut self,
        class: &'c Class,
        version: u16,
    ) -> Result<&'c Version> {
        let number = i32::from(version.cast_signed());
        // Classes that are not meant to be stored have version 0 and no checksum behind it.
        let mut ahead = self.cursor.clone();
        let known = number == 0
            && class.version(0).is_some()
            && ahead.be_u32().map_or(true, |next| class.checksum(next).is_none());
        if number > 0 || known {
            return class
                .version(number)
                .ok_or_else(|| unknown_version(class, &format!("version {number}")));
        }
        let unnumbered = class.versions.iter().find(|known| known.version == 0);
        if let (0, Some(version)) = (number, unnumbered.filter(|_| !class.fixed)) {
            // Classes that ROOT's macro gives no version have no checksum here, others do.
            let next = self.cursor.clone().be_u32().ok();
            if next.and_then(|checksum| class.checksum(checksum)).is_none() {
                return Ok(version);
            }
        }
        let checksum = self.cursor.be_u32()?;
        class
            .checksum(checksum)
            .ok_or_else(|| unknown_version(class, &format!("checksum {checksum:#010x}")))
    }

    /// Checks that an object ends where its header says.
    pub(super) fn finish(
        &self,
        class: &str,
        header: &VersionHeader,
        start: &Cursor<'_>,
    ) -> Result<()> {
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
