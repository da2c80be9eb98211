//! Reads the contents of a basket: the data of its entries, and where they begin. `basket_header` reads what is before
//! them.
//!
//! ```text
//! on disk      | TKey | TBasket header, flag 0 or 80 | data … fLast | entry offsets | displacements |
//!              |<-------------- keylen ------------->|<---- objlen bytes, compressed as one -------->|
//! in the tree  | TKey | TBasket header, flag > 10 | entry offsets | displacements | fLast bytes: keylen + data |
//! ```
//!
//! Offsets count from the start of the key, so the first offset is `keylen`. The stored offset after the last
//! entry has no meaning, and `fLast` is used for it. Source: `TBasket::Streamer`, `TBasket::WriteBuffer` and
//! `TKey::Streamer` in root-project/root.

use std::ops::Range;

use nyssa_root::compression;
use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

use super::basket_header::{Expected, FLAG_GENERATED, GENERATE_OFFSETS, Header, NEWEST_VERSION};

/// The bits of a streamed offset that are a displacement: its highest byte (flags 21 to 39).
const DISPLACEMENT_MASK: u32 = 0xFF00_0000;

/// The payload size in bytes from which memory is allocated step by step, as the compressed blocks are
/// decompressed.
const LARGE_PAYLOAD: usize = 16 << 20;

/// The stored offsets of the entries of a basket.
#[derive(Clone, Copy, Debug)]
enum Stored<'a> {
    /// No offsets: every entry has the same size, or the counter gives it.
    Absent,
    /// Big-endian 32-bit offsets from the start of the key.
    Offsets(&'a [u8]),
    /// Big-endian 32-bit sizes. The size of entry 0 is at index 1.
    Sizes(&'a [u8]),
}

/// The contents of a basket, ready to decode.
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    /// The elements of all entries, big-endian, one entry after the other.
    pub data: &'a [u8],
    /// The number that the file adds to the numbers of processes in the data.
    pub process_offset: u16,
    entries: usize,
    keylen: usize,
    mask: u32,
    /// Whether only the counter of the branch says where its entries begin.
    counted: bool,
    /// The number of bytes of each entry that the header states, for a basket without offsets.
    stated_size: usize,
    stored: Stored<'a>,
    /// The original position of each entry, counted from the start of the key, if the entries were moved
    /// (`TBasket::fDisplacement`).
    written_at: Option<&'a [u8]>,
}

impl<'a> Contents<'a> {
    /// Returns the size of the key and the basket's header, in bytes. References in the data count from the
    /// start of the key.
    pub(crate) fn keylen(&self) -> usize {
        self.keylen
    }

    /// Refuses a header that does not fit these contents. nyssa could read them, but ROOT relies on
    /// these numbers.
    ///
    /// # Errors
    /// `OutOfSpecification` for a version or a flag that no basket has, and for a wrong size of an entry.
    pub(crate) fn check_header(&self, header: &Header, is_embedded: bool) -> Result<()> {
        if !(1..=NEWEST_VERSION).contains(&header.version) {
            return Err(Error::out_of_spec(format!(
                "the basket says that it has version {} of TBasket, the newest is {NEWEST_VERSION}",
                header.version
            )));
        }
        if !header.has_known_flag(is_embedded) {
            return Err(Error::out_of_spec(format!(
                "the basket has the flag {}, which does not belong to such a basket",
                header.flag
            )));
        }
        self.check_entry_size(header, is_embedded)
    }

    /// Compares the size of an entry with the data: ROOT finds entry `i` at `i` times this size. For a basket with
    /// offsets, the number is the number of offsets that have place. ROOT fills this place from a basket in its tree.
    /// For a basket in the file it allocates new memory, and uproot always writes 1000 there.
    fn check_entry_size(&self, header: &Header, is_embedded: bool) -> Result<()> {
        let Header { entry_size: size, entries, .. } = header;
        let bytes = self.data.len();
        match self.stored {
            Stored::Absent if header.flag >= FLAG_GENERATED => Ok(()),
            Stored::Absent if entries.checked_mul(*size) == Some(bytes) => Ok(()),
            Stored::Absent => Err(Error::out_of_spec(format!(
                "the basket says that each of its {entries} entries has {size} bytes, but they have {bytes} bytes together"
            ))),
            _ if !is_embedded || size >= entries => Ok(()),
            _ => Err(Error::out_of_spec(format!(
                "the basket says that it has place for {size} entry offsets, but it has {entries} entries"
            ))),
        }
    }

