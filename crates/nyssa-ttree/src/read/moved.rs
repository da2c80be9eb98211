//! Makes the bytes of a basket ready for another file. Its entries are not decoded.

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

use super::basket::Contents;
use super::basket_header::{Expected, Header};

/// A basket that is moved to another file.
pub struct MovedBasket {
    /// The key with the header of the basket.
    pub head: Vec<u8>,
    /// The payload. It is not compressed if the basket was inside its tree.
    pub payload: Vec<u8>,
    /// The size of the payload when it is uncompressed, in bytes.
    pub objlen: u64,
}

impl MovedBasket {
    /// Splits a basket that was read from a file. `raw` are its bytes. Its key is compared with the numbers in the
    /// branch.
    ///
    /// # Errors
    /// `OutOfSpecification` if the key is damaged or differs from the branch.
    pub fn stored<'a>(raw: &'a [u8], expected: &Expected) -> Result<(&'a [u8], &'a [u8], u64)> {
        let start = Cursor::new(raw, expected.seek.unwrap_or(0));
        let mut cursor = start.clone();
        let header = Header::read(&mut cursor)?;
        header.check(expected, &start)?;
        let split = raw.get(..header.nbytes).and_then(|raw| raw.split_at_checked(header.keylen));
        match split {
            Some((head, payload)) if head.len() >= cursor.position() => {
                Ok((head, payload, header.objlen as u64))
            }
            _ => Err(start.error(format!(
                "the basket's key says {} bytes with {} bytes for the key itself, but {} bytes were read",
                header.nbytes,
                header.keylen,
                raw.len()
            ))),
        }
    }

    /// Gives a basket that was streamed inside its tree the form that it has in a file.
    ///
    /// # Errors
    /// `OutOfSpecification` if it is damaged; `Unsupported` for forms that exist only in memory.
    pub fn embedded(raw: &[u8], expected: &Expected) -> Result<Self> {
        let mut cursor = Cursor::new(raw, 0);
        let header = Header::read(&mut cursor)?;
        let mut scratch = Vec::new();
        if header.flag == 0 {
            let (head, payload, objlen) = Self::stored(raw, expected)?;
            return Ok(Self { head: head.to_vec(), payload: payload.to_vec(), objlen });
        }
        let contents = Contents::open_embedded(raw, expected, &mut scratch)?;
        let mut head = raw[..cursor.position()].to_vec();
        if head.len() != header.keylen {
            return Err(Error::unsupported(format!(
                "a basket inside the tree has a key of {} bytes where {} are needed",
                header.keylen,
                head.len()
            )));
        }
        let generated = header.flag >= 80;
        if header.io_bits != 0 && !generated {
            return Err(Error::unsupported("a basket inside the tree has sizes and not offsets"));
        }
        if let Some(flag) = head.last_mut() {
            *flag = if generated { 80 } else { 0 };
        }
        let mut payload = contents.data.to_vec();
        if let Some(offsets) = contents.offsets(0..header.entries)? {
            let count = header.entries as u32 + 1;
            payload.extend(count.to_be_bytes());
            let starts = offsets.iter().take(header.entries);
            payload.extend(starts.flat_map(|&at| ((header.keylen + at) as u32).to_be_bytes()));
            // ROOT stores no end of the last entry.
            payload.extend([0; 4]);
            payload.extend(contents.stored_places());
        }
        let objlen = payload.len() as u64;
        Ok(Self { head, payload, objlen })
    }
}
