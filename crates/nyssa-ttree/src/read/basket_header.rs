//! Reads the header of a basket: its key, and the members of `TBasket` after it.
//!
//! Source: `TBasket::Streamer` and `TKey::Streamer` in root-project/root.

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

use crate::model::{Basket, place_in_file};

/// The number that ROOT adds to the version of a key with 64-bit offsets.
const LARGE_KEY: i16 = 1000;
/// `TBasket::EIOBits::kGenerateOffsetMap`: the basket stores no offsets when the counter gives them, and
/// sizes instead of offsets otherwise.
pub(crate) const GENERATE_OFFSETS: u8 = 1;
/// The number that ROOT adds to the flag when the basket stores no offsets.
pub(super) const FLAG_GENERATED: u8 = 80;
/// The newest version of `TBasket`.
pub(super) const NEWEST_VERSION: u16 = 3;
/// The first flag, without `FLAG_GENERATED`, that ROOT writes in no basket.
const FLAG_UNKNOWN: u8 = 60;

/// The description of a basket in its branch. The key repeats these numbers, and they are compared.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The size with the key in bytes. It is 0 when the branch does not store the size.
    pub bytes: u64,
    /// The offset of the key in the file. `None` for embedded baskets.
    pub seek: Option<u64>,
    /// The number of entries.
    pub entries: u64,
    /// Whether the payload takes all bytes that were read, because a cache has stored it in its own form.
    pub unpacked: bool,
}

impl Expected {
    /// Returns the description of a basket that is moved, from its branch.
    pub fn of(basket: &Basket) -> Self {
        Self {
            bytes: basket.bytes,
            seek: basket.embedded.is_none().then(|| place_in_file(basket.seek)),
            entries: basket.entries,
            unpacked: false,
        }
    }
}

/// The key and the header of a basket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The size of the key and the stored payload in bytes. It is 0 in some embedded baskets.
    pub nbytes: usize,
    /// The size of the key and the basket's header, in bytes.
    pub keylen: usize,
    /// The size of the decompressed payload in bytes.
    pub objlen: usize,
    /// The offset of the key in the file.
    pub seek: u64,
    /// The number that is added to the numbers of processes (`TProcessID`) in the basket (`TKey::fPidOffset`).
    pub process_offset: u16,
    /// The streamed class, which is `TBasket`.
    pub class: String,
    /// The version of the streamed `TBasket`.
    pub version: u16,
    /// The size of an entry in bytes in a basket without offsets, or else the number of offsets that ROOT has place for
    /// (`fNevBufSize`).
    pub entry_size: usize,
    /// The number of entries.
    pub entries: usize,
    /// The end of the data in bytes, counted from the start of the key.
    pub last: usize,
    /// The flag that says which arrays follow.
    pub flag: u8,
    /// The bits of optional features (`TBasket::EIOBits`).
    pub io_bits: u8,
}