    /// Opens a basket that was read from a file. `raw` are its bytes. A compressed payload is decompressed to
    /// `scratch`.
    ///
    /// # Errors
    /// `OutOfSpecification` with the byte offset where key, table and payload disagree; `Unsupported` for
    /// unknown I/O features.
    pub(crate) fn open(
        raw: &'a [u8],
        expected: &Expected,
        scratch: &'a mut Vec<u8>,
    ) -> Result<Self> {
        let (header, payload) = payload(raw, expected, scratch)?;
        Self::of(&header, payload, expected)
    }

    /// Opens a basket whose payload [`decompress`] has put into `scratch`.
    ///
    /// # Errors
    /// `OutOfSpecification` where header and payload disagree.
    pub(crate) fn decompressed(
        header: &Header,
        scratch: &'a [u8],
        expected: &Expected,
    ) -> Result<Self> {
        Self::of(header, scratch.get(..header.objlen).unwrap_or(scratch), expected)
    }

    /// Makes the contents of a basket from its header and its decompressed payload.
    ///
    /// # Errors
    /// `OutOfSpecification` where they disagree.
    pub(crate) fn of(header: &Header, payload: &'a [u8], expected: &Expected) -> Result<Self> {
        let start = Cursor::new(payload, expected.seek.unwrap_or(0));
        let border = header.border(&start)?;
        let Some((data, tail)) = payload.split_at_checked(border) else {
            return Err(start.error(format!(
                "the basket's data end at byte {border} of a payload of {} bytes",
                payload.len()
            )));
        };
        let generated = header.flag >= FLAG_GENERATED;
        let (stored, written_at) = if tail.is_empty() || generated {
            (Stored::Absent, None)
        } else {
            let (array, rest) = offset_array(tail, header.entries)?;
            // Most baskets end here.
            let written_at = (!rest.is_empty())
                .then(|| offset_array(rest, header.entries).ok().map(|(array, _)| array))
                .flatten();
            if header.io_bits & GENERATE_OFFSETS != 0 {
                (Stored::Sizes(array), written_at)
            } else {
                (Stored::Offsets(array), written_at)
            }
        };
        let (entries, keylen) = (header.entries, header.keylen);
        Ok(Self {
            data,
            process_offset: header.process_offset,
            entries,
            keylen,
            mask: !0,
            counted: generated,
            stated_size: header.entry_size,
            stored,
            written_at,
        })
    }

    /// Opens a basket that was streamed inside its tree (`TBranch::fBaskets`): `raw` is the streamed
    /// `TBasket`, which is never compressed. A key followed by its payload, as on disk, is accepted too.
    ///
    /// # Errors
    /// `OutOfSpecification` if key, table and payload disagree; `Unsupported` for unknown I/O features.
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
        let (mut stored, mut written_at) = (Stored::Absent, None);
        if !generated && flag % 10 != 2 && header.entries > 0 {
            let (array, rest) = offset_array(cursor.remaining(), header.entries)?;
            stored = Stored::Offsets(array);
            let mut rest = rest;
            if flag > 40 {
                let (array, behind) = offset_array(rest, header.entries)?;
                (written_at, rest) = (Some(array), behind);
            }
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
        let (entries, keylen) = (header.entries, header.keylen);
        Ok(Self {
            data,
            process_offset: header.process_offset,
            entries,
            keylen,
            mask,
            counted: generated,
            stated_size: header.entry_size,
            stored,
            written_at,
        })
    }

