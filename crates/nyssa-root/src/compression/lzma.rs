//! Reads and writes xz streams by liblzma.

use liblzma::stream::{
    Action, Check, Error as LzmaError, Filters, IGNORE_CHECK, LzmaOptions, Status, Stream,
};

use super::frame::wrong_size;
use crate::error::{Error, Kind, Result};

/// The largest memory of a decoder in bytes. The largest preset needs 65 MiB. A stream that needs more than this
/// limit is damaged or malicious, since a chunk has less than 16 MiB.
const DECODER_MEMORY: u64 = 128 << 20;

/// The number of bytes by which the output grows if the stream needs more.
const GROWTH: usize = 32 << 10;

/// Decodes one xz stream and verifies its checks.
pub(super) fn decompress(payload: &[u8], out: &mut [u8]) -> Result<()> {
    match decode(payload, out, 0) {
        // The content is decoded, but its checksum is wrong.
        Err(error)
            if error.kind() == Kind::OutOfSpecification
                && decode(payload, out, IGNORE_CHECK).is_ok() =>
        {
            Err(Error::checksum("lzma chunk does not match its check"))
        }
        result => result,
    }
}

fn decode(payload: &[u8], out: &mut [u8], flags: u32) -> Result<()> {
    let corrupt = |error: LzmaError| match error {
        LzmaError::MemLimit | LzmaError::Mem => Error::limit(format!(
            "lzma chunk needs more than {} MiB of memory to decompress",
            DECODER_MEMORY >> 20
        )),
        error => Error::out_of_spec("lzma chunk is corrupt").with_source(error),
    };
    let mut stream = Stream::new_stream_decoder(DECODER_MEMORY, flags).map_err(corrupt)?;
    let status = stream.process(payload, out, Action::Finish).map_err(corrupt)?;
    match status {
        Status::StreamEnd if stream.total_out() != out.len() as u64 => {
            Err(wrong_size("lzma", stream.total_out(), out.len()))
        }
        Status::StreamEnd if stream.total_in() != payload.len() as u64 => {
            Err(Error::out_of_spec(format!(
                "lzma chunk has {} bytes after its stream",
                payload.len() as u64 - stream.total_in()
            )))
        }
        Status::StreamEnd => Ok(()),
        _ if stream.total_out() == out.len() as u64 => Err(Error::out_of_spec(format!(
            "lzma chunk holds more than the {} bytes its header says",
            out.len()
        ))),
        _ => Err(Error::out_of_spec("lzma chunk is cut short")),
    }
}

/// Appends the xz stream of `input` to `out`, with CRC32 as check and a `preset` from 0 to 9.
pub(super) fn compress(preset: u32, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let failed = |error: LzmaError| Error::limit("lzma compression failed").with_source(error);
    let mut options = LzmaOptions::new_preset(preset).map_err(failed)?;
    options.dict_size(dictionary_size(preset, input.len()));
    let mut filters = Filters::new();
    filters.lzma2(&options);
    let mut stream = Stream::new_stream_encoder(&filters, Check::Crc32).map_err(failed)?;
    let mut rest = input;
    loop {
        out.reserve(GROWTH.min(input.len() + 128));
        let before = stream.total_in();
        let status = stream.process_vec(rest, out, Action::Finish).map_err(failed)?;
        if status == Status::StreamEnd {
            return Ok(());
        }
        let consumed = usize::try_from(stream.total_in() - before).unwrap_or(rest.len());
        rest = rest.get(consumed..).unwrap_or_default();
    }
}

/// Returns the size of the dictionary of the preset, but at most a quarter of the input. A larger dictionary takes
/// memory of the reader for little gain. ROOT chooses the same.
fn dictionary_size(preset: u32, input: usize) -> u32 {
    const SMALLEST: u32 = 4096;
    let of_preset: u32 = match preset {
        0 => 256 << 10,
        1 => 1 << 20,
        2 => 2 << 20,
        3 | 4 => 4 << 20,
        5 | 6 => 8 << 20,
        7 => 16 << 20,
        8 => 32 << 20,
        _ => 64 << 20,
    };
    let quarter = u32::try_from(input / 4).unwrap_or(u32::MAX);
    of_preset.min(quarter.max(SMALLEST))
}
