//! Reads the header of a page, which is in the compact protocol of Thrift: sizes, checksum, number of values, encoding. The
//! library `parquet` shows none of these. Adds a checksum to a header, which the library does not write.

use nyssa_root::error::{Error, Result};

use super::thrift::{I32, STRUCT, Thrift};

/// The first byte of a checksum in a header: field 4, one more than the field before it, of 32 bits.
const CHECKSUM_FIELD: u8 = 0x10 | I32;

/// The encodings, by their numbers.
const ENCODINGS: [(i64, &str); 9] = [
    (0, "PLAIN"),
    (2, "PLAIN_DICTIONARY"),
    (3, "RLE"),
    (4, "BIT_PACKED"),
    (5, "DELTA_BINARY_PACKED"),
    (6, "DELTA_LENGTH_BYTE_ARRAY"),
    (7, "DELTA_BYTE_ARRAY"),
    (8, "RLE_DICTIONARY"),
    (9, "BYTE_STREAM_SPLIT"),
];

/// The header of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageHeader {
    /// The number of bytes of the header.
    pub(crate) length: usize,
    /// The number of bytes of the page behind it.
    pub(crate) stored: u64,
    /// The number of bytes of the page before compression.
    pub(crate) uncompressed: u64,
    /// The CRC-32 of the bytes of the page.
    pub(crate) checksum: Option<u32>,
    /// The number of values, also of missing ones. A dictionary has the number of its values.
    pub(crate) values: u64,
    kind: i64,
    encoding: i64,
    /// The end of the sizes, where the checksum has its place.
    after_sizes: usize,
}

impl PageHeader {
    /// Reads the header at the start of some bytes.
    ///
    /// # Errors
    /// `OutOfSpecification` if the bytes end within the header, or are none.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut thrift = Thrift::new(bytes);
        let (mut header, mut last, mut found) = (Self::default(), 0, 0u8);
        while let Some((id, kind)) = thrift.field(last)? {
            match (id, kind) {
                (1, I32) => header.kind = thrift.number()?,
                (2, I32) => header.uncompressed = thrift.size()?,
                (3, I32) => {
                    header.stored = thrift.size()?;
                    header.after_sizes = thrift.place();
                }
                // A header states the 32 bits of the checksum as a signed number.
                (4, I32) => header.checksum = Some(thrift.number()? as u32),
                (5 | 7, STRUCT) => header.values(&mut thrift, 2)?,
                (8, STRUCT) => header.values(&mut thrift, 4)?,
                _ => thrift.skip(kind)?,
            }
            if (1..4).contains(&id) && kind == I32 {
                found |= 1 << id;
            }
            last = id;
        }
        header.length = thrift.place();
        match found {
            0b1110 => Ok(header),
            _ => Err(Error::out_of_spec("a page header lacks the kind of the page or its sizes")),
        }
    }

    /// Reads the structure that depends on the kind of the page. The number of values comes first in it.
    fn values(&mut self, thrift: &mut Thrift<'_>, encoding: i16) -> Result<()> {
        let mut last = 0;
        while let Some((id, kind)) = thrift.field(last)? {
            match (id, kind) {
                (1, I32) => self.values = thrift.size()?,
                (id, I32) if id == encoding => self.encoding = thrift.number()?,
                _ => thrift.skip(kind)?,
            }
            last = id;
        }
        Ok(())
    }

    /// Returns whether the page is the dictionary of its column chunk.
    pub(crate) fn is_dictionary(&self) -> bool {
        self.kind == 2
    }

    /// Returns the number of values of the column that the page has. A dictionary and an index have none.
    pub(crate) fn column_values(&self) -> u64 {
        if matches!(self.kind, 0 | 3) { self.values } else { 0 }
    }

    /// Returns the name of the encoding.
    pub(crate) fn encoding(&self) -> &'static str {
        ENCODINGS.iter().find(|(number, _)| *number == self.encoding).map_or("?", |(_, name)| name)
    }

    /// Returns the bytes of this header with a checksum. A header that has one stays as it is.
    pub(crate) fn with_checksum(&self, bytes: &[u8], checksum: u32) -> Vec<u8> {
        let split = bytes.split_at_checked(self.after_sizes);
        let split = split.and_then(|(sizes, rest)| Some((sizes, rest.split_first()?)));
        let Some((sizes, (&next, rest))) = split.filter(|_| self.checksum.is_none()) else {
            return bytes.to_vec();
        };
        let mut new = Vec::with_capacity(bytes.len() + 6);
        new.extend_from_slice(sizes);
        new.push(CHECKSUM_FIELD);
        // The bits of the checksum as a signed number, in the zigzag form.
        let mut left = (checksum << 1) ^ (if checksum >> 31 == 1 { u32::MAX } else { 0 });
        while left > 0x7f {
            new.push((left & 0x7f) as u8 | 0x80);
            left >>= 7;
        }
        new.push(left as u8);
        // The number of the next field is stated as the distance from the field before it.
        new.push(if next >> 4 > 1 { next - 0x10 } else { next });
        new.extend_from_slice(rest);
        new
    }
}