    /// Returns the original positions of entries, counted from the start of the key, if the entries were moved.
    /// References in them count from there.
    pub(crate) fn written_at(&self, rows: Range<usize>) -> Option<Vec<u32>> {
        let places = self.written_at?.as_chunks::<4>().0.get(rows)?;
        Some(places.iter().map(|place| u32::from_be_bytes(*place)).collect())
    }

    /// Returns the bytes of all original positions in their stored form, with their number.
    pub(crate) fn stored_places(&self) -> Vec<u8> {
        let places = self.written_at.unwrap_or_default();
        let count = (places.len() / 4) as u32;
        if places.is_empty() { Vec::new() } else { [&count.to_be_bytes(), places].concat() }
    }

    /// Returns whether only the counter of the branch says where its entries begin.
    pub(crate) fn is_counted(&self) -> bool {
        self.counted
    }

    /// Returns whether the basket says that its entries were moved.
    pub(crate) fn is_displaced(&self) -> bool {
        self.written_at.is_some()
    }

    /// Returns the positions for which the entries `rows` were streamed, counted from the start of the key. Their
    /// offsets in `data` are `offsets`.
    pub(crate) fn places(&self, rows: Range<usize>, offsets: &[usize]) -> Vec<u32> {
        let count = rows.len();
        match self.written_at(rows) {
            Some(places) if places.len() == count => places,
            _ => offsets.iter().take(count).map(|&at| (self.keylen + at) as u32).collect(),
        }
    }

    /// Returns the number of bytes of each entry, for a basket without offsets.
    ///
    /// # Errors
    /// `Unsupported` if only the counter of the branch says how many bytes an entry has; `OutOfSpecification` if the
    /// entries do not have one size.
    pub(crate) fn entry_size(&self) -> Result<usize> {
        if self.counted {
            return Err(Error::unsupported(
                "its baskets have no offsets (kGenerateOffsetMap), so that its entries cannot be taken apart",
            ));
        }
        match self.stated_size.checked_mul(self.entries) == Some(self.data.len()) {
            true => Ok(self.stated_size),
            false => Err(Error::unsupported(
                "its entries vary in size and its baskets do not store where they lie, so that they cannot be taken apart",
            )),
        }
    }

