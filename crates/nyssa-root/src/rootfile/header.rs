//! Reads the header of a ROOT file (`TFile`), with 32-bit or 64-bit positions.

use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// The version from which on a file stores 64-bit positions.
pub(super) const LARGE_FILE_VERSION: i32 = 1_000_000;

/// The size in bytes of the header with 64-bit positions. The header with 32-bit positions is shorter.
const MAX_SIZE: usize = 75;

/// The file header (`TFile`, "Format of a ROOT file").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version of ROOT that wrote the file (60400 is 6.04/00), without the mark of large files. Some other
    /// writers store a negative number.
    pub version: i32,
    /// Whether positions are 64-bit.
    pub large: bool,
    /// The first byte of the first record (`fBEGIN`).
    pub begin: u64,
    /// The first byte after the last record (`fEND`).
    pub end: u64,
    /// The position of the record of free segments.
    pub seek_free: u64,
    /// The size of the record of free segments, in bytes.
    pub nbytes_free: u32,
    /// The number of free segments.
    pub num_free: u32,
    /// The size in bytes from `begin` to the top directory record.
    pub nbytes_name: u32,
    /// The default compression setting (100 × algorithm + level).
    pub compression: i32,
    /// The position of the streamer info record. It is 0 when there is none.
    pub seek_info: u64,
    /// The size of the streamer info record, in bytes.
    pub nbytes_info: u32,
    /// The UUID of the file. It is zero in files older than ROOT 3.02.
    pub uuid: [u8; 16],
}

impl Header {
    /// Parses the start of a file of `size` bytes.
    ///
    /// # Errors
    /// `OutOfSpecification` when this is not a ROOT file, is truncated, or contradicts itself.
    pub fn parse(start: &[u8], size: u64) -> Result<Self> {
        if !start.starts_with(b"root") {
            return Err(not_root(start));
        }
        let mut header = Self::parse_fields(start).map_err(|error| {
            if size < MAX_SIZE as u64 {
                Error::out_of_spec(format!(
                    "the file is truncated: its {size} bytes end inside the header"
                ))
            } else {
                error
            }
        })?;
        header.check(size)?;
        if header.seek_info == 0 || header.nbytes_info == 0 {
            (header.seek_info, header.nbytes_info) = (0, 0);
        }
        Ok(header)
    }

    /// Returns the UUID at the start of a file, which may be cut off. Returns `None` if it is no ROOT file.
    pub fn uuid_of(start: &[u8]) -> Option<[u8; 16]> {
        let header = start.starts_with(b"root").then(|| Self::parse_fields(start));
        header?.ok().map(|header| header.uuid)
    }

    fn parse_fields(start: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(start, 0);
        cursor.skip(4)?;
        let version = cursor.be_i32()?;
        let large = version >= LARGE_FILE_VERSION;
        let begin = u64::from(cursor.be_u32()?);
        let position = |cursor: &mut Cursor<'_>| {
            if large { cursor.be_u64() } else { cursor.be_u32().map(u64::from) }
        };
        let end = position(&mut cursor)?;
        let seek_free = position(&mut cursor)?;
        let nbytes_free = cursor.be_u32()?;
        let num_free = cursor.be_u32()?;
        let nbytes_name = cursor.be_u32()?;
        let _units = cursor.u8()?;
        let compression = cursor.be_i32()?;
        let seek_info = position(&mut cursor)?;
        let nbytes_info = cursor.be_u32()?;
        // The UUID follows two bytes of version. The header of an old file ends before it, and the bytes
        // there are something else.
        let uuid = match cursor.be_u16() {
            Ok(1) if cursor.position() + 16 <= usize::try_from(begin).unwrap_or(usize::MAX) => {
                cursor.array().unwrap_or_default()
            }
            _ => [0; 16],
        };
        Ok(Self {
            version: if large { version - LARGE_FILE_VERSION } else { version },
            large,
            begin,
            end,
            seek_free,
            nbytes_free,
            num_free,
            nbytes_name,
            compression,
            seek_info,
            nbytes_info,
            uuid,
        })
    }

    fn check(&self, size: u64) -> Result<()> {
        if self.end > size {
            return Err(Error::out_of_spec(format!(
                "the file is truncated: it has {size} bytes of {}",
                self.end
            )));
        }
        let directory = self.begin + u64::from(self.nbytes_name);
        if self.begin < 32 || directory >= self.end {
            return Err(Error::out_of_spec(format!(
                "the header says that the file ends at byte {} and its top directory lies at byte \
                 {directory}: the file was not closed, or is damaged",
                self.end
            )));
        }
        Ok(())
    }
}

/// The first bytes of tables, which other parts of nyssa read.
const TABLES: [(&[u8], &str); 2] = [(b"PAR1", "Parquet"), (b"ARROW1", "Arrow IPC")];

fn not_root(start: &[u8]) -> Error {
    if start.is_empty() {
        return Error::out_of_spec("not a ROOT file: it is empty");
    }
    let first = start.get(..8).unwrap_or(start).escape_ascii();
    let table = TABLES.iter().find(|(magic, _)| start.starts_with(magic));
    let advice = table.map_or(String::new(), |(_, format)| {
        format!(
            ", as {format} files do: `convert` makes a ROOT file of it, and `skim` one of several"
        )
    });
    Error::out_of_spec(format!("not a ROOT file: it begins with \"{first}\"{advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a header in one of the two forms, by the table in ROOT's `TFile` documentation.
    fn bytes(large: bool) -> Vec<u8> {
        let version = 63_200 + if large { LARGE_FILE_VERSION } else { 0 };
        let position = |value: u32| match large {
            true => u64::from(value).to_be_bytes().to_vec(),
            false => value.to_be_bytes().to_vec(),
        };
        let mut out = b"root".to_vec();
        out.extend(version.to_be_bytes());
        out.extend(100_u32.to_be_bytes());
        out.extend(position(5000));
        out.extend(position(4900));
        out.extend(60_u32.to_be_bytes());
        out.extend(1_u32.to_be_bytes());
        out.extend(58_u32.to_be_bytes());
        out.push(if large { 8 } else { 4 });
        out.extend(505_i32.to_be_bytes());
        out.extend(position(4000));
        out.extend(900_u32.to_be_bytes());
        out.extend([0, 1]);
        out.extend([7; 16]);
        out
    }

    /// An old version of uproot removed the mark of large files from versions that did not have it.
    #[test]
    fn a_negative_version_is_the_small_form() {
        let mut bytes = bytes(false);
        bytes[4..8].copy_from_slice(&(63_200 - LARGE_FILE_VERSION).to_be_bytes());
        let header = Header::parse(&bytes, 5000).unwrap();
        assert_eq!((header.version, header.large, header.end), (-936_800, false, 5000));
    }

    #[test]
    fn both_forms_say_the_same() {
        for large in [false, true] {
            let header = Header::parse(&bytes(large), 5000).unwrap();
            let expected = Header {
                version: 63_200,
                large,
                begin: 100,
                end: 5000,
                seek_free: 4900,
                nbytes_free: 60,
                num_free: 1,
                nbytes_name: 58,
                compression: 505,
                seek_info: 4000,
                nbytes_info: 900,
                uuid: [7; 16],
            };
            assert_eq!(header, expected);
        }
    }
}
