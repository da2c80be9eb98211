//! Reads and writes the records of an index: entries of a fixed size that point into the data file.
//!
//! ```text
//! 0       8        16       24      32      40     48         56
//! +-------+--------+--------+-------+-------+------+----------+-------------------+
//! | form  | offset | length | place | bytes | size | checksum | checksum of these |
//! +-------+--------+--------+-------+-------+------+----------+-------------------+
//! ```
//!
//! All numbers are little-endian. `offset` and `length` are a range of the resource. `place` and `bytes` are
//! the range of the data file with these bytes or their unpacked form, and `checksum` is the XXH3 of the kept
//! bytes. The checksum of a record has the key of the resource as its seed, so that records of different
//! resources cannot be confused.

use std::ops::Range;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The size of a record in bytes.
pub(super) const RECORD_BYTES: usize = 64;
/// The largest number of bytes of the resource in one block. A read of any of its bytes reads and checks the
/// whole block.
pub(super) const BLOCK_BYTES: u64 = 64 << 10;
/// The largest number of bytes of an unpacked form. A larger one is not kept.
pub(super) const UNPACKED_BYTES: u64 = 1 << 30;

/// The form in which the bytes of a resource are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The bytes as the resource has them.
    Stored,
    /// The unpacked form of a page or basket.
    Raw,
    /// The unpacked form of a page or basket, compressed by LZ4.
    Lz4,
}

impl Form {
    const ALL: [Self; 3] = [Self::Stored, Self::Raw, Self::Lz4];

    fn code(self) -> u64 {
        match self {
            Self::Stored => 1,
            Self::Raw => 2,
            Self::Lz4 => 3,
        }
    }
}

/// Bytes that the data file keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub form: Form,
    /// The first byte of the resource.
    pub offset: u64,
    /// The number of bytes of the resource.
    pub length: u64,
    /// The first byte in the data file.
    pub place: u64,
    /// The number of bytes in the data file.
    pub bytes: u64,
    /// The number of bytes of the unpacked form before it was compressed. It equals `bytes` in other forms.
    pub size: u64,
    /// The XXH3 of the bytes in the data file.
    pub checksum: u64,
}

impl Record {
    /// Returns the range of the resource.
    pub(super) fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.length
    }

    /// Returns the range of the data file.
    pub(super) fn places(&self) -> Range<u64> {
        self.place..self.place + self.bytes
    }

    /// Returns whether `bytes` are those that were written for this record.
    pub(super) fn fits(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.bytes && xxh3_64(bytes) == self.checksum
    }

    /// Returns the bytes of the record in an index.
    pub(super) fn encode(&self, seed: u64) -> [u8; RECORD_BYTES] {
        let Self { form, offset, length, place, bytes, size, checksum } = *self;
        let mut all = [form.code(), offset, length, place, bytes, size, checksum, 0];
        let mut encoded = join(&all);
        all[7] = xxh3_64_with_seed(&encoded[..RECORD_BYTES - 8], seed);
        encoded = join(&all);
        encoded
    }

    /// Reads a record of an index. Returns `None` for damaged bytes, for a record of another resource, and for
    /// a record that is not valid for a resource of `resource` bytes.
    pub(super) fn decode(encoded: &[u8], seed: u64, resource: u64) -> Option<Self> {
        let (words, _) = encoded.get(..RECORD_BYTES)?.as_chunks::<8>();
        let all: [u64; 8] = std::array::from_fn(|index| u64::from_le_bytes(words[index]));
        let [form, offset, length, place, bytes, size, checksum, own] = all;
        if own != xxh3_64_with_seed(&encoded[..RECORD_BYTES - 8], seed) {
            return None;
        }
        let form = Form::ALL.into_iter().find(|known| known.code() == form)?;
        let record = Self { form, offset, length, place, bytes, size, checksum };
        let is_inside = offset.checked_add(length).is_some_and(|end| end <= resource);
        let is_sound = match form {
            Form::Stored => length == bytes && bytes == size && (1..=BLOCK_BYTES).contains(&bytes),
            Form::Raw => bytes == size && bytes <= UNPACKED_BYTES,
            Form::Lz4 => bytes <= UNPACKED_BYTES && size <= UNPACKED_BYTES,
        };
        (is_inside && is_sound && place.checked_add(bytes).is_some()).then_some(record)
    }
}

fn join(words: &[u64; 8]) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: Record = Record {
        form: Form::Stored,
        offset: 100,
        length: 20,
        place: 7,
        bytes: 20,
        size: 20,
        checksum: 5,
    };

    #[test]
    fn a_flipped_bit_of_a_record_is_found() {
        let encoded = RECORD.encode(9);
        assert_eq!(Record::decode(&encoded, 9, 120), Some(RECORD));
        for bit in 0..RECORD_BYTES * 8 {
            let mut flipped = encoded;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::decode(&flipped, 9, 120), None, "bit {bit}");
        }
        assert_eq!(Record::decode(&encoded, 8, 120), None, "a record of another resource");
        assert_eq!(Record::decode(&[0; RECORD_BYTES], 0, 120), None);
        assert_eq!(Record::decode(&encoded[..63], 9, 120), None);
    }

    #[test]
    fn records_that_make_no_sense_are_ignored() {
        let lz4 = Record { form: Form::Lz4, size: 40, ..RECORD };
        assert_eq!(Record::decode(&lz4.encode(0), 0, 120), Some(lz4));
        for (record, resource) in [
            (RECORD, 119),
            (Record { offset: u64::MAX, ..RECORD }, u64::MAX),
            (Record { place: u64::MAX, ..RECORD }, 120),
            (Record { size: 21, ..RECORD }, 120),
            (Record { length: 0, bytes: 0, size: 0, ..RECORD }, 120),
            (Record { form: Form::Raw, size: 21, ..RECORD }, 120),
            (Record { size: UNPACKED_BYTES + 1, ..lz4 }, 120),
        ] {
            assert_eq!(Record::decode(&record.encode(0), 0, resource), None, "{record:?}");
        }
    }
}
