//! Compresses and decompresses blocks in ROOT's chunks (specification, "Compression Block").
//!
//! A block is either stored (as many bytes as its content) or a sequence of chunks:
//!
//! ```text
//! | tag 2 | version 1 | compressed size 3 LE | content size 3 LE | payload |  ...next chunk
//! ```
//!
//! | tag | payload |
//! |---|---|
//! | `ZL` | zlib stream |
//! | `CS` | raw deflate stream (ROOT before 2002, read only) |
//! | `XZ` | xz stream |
//! | `L4` | XXH64 of the rest, 8 bytes big-endian; LZ4 block |
//! | `ZS` | zstd frame |
//!
//! Each algorithm has one file. [`decompress`] and [`Compressor`] read and write the chunks.

mod checksum;
mod codec;
mod compressor;
mod decompress;
mod frame;
mod lz4;
mod lzma;
mod setting;
mod zlib;
mod zstd;

#[cfg(test)]
mod tests;

pub use checksum::has_checksum;
pub use codec::{Codec, ZstdParameter};
pub use compressor::Compressor;
pub use decompress::{check_content_size, decompress, decompress_metadata, decompress_to_vec};
pub use frame::{CHUNK_HEADER_SIZE, MAX_CHUNK_SIZE};
pub use setting::{Algorithm, Compression};
