//! Reads and writes zlib streams, and reads ROOT's old raw deflate streams, by libdeflate.

use libdeflater::{CompressionLvl, DecompressionError, adler32};

use super::frame::wrong_size;
use crate::error::{Error, Result};

/// The size of the header of a zlib stream.
const ZLIB_HEADER: usize = 2;

/// A decoder that can be used again.
pub(super) struct Decoder(libdeflater::Decompressor);

impl Default for Decoder {
    fn default() -> Self {
        Self(libdeflater::Decompressor::new())
    }
}

impl Decoder {
    /// Decodes a zlib stream (RFC 1950) and checks its Adler-32.
    pub(super) fn zlib(&mut self, payload: &[u8], out: &mut [u8]) -> Result<()> {
        let result = self.0.zlib_decompress(payload, out);
        if result == Err(DecompressionError::BadData) {
            self.check_adler_32(payload, out)?;
        }
        exact("zlib", result, out.len())
    }

    /// Returns an error if a zlib stream that libdeflate refuses can be decoded, and only its Adler-32 is wrong.
    fn check_adler_32(&mut self, payload: &[u8], out: &mut [u8]) -> Result<()> {
        let stream = payload.get(ZLIB_HEADER..).and_then(|rest| rest.split_last_chunk());
        let Some((deflated, stored)) = stream else { return Ok(()) };
        if self.0.deflate_decompress(deflated, out) != Ok(out.len()) {
            return Ok(());
        }
        let (stored, actual) = (u32::from_be_bytes(*stored), adler32(out));
        if stored == actual {
            return Ok(());
        }
        Err(Error::checksum(format!(
            "zlib chunk has Adler-32 {actual:08x} where {stored:08x} is stored"
        )))
    }

    /// Decodes a raw deflate stream (RFC 1951).
    pub(super) fn deflate(&mut self, payload: &[u8], out: &mut [u8]) -> Result<()> {
        exact("deflate", self.0.deflate_decompress(payload, out), out.len())
    }
}

fn exact(
    method: &str,
    result: std::result::Result<usize, DecompressionError>,
    expected: usize,
) -> Result<()> {
    match result {
        Ok(size) if size == expected => Ok(()),
        Ok(size) => Err(wrong_size(method, size as u64, expected)),
        Err(DecompressionError::InsufficientSpace) => Err(Error::out_of_spec(format!(
            "{method} chunk holds more than the {expected} bytes its header says"
        ))),
        Err(DecompressionError::BadData) => {
            Err(Error::out_of_spec(format!("{method} chunk is corrupt")))
        }
    }
}

/// An encoder of zlib streams that can be used again.
pub(super) struct Encoder(libdeflater::Compressor);

impl Encoder {
    /// Makes an encoder with a `level` of libdeflate from 0 to 12.
    pub(super) fn new(level: i32) -> Result<Self> {
        let level = CompressionLvl::new(level).map_err(|_| {
            Error::invalid_argument(format!("zlib level {level} is not one of 0 to 12"))
        })?;
        Ok(Self(libdeflater::Compressor::new(level)))
    }

    /// Appends the stream of `input` to `out`.
    pub(super) fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        out.resize(start + self.0.zlib_compress_bound(input.len()), 0);
        let size = self
            .0
            .zlib_compress(input, &mut out[start..])
            .map_err(|error| Error::limit("zlib compression failed").with_source(error))?;
        out.truncate(start + size);
        Ok(())
    }
}