#[cfg(test)]
mod tests {
    use nyssa_root::error::Kind;

    use super::*;

    /// The header of a data page in the words of the specification: kind 0, 20 bytes of 24, and a structure with 6 values,
    /// encoding 8, levels in encoding 3.
    const HEADER: [u8; 16] = [
        0x15, 0x00, 0x15, 0x30, 0x15, 0x28, 0x2c, 0x15, 0x0c, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06,
        0x00,
    ];

    fn header() -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        bytes.push(0x00);
        bytes
    }

    #[test]
    fn a_header_has_sizes_and_values() {
        let header = PageHeader::parse(&header()).unwrap();
        assert_eq!((header.stored, header.uncompressed, header.values), (20, 24, 6));
        assert_eq!(
            (header.encoding(), header.checksum, header.length),
            ("RLE_DICTIONARY", None, 17)
        );
        assert_eq!((header.column_values(), header.is_dictionary()), (6, false));
    }

    #[test]
    fn a_checksum_is_added() {
        for checksum in [0, 1, 0x7fff_ffff, 0x8000_0000, 0xdead_beef, u32::MAX] {
            let plain = PageHeader::parse(&header()).unwrap();
            let bytes = plain.with_checksum(&header(), checksum);
            let with = PageHeader::parse(&bytes).unwrap();
            assert_eq!(with.checksum, Some(checksum));
            assert_eq!((with.values, with.encoding()), (plain.values, plain.encoding()));
            assert_eq!(with.length, bytes.len());
            assert_eq!(with.with_checksum(&bytes, 7), bytes);
        }
    }

    #[test]
    fn a_header_that_is_cut_or_wrong_is_an_error() {
        for end in 0..header().len() {
            let error = PageHeader::parse(&header()[..end]).unwrap_err();
            assert_eq!(error.kind(), Kind::OutOfSpecification, "{end}");
        }
        for (bytes, message) in [
            (vec![0x00], "a page header lacks the kind of the page or its sizes"),
            (vec![0x15, 0x00, 0x15, 0x01], "the metadata have the size -1"),
            (vec![0x1c; 40], "the metadata are nested too deeply"),
            (vec![0x1e, 0x00], "the metadata have a value of type 14"),
            (vec![0x15; 40], "the metadata have the size -11"),
            (vec![0x18, 0xff, 0xff, 0xff, 0xff, 0x0f], "the metadata end too early"),
            (vec![0x19, 0xf8, 0xff, 0xff, 0xff, 0xff, 0x0f], "the metadata end too early"),
        ] {
            assert_eq!(PageHeader::parse(&bytes).unwrap_err().message(), message);
        }
    }
}
