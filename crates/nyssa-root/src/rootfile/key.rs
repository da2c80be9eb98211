//! Reads keys: the header of every record of a file (`TKey`).

use bstr::BString;

use super::name;
use crate::cursor::Cursor;
use crate::error::Result;

/// A key whose version is above this stores 64-bit positions.
const LARGE_KEY_VERSION: u16 = 1000;
/// The bits of a 64-bit position of a directory that are the position (`kPidOffsetMask`). The bits above them are the
/// number of processes before those that the object names ([`KeyEntry::process_offset`]).
pub(super) const PARENT_BITS: u32 = 48;

/// A key, which has the name of an object and the place of its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// The path in the file without the cycle, for example `dir/Events`. Slashes, semicolons and bytes that are no
    /// UTF-8 in names are written as `%2F`, `%3B`, `%E9`, so that no two paths look the same.
    pub path: String,
    /// The name of the object, which may have any bytes.
    pub name: BString,
    /// The cycle. The highest cycle among the objects of one name is the newest object.
    pub cycle: u16,
    /// The class of the object.
    pub class: String,
    /// The title of the object, which may have any bytes.
    pub title: BString,
    /// The position of the record, in bytes.
    pub seek: u64,
    /// The position of the directory that contains the object.
    pub parent: u64,
    /// The number that is added to the numbers of processes (`TProcessID`) in the object (`TKey::fPidOffset`). It is not 0
    /// in baskets that `hadd -ff` has copied.
    pub process_offset: u16,
    /// The size in bytes of the record, which includes this header.
    pub nbytes: u32,
    /// The size in bytes of the uncompressed object.
    pub objlen: u32,
    /// The size in bytes of this header.
    pub keylen: u16,
    /// The version of the layout of the key, without the 64-bit mark.
    pub version: u16,
    /// Whether the key stores positions in 64 bits.
    pub is_large: bool,
    /// The packed date and time, see [`KeyEntry::date_time`].
    pub datime: u32,
}

