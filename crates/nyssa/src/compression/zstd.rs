//! zstd frames, by libzstd.

use std::io::Cursor;

use ::zstd::zstd_safe::{
    self, CCtx, CParameter, CompressionLevel, DCtx, compress_bound, get_error_name,
};

use super::decompress::wrong_size;
use crate::error::{Error, Result};

/// A reusable decoder.
pub(super) struct Decoder(DCtx<'static>);

impl Decoder {
    pub fn new() -> Result<Self> {
        let context = DCtx::try_create().ok_or_else(no_memory)?;
        Ok(Self(context))
    }

    /// Decodes one or more frames.
    pub fn decompress(&mut self, payload: &[u8], out: &mut [u8]) -> Result<()> {
        match self.0.decompress(out, payload) {
            Ok(size) if size == out.len() => Ok(()),
            Ok(size) => Err(wrong_size("zstd", size as u64, out.len())),
            Err(code) => Err(Error::out_of_spec(format!(
                "zstd chunk does not decompress into {} bytes: {}",
                out.len(),
                get_error_name(code)
            ))),
        }
    }
}

/// A reusable encoder.
pub(super) struct Encoder(CCtx<'static>);

impl Encoder {
    /// An encoder of libzstd's own `level`, refined by `parameters`.
    pub fn new(level: CompressionLevel, parameters: &[CParameter]) -> Result<Self> {
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
        Ok(Self(context))
    }

    /// Appends the frame of `input` to `out`.
    pub fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.reserve(compress_bound(input.len()));
        let mut target = Cursor::new(out);
        let end = target.get_ref().len() as u64;
        target.set_position(end);
        self.0.compress2(&mut target, input).map_err(|code| {
            Error::limit(format!("zstd compression failed: {}", get_error_name(code)))
        })?;
        Ok(())
    }
}

fn no_memory() -> Error {
    Error::limit("cannot allocate a zstd context")
}
