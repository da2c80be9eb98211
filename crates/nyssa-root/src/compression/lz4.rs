//! Reads and writes LZ4 blocks by liblz4. An XXH64 of the compressed bytes comes before each block.

use ::lz4::block::{CompressionMode, compress_bound, compress_to_buffer, decompress_to_buffer};
use xxhash_rust::xxh64::xxh64;

use super::frame::wrong_size;
use crate::error::{Error, Result};

const CHECKSUM_SIZE: usize = 8;

/// Verifies the checksum and decodes the block.
pub(super) fn decompress(payload: &[u8], out: &mut [u8]) -> Result<()> {
    let Some((stored, block)) = payload.split_first_chunk::<CHECKSUM_SIZE>() else {
        return Err(Error::out_of_spec(format!(
            "lz4 chunk of {} bytes is too short for its checksum",
            payload.len()
        )));
    };
    let (stored, actual) = (u64::from_be_bytes(*stored), xxh64(block, 0));
    if stored != actual {
        return Err(Error::checksum(format!(
            "lz4 chunk has XXH64 {actual:016x} where {stored:016x} is stored"
        )));
    }
    // A chunk has less than 2^24 bytes, as its header was checked.
    let size = i32::try_from(out.len()).unwrap_or(i32::MAX);
    let expected = out.len();
    match decompress_to_buffer(block, Some(size), out) {
        Ok(size) if size == expected => Ok(()),
        Ok(size) => Err(wrong_size("lz4", size as u64, expected)),
        Err(error) => Err(Error::out_of_spec(format!(
            "lz4 chunk is corrupt or holds more than the {expected} bytes its header says"
        ))
        .with_source(error)),
    }
}

/// Appends checksum and block of `input` to `out`. `high_compression` is a level of LZ4 HC, or `None` for the
/// fast compressor.
pub(super) fn compress(
    high_compression: Option<i32>,
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<()> {
    let failed = |error: std::io::Error| Error::limit("lz4 compression failed").with_source(error);
    let mode = match high_compression {
        Some(level) => CompressionMode::HIGHCOMPRESSION(level),
        None => CompressionMode::DEFAULT,
    };
    let start = out.len();
    let block = start + CHECKSUM_SIZE;
    out.resize(block + compress_bound(input.len()).map_err(failed)?, 0);
    let size = compress_to_buffer(input, Some(mode), false, &mut out[block..]).map_err(failed)?;
    out.truncate(block + size);
    let checksum = xxh64(&out[block..], 0).to_be_bytes();
    out[start..block].copy_from_slice(&checksum);
    Ok(())
}
