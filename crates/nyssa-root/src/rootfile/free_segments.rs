//! Reads free segments: the gaps of a file that a writer may use again (`TFree`).

use crate::cursor::Cursor;
use crate::error::Result;
use crate::rootfile::key::KeyEntry;

/// A free segment whose version is above this stores 64-bit positions.
const LARGE_VERSION: u16 = 1000;

/// A gap of a file. The last gap starts at the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSegment {
    /// The first free byte.
    pub first: u64,
    /// The last free byte.
    pub last: u64,
}

/// Parses the free segments record, which starts with its key. As in ROOT, the first segment that ends behind the
/// `end` of the file is the last segment. The record may be longer: ROOT makes it before it chooses its place, which can
/// take up a whole segment. The bytes behind the last segment are then zero.
///
/// # Errors
/// `OutOfSpecification` when a segment ends before it begins or bytes are missing.
pub(super) fn parse(record: &[u8], seek: u64, end: u64) -> Result<Vec<FreeSegment>> {
    let mut cursor = Cursor::new(record, seek);
    let key = KeyEntry::parse(&mut cursor)?;
    cursor.seek(usize::from(key.keylen))?;
    let mut segments = Vec::new();
    while !cursor.remaining().is_empty()
        && segments.last().is_none_or(|last: &FreeSegment| last.last <= end)
    {
        let start = cursor.clone();
        let (first, last) = if cursor.be_u16()? > LARGE_VERSION {
            (cursor.be_u64()?, cursor.be_u64()?)
        } else {
            (u64::from(cursor.be_u32()?), u64::from(cursor.be_u32()?))
        };
        if last < first {
            return Err(start.error(format!("free segment from byte {first} to byte {last}")));
        }
        segments.push(FreeSegment { first, last });
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(segments: &[u8]) -> Vec<u8> {
        let mut out = vec![0, 0, 0, 100, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 29, 0, 1];
        out.extend([0; 11]);
        out.extend(segments);
        out
    }

    #[test]
    fn both_forms() {
        let mut segments = vec![0, 1, 0, 0, 1, 0, 0, 0, 1, 0xFF];
        segments.extend([0x03, 0xE9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
        let expected =
            [FreeSegment { first: 256, last: 511 }, FreeSegment { first: 1 << 32, last: 2 << 32 }];
        assert_eq!(parse(&record(&segments), 0, 1 << 32).unwrap(), expected);
        let missing = parse(&record(&segments[..9]), 0, 1 << 32).unwrap_err();
        assert_eq!(missing.kind(), crate::Kind::OutOfSpecification);
    }

    #[test]
    fn nothing_is_read_behind_the_last_segment() {
        let mut segments =
            vec![0, 1, 0, 0, 1, 0, 0, 0, 1, 0xFF, 0, 1, 0, 0, 4, 0, 0x77, 0x35, 0x94, 0];
        segments.extend([0; 10]);
        let expected = [
            FreeSegment { first: 256, last: 511 },
            FreeSegment { first: 1024, last: 2_000_000_000 },
        ];
        assert_eq!(parse(&record(&segments), 0, 1024).unwrap(), expected);
        // A record without a last segment is read to its end.
        segments.drain(10..20);
        let expected = [expected[0], FreeSegment { first: 0, last: 0 }];
        assert_eq!(parse(&record(&segments), 0, 1024).unwrap(), expected);
    }

    #[test]
    fn backwards() {
        let error = parse(&record(&[0, 1, 0, 0, 2, 0, 0, 0, 1, 0xFF]), 1000, 1024).unwrap_err();
        assert_eq!(error.to_string(), "free segment from byte 512 to byte 511 (byte 1029)");
    }
}
