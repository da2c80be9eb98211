//! One basket: a key, the basket header behind it, and the payload.
//!
//! ```text
//! on disk      | TKey | TBasket header, flag 0 or 80 | data … fLast | entry offsets | displacements |
//!              |<-------------- keylen ------------->|<---- objlen bytes, compressed as one -------->|
//! in the tree  | TKey | TBasket header, flag > 10 | entry offsets | displacements | fLast bytes: keylen + data |
//! ```
//!
//! Offsets count from the start of the key, so the first is `keylen`; the one after the last entry is
//! not meaningful as stored and reads as `fLast`. Source: `TBasket::Streamer`, `TBasket::WriteBuffer`
//! and `TKey::Streamer` in root-project/root.

use std::ops::Range;

use crate::compression;
use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// Added to a key's version when its seeks are 64 bits wide.
const LARGE_KEY: i16 = 1000;
/// `TBasket::EIOBits::kGenerateOffsetMap`: offsets are left out where the counter gives them, and
/// stored as sizes where it does not.
const GENERATE_OFFSETS: u8 = 1;
/// Added to the flag when the offsets have been left out.
const FLAG_GENERATED: u8 = 80;
/// Offsets streamed with the basket carry a displacement in their highest byte (flags 21 to 39).
const DISPLACEMENT_MASK: u32 = 0xFF00_0000;

/// Payloads beyond this size are believed only as far as their compressed chunks bear it out, bytes.
const LARGE_PAYLOAD: usize = 16 << 20;

/// What a basket must be according to its branch; numbers that the key repeats are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Size with key, bytes; 0 when the branch does not say.
    pub bytes: u64,
    /// Offset of the key in the file; `None` for embedded baskets.
    pub seek: Option<u64>,
    /// Number of entries.
    pub entries: u64,
}

/// The key and header of a basket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Size of key and stored payload, bytes; 0 in some embedded baskets.
    pub nbytes: usize,
    /// Size of key and basket header, bytes.
    pub keylen: usize,
    /// Size of the payload once decompressed, bytes.
    pub objlen: usize,
    /// Offset of the key in the file.
    pub seek: u64,
    /// Streamed class, `TBasket`.
    pub class: String,
    /// Version of the streamed `TBasket`.
    pub version: u16,
    /// Number of entries.
    pub entries: usize,
    /// End of the data, counted from the start of the key, bytes.
    pub last: usize,
    /// Which arrays follow.
    pub flag: u8,
    /// Optional features.
    pub io_bits: u8,
}

/// The offsets of a basket's entries, as stored.
#[derive(Clone, Copy, Debug)]
enum Stored<'a> {
    /// Every entry has the same size, or the counter tells.
    Absent,
    /// Big-endian 32-bit offsets from the start of the key.
    Offsets(&'a [u8]),
    /// Big-endian 32-bit sizes, the first of them that of entry 0 at index 1.
    Sizes(&'a [u8]),
}

/// A basket ready to decode.
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    /// Elements of all entries, big-endian, one entry after the other.
    pub data: &'a [u8],
    entries: usize,
    keylen: usize,
    mask: u32,
    stored: Stored<'a>,
}

impl Header {
    /// Reads a header at the cursor, which is left at the first byte behind the flag.
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
        let seek = if key_version > LARGE_KEY {
            let seek = cursor.be_u64()?;
            cursor.skip(8)?;
            seek
        } else {
            let seek = u64::from(cursor.be_u32()?);
            cursor.skip(4)?;
            seek
        };
        let class = cursor.root_string()?;
        if class != "TBasket" {
            return Err(cursor.error(format!("the key holds a {class:?}, not a basket")));
        }
        cursor.root_string()?; // name: branches may have been renamed since
        cursor.root_string()?; // title: the tree
        let version = cursor.be_u16()?;
        cursor.skip(4)?; // buffer size
        let io_bits = if cursor.be_i32()? < 0 { cursor.u8()? } else { 0 };
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
        Ok(Self { nbytes, keylen, objlen, seek, class, version, entries, last, flag, io_bits })
    }

    /// Compares what the key says with what the branch says.
    fn check(&self, expected: &Expected, at: &Cursor<'_>) -> Result<()> {
        let differs = |what: &str, key: u64, branch: u64| {
            Err(at.error(format!(
                "the basket's key says {key} {what}, its branch's table says {branch}"
            )))
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
                "the basket's key says that it lies at byte {}, its branch's table that it lies at byte {seek}",
                self.seek
            )));
        }
        Ok(())
    }

    /// Number of data bytes, `fLast` less the key.
    fn border(&self, at: &Cursor<'_>) -> Result<usize> {
        self.last.checked_sub(self.keylen).ok_or_else(|| {
            at.error(format!(
                "the basket's data end at byte {} of it, inside its key of {} bytes",
                self.last, self.keylen
            ))
        })
    }
}

