//! Reads and writes the chunk header, which has 9 bytes.

use crate::error::{Error, Result};

/// The size of the header before every chunk, in bytes.
pub const CHUNK_HEADER_SIZE: usize = 9;

/// The largest number of bytes in one chunk, before and after compression, since sizes have 3 bytes.
pub const MAX_CHUNK_SIZE: usize = 0xFF_FFFF;

/// The compression algorithm of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Zlib,
    OldDeflate,
    Lzma,
    Lz4,
    Zstd,
}

impl Method {
    const ALL: [Self; 5] = [Self::Zlib, Self::OldDeflate, Self::Lzma, Self::Lz4, Self::Zstd];

    /// Returns the tag of two letters and the version byte that ROOT writes and requires.
    fn tag(self) -> ([u8; 2], u8) {
        match self {
            Self::Zlib => (*b"ZL", 8),
            Self::OldDeflate => (*b"CS", 8),
            Self::Lzma => (*b"XZ", 0),
            Self::Lz4 => (*b"L4", 1),
            Self::Zstd => (*b"ZS", 1),
        }
    }
}

/// The header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkHeader {
    pub method: Method,
    /// The size of the payload in bytes.
    pub compressed: usize,
    /// The size of the content in bytes.
    pub content: usize,
}

impl ChunkHeader {
    /// Reads a header. `position` is its offset in the block, for error messages.
    pub(super) fn parse(bytes: [u8; CHUNK_HEADER_SIZE], position: usize) -> Result<Self> {
        let [t0, t1, version, c0, c1, c2, u0, u1, u2] = bytes;
        let method = Method::ALL.into_iter().find(|method| method.tag().0 == [t0, t1]);
        let Some(method) = method else {
            return Err(Error::out_of_spec(format!(
                "compressed chunk at byte {position} of its block starts with \"{}\", which is not a \
                 compression ROOT knows (ZL, CS, XZ, L4, ZS)",
                [t0, t1].escape_ascii()
            )));
        };
        let (_, expected) = method.tag();
        if version != expected {
            return Err(Error::unsupported(format!(
                "compressed chunk at byte {position} of its block has version {version} of {}{}, \
                 only version {expected} is known",
                char::from(t0),
                char::from(t1),
            )));
        }
        let compressed = u32::from_le_bytes([c0, c1, c2, 0]) as usize;
        let content = u32::from_le_bytes([u0, u1, u2, 0]) as usize;
        Ok(Self { method, compressed, content })
    }

    /// Returns the bytes of the header, or `None` if a size does not fit into 3 bytes.
    pub(super) fn to_bytes(self) -> Option<[u8; CHUNK_HEADER_SIZE]> {
        let ([t0, t1], version) = self.method.tag();
        let [c0, c1, c2] = size_bytes(self.compressed)?;
        let [u0, u1, u2] = size_bytes(self.content)?;
        Some([t0, t1, version, c0, c1, c2, u0, u1, u2])
    }
}

fn size_bytes(size: usize) -> Option<[u8; 3]> {
    if size > MAX_CHUNK_SIZE {
        return None;
    }
    let [b0, b1, b2, ..] = size.to_le_bytes();
    Some([b0, b1, b2])
}

/// Returns the error for a stream whose content has another size than its header says.
pub(super) fn wrong_size(method: &str, actual: u64, expected: usize) -> Error {
    Error::out_of_spec(format!(
        "{method} chunk holds {actual} bytes where its header says {expected}"
    ))
}
