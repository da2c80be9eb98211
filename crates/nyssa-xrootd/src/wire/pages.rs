//! Parses answers to `pgread`: pages of 4 KiB, each after its CRC32C.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use super::{Malformed, PageHeader, u32_at};

/// The size of a page in bytes. Pages begin at multiples of it in the file.
const PAGE: u64 = 4096;
/// The number of bytes of a checksum.
const CHECKSUM: usize = 4;

/// Returns the largest number of bytes of the answer to a `pgread` of a range.
pub fn pages_length(range: &Range<u64>) -> u64 {
    let length = range.end - range.start;
    length + (length / PAGE + 2) * CHECKSUM as u64
}

/// Refuses a header of pages that does not fit its checksum.
pub fn check_page_header(header: &PageHeader, body: &[u8]) -> Result<(), Malformed> {
    let checked = body.get(PageHeader::CHECKED_FROM..).unwrap_or_default();
    match crc32c::crc32c(checked) == header.checksum {
        true => Ok(()),
        false => Err(Malformed("a header with a wrong checksum".to_owned())),
    }
}

/// Returns the bytes of a range from the answer to a `pgread`. For each part, the answer has its offset in the
/// file and its start in `bytes`. There are fewer bytes if the file ends earlier.
pub fn join_pages(
    bytes: &Bytes,
    parts: &[(u64, usize)],
    range: &Range<u64>,
) -> Result<Bytes, Malformed> {
    let mut joined = BytesMut::with_capacity(bytes.len());
    let ends = parts.iter().skip(1).map(|part| part.1).chain([bytes.len()]);
    for ((offset, start), end) in parts.iter().zip(ends) {
        let expected = range.start + joined.len() as u64;
        if *offset != expected {
            return Err(Malformed(format!(
                "bytes from byte {offset} on, where byte {expected} is next"
            )));
        }
        let mut offset = *offset;
        let mut rest = bytes.get(*start..end).unwrap_or_default();
        while !rest.is_empty() {
            let room = (PAGE - offset % PAGE) as usize;
            let checksum = u32_at(rest, 0)
                .ok_or_else(|| Malformed(format!("a page of {} bytes", rest.len())))?;
            let data = &rest[CHECKSUM..rest.len().min(CHECKSUM + room)];
            if crc32c::crc32c(data) != checksum {
                let end = offset + data.len() as u64;
                let what = format!("bytes {offset} to {end} of the file with a wrong checksum");
                return Err(Malformed(what));
            }
            joined.extend_from_slice(data);
            offset += data.len() as u64;
            rest = &rest[CHECKSUM + data.len()..];
        }
    }
    Ok(joined.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pages as a server sends them.
    fn pages(content: &[u8], range: &Range<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at / PAGE + 1) * PAGE);
            let data = &content[at as usize..end as usize];
            bytes.extend_from_slice(&crc32c::crc32c(data).to_be_bytes());
            bytes.extend_from_slice(data);
            at = end;
        }
        bytes
    }

    #[test]
    fn pages_are_checked_and_joined() {
        // This is the value that RFC 7143 gives for 32 zeros.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        let content: Vec<u8> = (0..20_000_u32).map(|i| (i * 7) as u8).collect();
        let range = 100..9_000;
        let whole = pages(&content, &range);
        assert_eq!(whole.len() as u64, 8_900 + 3 * 4);
        assert!(whole.len() as u64 <= pages_length(&range));
        let bytes = Bytes::from(whole.clone());
        let joined = join_pages(&bytes, &[(100, 0)], &range).unwrap();
        assert_eq!(joined[..], content[100..9_000]);
        // The second part begins with the second page.
        let second = 3_996 + 4;
        let joined = join_pages(&bytes, &[(100, 0), (4_096, second)], &range).unwrap();
        assert_eq!(joined[..], content[100..9_000]);
        let error = join_pages(&bytes, &[(100, 0), (4_097, second)], &range).unwrap_err();
        assert_eq!(error.0, "bytes from byte 4097 on, where byte 4096 is next");
        let mut flipped = whole;
        flipped[second + 100] ^= 1;
        let error = join_pages(&flipped.into(), &[(100, 0)], &range).unwrap_err();
        assert_eq!(error.0, "bytes 4096 to 8192 of the file with a wrong checksum");
        let error = join_pages(&bytes.slice(..2), &[(100, 0)], &range).unwrap_err();
        assert_eq!(error.0, "a page of 2 bytes");
    }
}