impl<'a> Contents<'a> {
    /// Bytes of the key and the basket's header, from which references in the data count.
    pub(crate) fn keylen(&self) -> usize {
        self.keylen
    }

    /// Opens a basket read from a file: `raw` are its bytes, `scratch` takes the payload where it is
    /// compressed.
    ///
    /// # Errors
    /// `OutOfSpecification` with the byte offset where key, table and payload disagree, `Unsupported`
    /// for unknown I/O features.
    pub(crate) fn open(
        raw: &'a [u8],
        expected: &Expected,
        scratch: &'a mut Vec<u8>,
    ) -> Result<Self> {
        let (header, payload) = payload(raw, expected, scratch)?;
        Self::of(&header, payload, expected)
    }

    /// The contents of a basket of this header and decompressed payload.
    fn of(header: &Header, payload: &'a [u8], expected: &Expected) -> Result<Self> {
        let start = Cursor::new(payload, expected.seek.unwrap_or(0));
        let border = header.border(&start)?;
        let Some((data, tail)) = payload.split_at_checked(border) else {
            return Err(start.error(format!(
                "the basket's data end at byte {border} of a payload of {} bytes",
                payload.len()
            )));
        };
        let generated = header.flag >= FLAG_GENERATED;
        let stored = if tail.is_empty() || generated {
            Stored::Absent
        } else {
            let (array, _) = offset_array(tail, header.entries)?;
            if header.io_bits & GENERATE_OFFSETS != 0 {
                Stored::Sizes(array)
            } else {
                Stored::Offsets(array)
            }
        };
        Ok(Self { data, entries: header.entries, keylen: header.keylen, mask: !0, stored })
    }

    /// Opens a basket that was streamed inside its tree (`TBranch::fBaskets`): `raw` is the streamed
    /// `TBasket`, never compressed. A key followed by its payload, as on disk, is taken too.
    ///
    /// # Errors
    /// As [`Contents::open`].
    pub(crate) fn open_embedded(
        raw: &'a [u8],
        expected: &Expected,
        scratch: &'a mut Vec<u8>,
    ) -> Result<Self> {
        let mut cursor = Cursor::new(raw, 0);
        let header = Header::read(&mut cursor)?;
        let generated = header.flag >= FLAG_GENERATED;
        let flag = if generated { header.flag - FLAG_GENERATED } else { header.flag };
        if flag == 0 {
            return Self::open(raw, expected, scratch);
        }
        header.check(expected, &cursor)?;
        let mut stored = Stored::Absent;
        if !generated && flag % 10 != 2 && header.entries > 0 {
            let (array, rest) = offset_array(cursor.remaining(), header.entries)?;
            stored = Stored::Offsets(array);
            let rest = if flag > 40 { offset_array(rest, header.entries)?.1 } else { rest };
            cursor.seek(raw.len() - rest.len())?;
        }
        if flag != 1 && flag <= 10 {
            return Err(cursor.error("a basket inside its tree was written without its data"));
        }
        if header.version <= 1 {
            cursor.skip(4)?; // the array's length, which is fLast
        }
        let buffer = cursor.bytes(header.last)?;
        let border = header.border(&cursor)?;
        let data = &buffer[buffer.len() - border..];
        let mask = if (21..40).contains(&flag) { !DISPLACEMENT_MASK } else { !0 };
        Ok(Self { data, entries: header.entries, keylen: header.keylen, mask, stored })
    }

    /// Byte offsets in `data` of the entries `rows`, one more than there are rows; `None` where none
    /// are stored.
    ///
    /// # Errors
    /// `OutOfSpecification` when they do not rise from 0 to the end of the data.
    pub(crate) fn offsets(&self, rows: Range<usize>) -> Result<Option<Vec<usize>>> {
        let (array, sizes) = match self.stored {
            Stored::Absent => return Ok(None),
            Stored::Offsets(array) => (array, false),
            Stored::Sizes(array) => (array, true),
        };
        let mut offsets = Vec::with_capacity(rows.len() + 1);
        let mut end = 0;
        // Sizes add up from the first entry on.
        let first = if sizes { 0 } else { rows.start };
        let stored = array.as_chunks::<4>().0.iter().take(self.entries).enumerate();
        for (entry, value) in stored.take(rows.end.saturating_add(1)).skip(first) {
            let value = (u32::from_be_bytes(*value) & self.mask) as usize;
            let offset = match (sizes, entry) {
                (true, 0) => Some(0),
                (true, _) => Some(end + value),
                (false, _) => value.checked_sub(self.keylen),
            };
            let offset = offset.filter(|&offset| {
                offset >= end && offset <= self.data.len() && (entry > 0 || offset == 0)
            });
            let Some(offset) = offset else {
                return Err(Error::out_of_spec(format!(
                    "entry {entry} of the basket starts at byte {} of {}, after one that starts at {end}",
                    value as i64 - if sizes { 0 } else { self.keylen as i64 },
                    self.data.len()
                )));
            };
            if entry >= rows.start {
                offsets.push(offset);
            }
            end = offset;
        }
        if rows.end >= self.entries {
            offsets.push(self.data.len());
        }
        Ok(Some(offsets))
    }
}