impl KeyEntry {
    /// Parses a key header. The `path` is the path of an object at the top.
    ///
    /// # Errors
    /// `OutOfSpecification` when bytes are missing or sizes contradict each other.
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let start = cursor.clone();
        let key = Self::parse_fields(cursor)?;
        let (name, nbytes) = (&key.name, key.nbytes.cast_signed());
        if nbytes < 0 || key.objlen.cast_signed() < 0 {
            return Err(start.error(format!(
                "key of {name:?} says {nbytes} bytes on storage and {} bytes of object",
                key.objlen.cast_signed()
            )));
        }
        if key.nbytes < u32::from(key.keylen) {
            return Err(start.error(format!(
                "key of {name:?} has {} bytes, the record it heads only {nbytes}",
                key.keylen
            )));
        }
        Ok(key)
    }

    /// Parses a key that has nothing behind its strings, and whose size agrees with them. Keys of baskets have more,
    /// and a key in the list of a directory keeps its size when ROOT changes its name or title.
    ///
    /// # Errors
    /// `OutOfSpecification` when bytes are missing, sizes contradict each other, or the key has another size.
    pub fn parse_whole(cursor: &mut Cursor<'_>) -> Result<Self> {
        let start = cursor.clone();
        let key = Self::parse(cursor)?;
        let size = cursor.position() - start.position();
        // Versions of ROOT before 5.16 gave directories another class.
        let before = size - if key.class == "TDirectoryFile" { 4 } else { 0 };
        if usize::from(key.keylen) != size && usize::from(key.keylen) != before {
            return Err(start.error(format!(
                "key of {:?} says it has {} bytes, its strings make {size}",
                key.name, key.keylen
            )));
        }
        Ok(key)
    }

    /// Parses a key that may lack its sizes, for example the key of a basket in memory.
    pub(crate) fn parse_fields(cursor: &mut Cursor<'_>) -> Result<Self> {
        let nbytes = cursor.be_u32()?;
        let version = cursor.be_u16()?;
        let objlen = cursor.be_u32()?;
        let datime = cursor.be_u32()?;
        let keylen = cursor.be_u16()?;
        let cycle = cursor.be_u16()?;
        let large = version > LARGE_KEY_VERSION;
        let position = |cursor: &mut Cursor<'_>| {
            if large { cursor.be_u64() } else { cursor.be_u32().map(u64::from) }
        };
        let seek = position(cursor)?;
        let parent = position(cursor)?;
        let process_offset = if large { (parent >> PARENT_BITS) as u16 } else { 0 };
        let parent = if large { parent & ((1 << PARENT_BITS) - 1) } else { parent };
        let class = cursor.root_string()?;
        let name = BString::from(cursor.root_bytes()?);
        let title = BString::from(cursor.root_bytes()?);
        Ok(Self {
            path: name::part_of(&name),
            name,
            cycle,
            class,
            title,
            seek,
            parent,
            process_offset,
            nbytes,
            objlen,
            keylen,
            version: if large { version - LARGE_KEY_VERSION } else { version },
            is_large: large,
            datime,
        })
    }

    /// Returns the position of the first byte after the record.
    pub fn end(&self) -> u64 {
        self.seek.saturating_add(u64::from(self.nbytes))
    }

    /// Returns the path of the key in the directory at the path `directory`.
    pub(super) fn path_in(&self, directory: &str) -> String {
        let join = if self.is_directory() { name::join_directory } else { name::join };
        join(directory, &self.name)
    }

    /// Returns whether the object is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self.class.as_str(), "TDirectory" | "TDirectoryFile")
    }

    /// Returns the time at which the object was written, as (year, month, day, hour, minute, second) of the
    /// writer's clock (`TDatime`: 6, 4, 5, 5, 6, 6 bits from the top, years since 1995).
    pub fn date_time(&self) -> (u32, u32, u32, u32, u32, u32) {
        let bits = |shift: u32, width: u32| (self.datime >> shift) & ((1 << width) - 1);
        (1995 + bits(26, 6), bits(22, 4), bits(17, 5), bits(12, 5), bits(6, 6), bits(0, 6))
    }

    /// Returns whether `other` describes the same record. The key in the list of a directory and the key at the
    /// record must agree; only their names may differ, because ROOT changes the name in the list alone
    /// (`TKey::SetName`).
    pub fn agrees_with(&self, other: &Self) -> bool {
        (self.nbytes, self.objlen, self.keylen, self.cycle)
            == (other.nbytes, other.objlen, other.keylen, other.cycle)
            && self.class == other.class
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(large: bool, nbytes: i32, seek: u64) -> Vec<u8> {
        let mut out = nbytes.to_be_bytes().to_vec();
        out.extend(if large { 1004_u16 } else { 4 }.to_be_bytes());
        out.extend(300_i32.to_be_bytes());
        // The date is 2024-03-05 06:07:08.
        let datime: u32 = (29 << 26) | (3 << 22) | (5 << 17) | (6 << 12) | (7 << 6) | 8;
        out.extend(datime.to_be_bytes());
        out.extend(50_u16.to_be_bytes());
        out.extend(2_u16.to_be_bytes());
        for position in [seek, 100] {
            match large {
                true => out.extend(position.to_be_bytes()),
                false => out.extend(&position.to_be_bytes()[4..]),
            }
        }
        out.extend(b"\x05TTree\x06Events\x00");
        out
    }

    #[test]
    fn both_forms_and_date() {
        for (large, seek) in [(false, 0xFFFF_FFFF), (true, 0x1_2345_6789)] {
            let bytes = bytes(large, 250, seek);
            let key = KeyEntry::parse(&mut Cursor::new(&bytes, 0)).unwrap();
            assert_eq!((key.seek, key.parent, key.version), (seek, 100, 4));
            assert_eq!((key.nbytes, key.objlen, key.keylen, key.cycle), (250, 300, 50, 2));
            assert_eq!(key.class, "TTree");
            assert_eq!(key.name, "Events");
            assert_eq!(key.date_time(), (2024, 3, 5, 6, 7, 8));
            assert_eq!(key.end(), seek + 250);
            assert_eq!(key.process_offset, 0);
        }
    }

    /// The upper 16 bits of the position of the directory are no part of it (`TKey::Streamer`).
    #[test]
    fn offset_of_processes() {
        let mut bytes = bytes(true, 250, 0x1_2345_6789);
        let parent = bytes.windows(8).position(|word| word == 100_u64.to_be_bytes()).unwrap();
        bytes[parent..parent + 2].copy_from_slice(&3_u16.to_be_bytes());
        let key = KeyEntry::parse(&mut Cursor::new(&bytes, 0)).unwrap();
        assert_eq!((key.parent, key.process_offset), (100, 3));
    }

    #[test]
    fn impossible_sizes() {
        for (nbytes, message) in [
            (-250, "key of \"Events\" says -250 bytes on storage and 300 bytes of object (byte 9)"),
            (40, "key of \"Events\" has 50 bytes, the record it heads only 40 (byte 9)"),
        ] {
            let bytes = bytes(false, nbytes, 200);
            let error = KeyEntry::parse(&mut Cursor::new(&bytes, 9)).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
