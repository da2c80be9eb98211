//! Reads and writes the anchor of an RNTuple in a ROOT file (specification, "Anchor schema").
//!
//! It is the payload of a `ROOT::RNTuple` key. It is big-endian, unlike the rest of the format:
//!
//! ```text
//! 0x40000000 | byte count (4)   class version (2)   fields (64)   XXH3 of the fields (8)
//!              └── counts class version and fields ──────────┘
//! ```

use nyssa_root::cursor::{BYTE_COUNT, Cursor};
use nyssa_root::error::{Error, Result};

/// The default of ROOT for the largest payload of one key: 1 GiB.
pub const DEFAULT_MAX_KEY_SIZE: u64 = 1 << 30;

/// The class version of `ROOT::RNTuple` that nyssa writes.
const CLASS_VERSION: u16 = 2;
/// The size in bytes of the known fields.
const FIELDS_SIZE: u32 = 64;

/// A version of the format specification. Only the epoch decides whether nyssa can read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormatVersion {
    /// The number of changes that old readers and writers cannot follow. 0 is the pre-release.
    pub epoch: u16,
    /// The number of changes that old readers cannot follow.
    pub major: u16,
    /// The number of additions of optional features.
    pub minor: u16,
    /// The number of clarifications.
    pub patch: u16,
}

impl FormatVersion {
    /// The version that nyssa writes unless a file uses a later feature, so that every reader accepts the file.
    pub const WRITTEN: Self = Self { epoch: 1, major: 0, minor: 0, patch: 0 };
    /// The version whose footers list linked attribute sets.
    pub const WITH_ATTRIBUTE_SETS: Self = Self { epoch: 1, major: 0, minor: 1, patch: 0 };
}

impl std::fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}.{}", self.epoch, self.major, self.minor, self.patch)
    }
}

/// The position and sizes of an envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnvelopePosition {
    /// The offset in the file, in bytes.
    pub seek: u64,
    /// The size on storage, in bytes.
    pub nbytes: u64,
    /// The uncompressed size, in bytes.
    pub len: u64,
}

/// The entry point of an RNTuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The version of the specification that the writer supports.
    pub version: FormatVersion,
    /// The position of the header envelope.
    pub header: EnvelopePosition,
    /// The position of the footer envelope.
    pub footer: EnvelopePosition,
    /// The largest payload of one RBlob key, in bytes. Larger blobs are split.
    pub max_key_size: u64,
}

impl Anchor {
    /// Parses the payload of a `ROOT::RNTuple` key. Fields that later versions append are skipped; the
    /// checksum covers them.
    ///
    /// # Errors
    /// `OutOfSpecification` for a short payload; `Checksum`; `Unsupported` for another epoch.
    pub fn parse(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload, 0);
        Self::read(&mut cursor).map_err(|error| {
            Error::new(error.kind(), format!("RNTuple anchor: {}", error.message()))
        })
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let word = cursor.be_u32()?;
        let count = word & !BYTE_COUNT;
        if word & BYTE_COUNT == 0 || count < 2 + FIELDS_SIZE {
            return Err(Error::out_of_spec(format!("byte count {word:#x} is not an anchor's")));
        }
        let class_version = cursor.be_u16()?;
        let fields = cursor.bytes(count as usize - 2)?;
        let stored = cursor.be_u64()?;
        let computed = super::checksum(fields);
        if stored != computed {
            return Err(Error::checksum(format!(
                "stored checksum {stored:016x}, computed {computed:016x}"
            )));
        }
        let mut fields = Cursor::new(fields, 6);
        let version = FormatVersion {
            epoch: fields.be_u16()?,
            major: fields.be_u16()?,
            minor: fields.be_u16()?,
            patch: fields.be_u16()?,
        };
        if version.epoch != 1 {
            return Err(Error::unsupported(format!(
                "format version {version} (class version {class_version}): only epoch 1 can be \
                 read; files of the pre-release have to be written again"
            )));
        }
        let header = read_position(&mut fields, "header")?;
        let footer = read_position(&mut fields, "footer")?;
        Ok(Self { version, header, footer, max_key_size: fields.be_u64()? })
    }

    /// Serializes the payload of a `ROOT::RNTuple` key, 78 bytes of class version 2.
    pub fn serialize(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(14 + FIELDS_SIZE as usize);
        out.extend_from_slice(&(BYTE_COUNT | (2 + FIELDS_SIZE)).to_be_bytes());
        out.extend_from_slice(&CLASS_VERSION.to_be_bytes());
        let FormatVersion { epoch, major, minor, patch } = self.version;
        for number in [epoch, major, minor, patch] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        for position in [self.header, self.footer] {
            for number in [position.seek, position.nbytes, position.len] {
                out.extend_from_slice(&number.to_be_bytes());
            }
        }
        out.extend_from_slice(&self.max_key_size.to_be_bytes());
        let checksum = super::checksum(&out[6..]);
        out.extend_from_slice(&checksum.to_be_bytes());
        out
    }
}

fn read_position(cursor: &mut Cursor<'_>, what: &str) -> Result<EnvelopePosition> {
    let position = EnvelopePosition {
        seek: cursor.be_u64()?,
        nbytes: cursor.be_u64()?,
        len: cursor.be_u64()?,
    };
    if position.seek.checked_add(position.nbytes).is_none() {
        return Err(Error::out_of_spec(format!(
            "{what} of {} bytes at byte {} ends beyond byte 2^64",
            position.nbytes, position.seek
        )));
    }
    Ok(position)
}