/// A basket that is kept decompressed.
pub(crate) struct Opened {
    header: Header,
    payload: Vec<u8>,
}

impl Opened {
    /// Decompresses a basket read from a file: `raw` are its bytes.
    ///
    /// # Errors
    /// As [`Contents::open`].
    pub(crate) fn new(raw: &[u8], expected: &Expected) -> Result<Self> {
        // Of the right size, where the size can be believed.
        let size = payload_size(raw).filter(|&size| size <= LARGE_PAYLOAD).unwrap_or_default();
        let mut scratch = vec![0; size];
        let (header, payload) = payload(raw, expected, &mut scratch)?;
        let (size, stored) = (payload.len(), header.nbytes - header.keylen == header.objlen);
        let mut payload = if stored { payload.to_vec() } else { scratch };
        payload.truncate(size);
        Ok(Self { header, payload })
    }

    /// Bytes of memory.
    pub(crate) fn len(&self) -> usize {
        self.payload.capacity()
    }

    /// Its contents.
    ///
    /// # Errors
    /// As [`Contents::open`].
    pub(crate) fn contents(&self, expected: &Expected) -> Result<Contents<'_>> {
        Contents::of(&self.header, &self.payload, expected)
    }
}

/// Bytes of the payload of a basket read from a file, once it is decompressed; `None` where its key
/// cannot be read.
pub(crate) fn payload_size(raw: &[u8]) -> Option<usize> {
    Header::read(&mut Cursor::new(raw, 0)).ok().map(|header| header.objlen)
}

/// Header and payload of a basket read from a file; `scratch` takes the payload where it is compressed.
fn payload<'a>(
    raw: &'a [u8],
    expected: &Expected,
    scratch: &'a mut Vec<u8>,
) -> Result<(Header, &'a [u8])> {
    let base = expected.seek.unwrap_or(0);
    let mut cursor = Cursor::new(raw, base);
    let header = Header::read(&mut cursor)?;
    let start = Cursor::new(raw, base);
    header.check(expected, &start)?;
    if header.keylen < cursor.position() {
        return Err(start.error(format!(
            "the basket's key is {} bytes long by itself and {} by what it holds",
            header.keylen,
            cursor.position()
        )));
    }
    let stored = raw.get(header.keylen..header.nbytes).ok_or_else(|| {
        start.error(format!(
            "the basket's key says {} bytes, {} of them the key, where {} were read",
            header.nbytes,
            header.keylen,
            raw.len()
        ))
    })?;
    let payload = if stored.len() == header.objlen {
        stored
    } else {
        inflate(stored, header.objlen, scratch, &start)?
    };
    Ok((header, payload))
}

/// Splits off the entry offsets as `TBuffer::WriteArray` stores them: a 32-bit count and the numbers,
/// one for each entry and usually one more.
fn offset_array(data: &[u8], entries: usize) -> Result<(&[u8], &[u8])> {
    let short = || Error::out_of_spec("the basket ends inside its entry offsets");
    let (count, data) = data.split_first_chunk::<4>().ok_or_else(short)?;
    let count = i32::from_be_bytes(*count);
    let length = usize::try_from(count).ok().filter(|&n| n == entries || n == entries + 1);
    let Some(length) = length else {
        return Err(Error::out_of_spec(format!(
            "the basket has {count} entry offsets for its {entries} entries"
        )));
    };
    data.split_at_checked(length * 4).ok_or_else(short)
}

/// Decompresses `stored` into the first `objlen` bytes of `scratch`.
fn inflate<'a>(
    stored: &[u8],
    objlen: usize,
    scratch: &'a mut Vec<u8>,
    at: &Cursor<'_>,
) -> Result<&'a [u8]> {
    let place = |error: Error| error.at(|place| place.offset = Some(at.offset()));
    if objlen > LARGE_PAYLOAD && scratch.len() < objlen {
        // Only as large as what there really is.
        *scratch = compression::decompress_to_vec(stored, objlen, "a basket").map_err(place)?;
        return Ok(&scratch[..objlen]);
    }
    if scratch.len() < objlen {
        // Room for the somewhat larger ones that follow; memory that is not used costs nothing.
        *scratch = vec![0; objlen.next_power_of_two()];
    }
    compression::decompress(stored, &mut scratch[..objlen]).map_err(place)?;
    Ok(&scratch[..objlen])
}