    /// Returns the byte offsets in `data` of the entries `rows`. There is one more offset than rows. Returns
    /// `None` when the basket stores no offsets.
    ///
    /// # Errors
    /// `OutOfSpecification` when the offsets do not increase from 0 to the end of the data.
    pub(crate) fn offsets(&self, rows: Range<usize>) -> Result<Option<Vec<usize>>> {
        let (array, sizes) = match self.stored {
            Stored::Absent => return Ok(None),
            Stored::Offsets(array) => (array, false),
            Stored::Sizes(array) => (array, true),
        };
        let mut offsets = Vec::with_capacity(rows.len() + 1);
        let mut end = 0;
        // Sizes are summed from the first entry on.
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

/// A decompressed basket that stays in memory.
pub(crate) struct Opened {
    header: Header,
    payload: Vec<u8>,
}

impl Opened {
    /// Decompresses a basket that was read from a file. `raw` are its bytes.
    ///
    /// # Errors
    /// `OutOfSpecification` if key, table and payload disagree; `Unsupported` for unknown I/O features.
    pub(crate) fn new(raw: &[u8], expected: &Expected) -> Result<Self> {
        // The memory has the right size at once if the size is small enough to be trusted.
        let size = payload_size(raw).filter(|&size| size <= LARGE_PAYLOAD).unwrap_or_default();
        let mut scratch = vec![0; size];
        let (header, payload) = payload(raw, expected, &mut scratch)?;
        let (size, stored) = (payload.len(), header.is_stored());
        let mut payload = if stored { payload.to_vec() } else { scratch };
        payload.truncate(size);
        Ok(Self { header, payload })
    }

    /// Makes a basket of its header and its decompressed payload.
    pub(crate) fn of(header: Header, payload: Vec<u8>) -> Self {
        Self { header, payload }
    }

    /// Returns the header and the payload.
    pub(crate) fn parts(&self) -> (&Header, &[u8]) {
        (&self.header, &self.payload)
    }

    /// Sets another payload, whose data end at `last`.
    pub(crate) fn set_payload(&mut self, payload: Vec<u8>, last: usize) {
        self.header.last = last;
        self.payload = payload;
    }

    /// Returns the number of bytes in memory.
    pub(crate) fn len(&self) -> usize {
        self.payload.capacity()
    }

    /// Returns the contents of the basket.
    ///
    /// # Errors
    /// `OutOfSpecification` if key, table and payload disagree; `Unsupported` for unknown I/O features.
    pub(crate) fn contents(&self, expected: &Expected) -> Result<Contents<'_>> {
        Contents::of(&self.header, &self.payload, expected)
    }
}

/// Returns the size in bytes of the decompressed payload of a basket that was read from a file. Returns
/// `None` when its key cannot be read.
pub(crate) fn payload_size(raw: &[u8]) -> Option<usize> {
    Header::read(&mut Cursor::new(raw, 0)).ok().map(|header| header.objlen)
}

/// Returns the header and the payload of a basket that was read from a file. A compressed payload is
/// decompressed to `scratch`.
fn payload<'a>(
    raw: &'a [u8],
    expected: &Expected,
    scratch: &'a mut Vec<u8>,
) -> Result<(Header, &'a [u8])> {
    let base = expected.seek.unwrap_or(0);
    let mut cursor = Cursor::new(raw, base);
    let mut header = Header::read(&mut cursor)?;
    let start = Cursor::new(raw, base);
    header.check(expected, &start)?;
    if expected.unpacked {
        header.nbytes = raw.len();
    }
    if header.keylen < cursor.position() {
        return Err(start.error(format!(
            "the basket's key says that it has {} bytes, but it has {}",
            header.keylen,
            cursor.position()
        )));
    }
    let stored = raw.get(header.keylen..header.nbytes).ok_or_else(|| {
        start.error(format!(
            "the basket's key says {} bytes with {} bytes for the key itself, but {} bytes were read",
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

/// Decompresses the payload of a basket that was read from a file to `scratch`, and returns its header. After that, `raw`
/// is not needed. Returns `None` if the payload is not compressed.
///
/// # Errors
/// `OutOfSpecification` if key, table and payload disagree; `Unsupported` for unknown I/O features.
pub(crate) fn decompress(
    raw: &[u8],
    expected: &Expected,
    scratch: &mut Vec<u8>,
) -> Result<Option<Header>> {
    let (header, _) = payload(raw, expected, scratch)?;
    Ok((!header.is_stored()).then_some(header))
}

/// Returns the unchanged key of a basket that was read from a file, and its decompressed payload. A compressed
/// payload is decompressed to `scratch`.
///
/// # Errors
/// `OutOfSpecification` if key, table and payload disagree; `Unsupported` for unknown I/O features.
pub(crate) fn unpack<'a>(
    raw: &'a [u8],
    expected: &Expected,
    scratch: &'a mut Vec<u8>,
) -> Result<(&'a [u8], &'a [u8])> {
    let (header, payload) = payload(raw, expected, scratch)?;
    Ok((&raw[..header.keylen], payload))
}

/// Splits off the entry offsets as `TBuffer::WriteArray` stores them: a 32-bit count, then the offsets. There is one
/// offset for each entry, and usually one additional offset.
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
        // The memory grows only with the data that the file really has.
        *scratch = compression::decompress_to_vec(stored, objlen, "a basket").map_err(place)?;
        return Ok(&scratch[..objlen]);
    }
    if scratch.len() < objlen {
        // Later baskets may be a little larger. Unused memory costs nothing.
        *scratch = vec![0; objlen.next_power_of_two()];
    }
    compression::decompress(stored, &mut scratch[..objlen]).map_err(place)?;
    Ok(&scratch[..objlen])
}