impl Header {
    /// Reads a header at the cursor. The cursor is then at the first byte after the flag.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let size = |cursor: &Cursor<'_>, value: i32, what: &str| {
            usize::try_from(value)
                .map_err(|_| cursor.error(format!("basket has a negative {what}, {value}")))
        };
        let nbytes = cursor.be_i32()?;
        let nbytes = size(cursor, nbytes, "size")?;
        let key_version = cursor.be_i16()?;
        let objlen = cursor.be_i32()?;
        let objlen = size(cursor, objlen, "object size")?;
        cursor.skip(4)?; // date and time
        let keylen = usize::from(cursor.be_u16()?);
        cursor.skip(2)?; // cycle
        let (seek, process_offset) = if key_version > LARGE_KEY {
            let seek = cursor.be_u64()?;
            // The upper 16 bits of the position of the directory are no part of it.
            let offset = cursor.be_u16()?;
            cursor.skip(6)?;
            (seek, offset)
        } else {
            let seek = u64::from(cursor.be_u32()?);
            cursor.skip(4)?;
            (seek, 0)
        };
        let class = cursor.root_string()?;
        if class != "TBasket" {
            return Err(cursor.error(format!("the key holds a {class:?}, not a basket")));
        }
        cursor.root_string()?; // name: branches may have been renamed since
        cursor.root_string()?; // title: the tree
        let version = cursor.be_u16()?;
        cursor.skip(4)?; // buffer size
        let entry_size = cursor.be_i32()?;
        let io_bits = if entry_size < 0 { cursor.u8()? } else { 0 };
        let entry_size = entry_size.unsigned_abs() as usize;
        if io_bits & !GENERATE_OFFSETS != 0 {
            return Err(Error::unsupported(format!(
                "basket uses I/O features {io_bits:#04x} that this version of nyssa does not know"
            )));
        }
        let entries = cursor.be_i32()?;
        let entries = size(cursor, entries, "number of entries")?;
        let last = cursor.be_i32()?;
        let last = size(cursor, last, "end of data")?;
        let flag = cursor.u8()?;
        Ok(Self {
            nbytes,
            keylen,
            objlen,
            seek,
            process_offset,
            class,
            version,
            entry_size,
            entries,
            last,
            flag,
            io_bits,
        })
    }

    /// Compares the numbers in the key with the numbers in the branch.
    ///
    /// # Errors
    /// `OutOfSpecification` if they differ.
    pub(crate) fn check(&self, expected: &Expected, at: &Cursor<'_>) -> Result<()> {
        let differs = |what: &str, key: u64, branch: u64| {
            Err(at
                .error(format!("the basket's key says {key} {what}, but its branch says {branch}")))
        };
        if self.entries as u64 != expected.entries {
            return differs("entries", self.entries as u64, expected.entries);
        }
        let Some(seek) = expected.seek else { return Ok(()) };
        if expected.bytes != 0 && self.nbytes as u64 != expected.bytes {
            return differs("bytes", self.nbytes as u64, expected.bytes);
        }
        if self.seek != seek {
            return Err(at.error(format!(
                "the basket's key says that the basket is at byte {}, but its branch says at byte {seek}",
                self.seek
            )));
        }
        Ok(())
    }

    /// Sets the end of the data in the bytes of a key with a header, which end with this number and the flag.
    ///
    /// # Errors
    /// `LimitExceeded` for a basket of more than 2 GiB.
    pub(crate) fn set_last(head: &mut [u8], last: usize) -> Result<()> {
        let last = i32::try_from(last).map_err(|_| Error::limit("a basket of 2 GiB"))?;
        let start = head.len().checked_sub(5);
        let place = start.and_then(|start| head.get_mut(start..start + 4));
        let place = place.ok_or_else(|| Error::out_of_spec("the key of a basket is too short"))?;
        place.copy_from_slice(&last.to_be_bytes());
        Ok(())
    }

    /// Returns whether ROOT writes this flag. A basket in its tree may have the form of a basket in the file.
    pub(super) fn has_known_flag(&self, is_embedded: bool) -> bool {
        match self.flag.checked_sub(FLAG_GENERATED) {
            Some(_) if self.io_bits & GENERATE_OFFSETS == 0 => false,
            Some(0) => true,
            flag => {
                let flag = flag.unwrap_or(self.flag);
                flag == 0 || is_embedded && flag < FLAG_UNKNOWN && matches!(flag % 10, 1 | 2)
            }
        }
    }

    /// Returns whether the payload is stored without compression. The header belongs to a whole basket.
    pub(super) fn is_stored(&self) -> bool {
        self.nbytes.checked_sub(self.keylen) == Some(self.objlen)
    }

    /// Returns the number of data bytes: `fLast` minus the length of the key.
    pub(super) fn border(&self, at: &Cursor<'_>) -> Result<usize> {
        self.last.checked_sub(self.keylen).ok_or_else(|| {
            at.error(format!(
                "the basket's data end at byte {} of it, inside its key of {} bytes",
                self.last, self.keylen
            ))
        })
    }
}
