//! Reads and writes zstd frames by libzstd.

use std::io::Cursor;

use ::zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode::ZSTD_error_checksum_wrong;
use ::zstd::zstd_safe::{
    self, CCtx, CParameter, CompressionLevel, DCtx, compress_bound, get_error_name,
};

use super::frame::wrong_size;
use crate::error::{Error, Result};

/// A decoder that can be used again.
pub(super) struct Decoder(DCtx<'static>);

impl Decoder {
    pub(super) fn new() -> Result<Self> {
        let context = DCtx::try_create().ok_or_else(no_memory)?;
        Ok(Self(context))
    }

    /// Decodes one or more frames.
    pub(super) fn decompress(&mut self, payload: &[u8], out: &mut [u8]) -> Result<()> {
        match self.0.decompress(out, payload) {
            Ok(size) if size == out.len() => Ok(()),
            Ok(size) => Err(wrong_size("zstd", size as u64, out.len())),
            // libzstd returns its errors as negative numbers.
            Err(code) if code.wrapping_neg() == ZSTD_error_checksum_wrong as usize => {
                Err(Error::checksum("zstd chunk does not match the checksum of its frame"))
            }
            Err(code) => Err(Error::out_of_spec(format!(
                "zstd chunk does not decompress into {} bytes: {}",
                out.len(),
                get_error_name(code)
            ))),
        }
    }
}

/// The size of the largest block of a zstd frame (RFC 8878, 3.1.1.2.4).
const MAX_BLOCK: usize = 128 << 10;
/// The smallest block size that libzstd accepts. Shorter planes share blocks.
const MIN_BLOCK: usize = 1 << 10;

/// An encoder that can be used again.
pub(super) struct Encoder {
    context: CCtx<'static>,
    /// The block size that is set, or 0 if libzstd chooses it.
    block: u32,
}

impl Encoder {
    /// Makes an encoder with a `level` of libzstd and more `parameters`.
    pub(super) fn new(level: CompressionLevel, parameters: &[CParameter]) -> Result<Self> {
        let (least, most) = (zstd_safe::min_c_level(), zstd_safe::max_c_level());
        if !(least..=most).contains(&level) {
            return Err(Error::invalid_argument(format!(
                "zstd level {level} is not one of {least} to {most}"
            )));
        }
        let mut context = CCtx::try_create().ok_or_else(no_memory)?;
        for parameter in [&[CParameter::CompressionLevel(level)], parameters].concat() {
            context.set_parameter(parameter).map_err(|code| {
                Error::invalid_argument(format!(
                    "zstd refuses a parameter: {}",
                    get_error_name(code)
                ))
            })?;
        }
        Ok(Self { context, block: 0 })
    }

    /// Adds checksums to the frames that come.
    pub(super) fn add_checksums(&mut self) -> Result<()> {
        let set = self.context.set_parameter(CParameter::ChecksumFlag(true));
        set.map(drop).map_err(|code| {
            Error::limit(format!("zstd refuses checksums: {}", get_error_name(code)))
        })
    }

    /// Appends the frame of `input` to `out`. A block ends at the end of each plane of `plane` bytes. 0 means
    /// that there are no planes.
    pub(super) fn compress(&mut self, input: &[u8], plane: usize, out: &mut Vec<u8>) -> Result<()> {
        let block = block_size(plane);
        if block != self.block {
            self.context.set_parameter(CParameter::MaxBlockSize(block)).map_err(|code| {
                Error::limit(format!("zstd refuses a block size: {}", get_error_name(code)))
            })?;
            self.block = block;
        }
        out.reserve(compress_bound(input.len()));
        let mut target = Cursor::new(out);
        let end = target.get_ref().len() as u64;
        target.set_position(end);
        self.context.compress2(&mut target, input).map_err(|code| {
            Error::limit(format!("zstd compression failed: {}", get_error_name(code)))
        })?;
        Ok(())
    }
}

#[cfg(test)]
impl Encoder {
    /// Returns the number of bytes that the library has allocated.
    pub(crate) fn allocated(&self) -> usize {
        self.context.sizeof()
    }
}

/// Returns the largest block size with which a block ends at the end of every plane, or 0 if libzstd chooses it.
fn block_size(plane: usize) -> u32 {
    if plane < MIN_BLOCK {
        return 0;
    }
    u32::try_from(plane.div_ceil(plane.div_ceil(MAX_BLOCK))).unwrap_or(0)
}

fn no_memory() -> Error {
    Error::limit("cannot allocate a zstd context")
}
