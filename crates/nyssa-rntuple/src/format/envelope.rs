//! Reads and writes envelopes: type, length, payload, XXH3 (specification, "Envelopes").

use std::fmt;

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

/// The number of bytes before the payload.
const PREAMBLE: usize = 8;
/// The number of bytes after the payload.
const CHECKSUM: usize = 8;
/// The maximum length in bytes. The preamble has 48 bits for it.
const MAX_LENGTH: u64 = (1 << 48) - 1;

/// The type of an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeKind {
    /// The header, with the schema.
    Header,
    /// The footer, with cluster groups and the schema extension.
    Footer,
    /// A page list, with clusters and their pages.
    PageList,
}

impl EnvelopeKind {
    fn id(self) -> u64 {
        match self {
            Self::Header => 1,
            Self::Footer => 2,
            Self::PageList => 3,
        }
    }

    /// Adds the envelope and the byte offset to the message of an error.
    pub(super) fn blame(self, error: Error) -> Error {
        let message = match error.place().offset {
            Some(offset) => format!("{self} envelope, byte {offset}: {}", error.message()),
            None => format!("{self} envelope: {}", error.message()),
        };
        Error::new(error.kind(), message)
    }
}

impl fmt::Display for EnvelopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Footer => "footer",
            Self::PageList => "page list",
        })
    }
}

/// An envelope whose checksum was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The bytes between preamble and checksum.
    pub payload: &'a [u8],
    /// The XXH3 of preamble and payload. The stored and the computed checksum are equal.
    pub checksum: u64,
}

impl<'a> Envelope<'a> {
    /// Checks the uncompressed bytes of an envelope: its checksum, type and length.
    ///
    /// # Errors
    /// `OutOfSpecification` for another type or length; `Checksum`.
    pub fn open(bytes: &'a [u8], kind: EnvelopeKind) -> Result<Self> {
        Self::read(bytes, kind).map_err(|error| kind.blame(error))
    }

    fn read(bytes: &'a [u8], kind: EnvelopeKind) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let word = cursor.le_u64()?;
        let (id, length) = (word & 0xFFFF, word >> 16);
        // The checksum covers the preamble. So it is compared first: a damaged preamble is then reported as
        // damage, not as a wrong type.
        if bytes.len() >= PREAMBLE + CHECKSUM {
            let (covered, stored) = bytes.split_at(bytes.len() - CHECKSUM);
            let stored = Cursor::new(stored, 0).le_u64()?;
            let computed = super::checksum(covered);
            if stored != computed {
                return Err(Error::checksum(format!(
                    "stored checksum {stored:016x}, computed {computed:016x}"
                )));
            }
        }
        if id != kind.id() {
            return Err(Error::out_of_spec(format!("type {id} where {} is needed", kind.id())));
        }
        if length != bytes.len() as u64 || bytes.len() < PREAMBLE + CHECKSUM {
            return Err(Error::out_of_spec(format!(
                "says it is {length} bytes long but has {}",
                bytes.len()
            )));
        }
        let payload = cursor.bytes(bytes.len() - PREAMBLE - CHECKSUM)?;
        Ok(Self { payload, checksum: cursor.le_u64()? })
    }

    /// Makes a cursor over the payload. Its offsets count from the start of the envelope.
    pub fn cursor(&self) -> Cursor<'a> {
        Cursor::new(self.payload, PREAMBLE as u64)
    }

    /// Makes an envelope around the bytes that `fill` appends. Returns its bytes and their checksum.
    ///
    /// # Errors
    /// `LimitExceeded` beyond 2^48 bytes; an error if `fill` fails.
    pub fn seal(
        kind: EnvelopeKind,
        fill: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<(Vec<u8>, u64)> {
        let mut out = vec![0; PREAMBLE];
        fill(&mut out)?;
        let length = (out.len() + CHECKSUM) as u64;
        if length > MAX_LENGTH {
            return Err(Error::limit(format!("{kind} envelope of {length} bytes")));
        }
        out[..PREAMBLE].copy_from_slice(&(kind.id() | length << 16).to_le_bytes());
        let checksum = super::checksum(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        Ok((out, checksum))
    }
}
