//! Decompresses a block to its content.

use std::cell::RefCell;

use nyssa_observe::{Stage, stage};

use super::frame::{CHUNK_HEADER_SIZE, ChunkHeader, MAX_CHUNK_SIZE, Method};
use super::{lz4, lzma, zlib, zstd};
use crate::error::{Error, Result};

/// The largest factor by which metadata of more than one chunk may grow. In 765 trees and anchors of real files the
/// factor is at most 66; zlib can reach 1032 with zeros.
const MAX_METADATA_RATIO: usize = 512;

thread_local! {
    /// The decoders of a thread. Their states are large and costly to make.
    static DECODERS: RefCell<Decoders> = RefCell::default();
}

#[derive(Default)]
struct Decoders {
    zlib: Option<zlib::Decoder>,
    zstd: Option<zstd::Decoder>,
}

/// Decompresses the block `input` into `out`, which has exactly the size of the content.
///
/// A block that is as long as its content is not compressed, and is copied.
///
/// # Errors
/// `OutOfSpecification` if the framing, a size or a stream is wrong; `Checksum` if the checksum of a chunk
/// does not match; `LimitExceeded` if an xz stream needs too much memory. `out` must not be used after an
/// error.
pub fn decompress(input: &[u8], out: &mut [u8]) -> Result<()> {
    if input.len() == out.len() {
        out.copy_from_slice(input);
        return Ok(());
    }
    let _stage = unzipping(input, out.len());
    DECODERS.with_borrow_mut(|decoders| chunks(input, out, decoders))
}

/// Decompresses the block `input`, whose content has `size` bytes. Error messages call it `what`. Memory is
/// allocated chunk by chunk, so that a wrong size in a damaged file takes no more memory than the chunks need.
///
/// # Errors
/// `OutOfSpecification` or `Checksum` if the block is damaged; `LimitExceeded` if there is not enough memory.
pub fn decompress_to_vec(input: &[u8], size: usize, what: &str) -> Result<Vec<u8>> {
    check_content_size(input, size)?;
    if input.len() == size {
        return Ok(input.to_vec());
    }
    let _stage = unzipping(input, size);
    let mut out = Vec::new();
    DECODERS.with_borrow_mut(|decoders| {
        walk(input, size, |header, payload| {
            let start = out.len();
            if out.capacity() - start < header.content {
                // Memory grows with the existing chunks, and never beyond the need of all chunks.
                let more = header.content.max(start).min(size.saturating_sub(start));
                out.try_reserve_exact(more.max(header.content)).map_err(|_| {
                    Error::limit(format!("cannot allocate {more} bytes for {what}"))
                })?;
            }
            out.resize(start + header.content, 0);
            payload_into(header.method, payload, &mut out[start..], decoders)
        })
    })?;
    Ok(out)
}

/// Decompresses metadata: an envelope, a streamer info record, an anchor or a tree. A block that would grow out of all
/// proportion is refused before it is decompressed, so that a small file of zeros cannot take gigabytes.
///
/// # Errors
/// `LimitExceeded` for a block that would grow out of all proportion or if there is not enough memory;
/// `OutOfSpecification` or `Checksum` if the block is damaged.
pub fn decompress_metadata(input: &[u8], size: usize, what: &str) -> Result<Vec<u8>> {
    let most = input.len().saturating_mul(MAX_METADATA_RATIO).max(MAX_CHUNK_SIZE);
    if size > most {
        return Err(Error::limit(format!(
            "{what} of {} bytes claims to have {size} bytes when it is decompressed: no metadata shrinks that much",
            input.len()
        )));
    }
    decompress_to_vec(input, size, what)
}

fn unzipping(input: &[u8], size: usize) -> Stage {
    stage!("unzip", bytes_in = input.len() as u64, bytes_out = size as u64)
}

fn chunks(input: &[u8], mut out: &mut [u8], decoders: &mut Decoders) -> Result<()> {
    walk(input, out.len(), |header, payload| {
        // `walk` has checked that the buffer is long enough.
        let (chunk, rest) = std::mem::take(&mut out).split_at_mut(header.content);
        out = rest;
        payload_into(header.method, payload, chunk, decoders)
    })
}

/// Checks that the chunk headers of the block `input` give exactly `size` bytes of content, before memory is
/// allocated.
///
/// # Errors
/// `OutOfSpecification` if the framing is wrong or the sizes do not add up to `size`.
pub fn check_content_size(input: &[u8], size: usize) -> Result<()> {
    if input.len() == size { Ok(()) } else { walk(input, size, |_, _| Ok(())) }
}

/// Visits the chunks of a block whose contents must add up to `size`.
pub(super) fn walk(
    input: &[u8],
    size: usize,
    mut visit: impl FnMut(ChunkHeader, &[u8]) -> Result<()>,
) -> Result<()> {
    let (mut rest, mut done) = (input, 0);
    while done < size {
        let position = input.len() - rest.len();
        if rest.is_empty() {
            return Err(Error::out_of_spec(format!(
                "compressed block of {} bytes holds {done} bytes where {size} are expected",
                input.len()
            )));
        }
        let Some((header, payload)) = rest.split_first_chunk::<CHUNK_HEADER_SIZE>() else {
            return Err(Error::out_of_spec(format!(
                "compressed block of {} bytes ends inside the chunk header at byte {position}",
                input.len()
            )));
        };
        let header = ChunkHeader::parse(*header, position)?;
        let Some((payload, after)) = payload.split_at_checked(header.compressed) else {
            return Err(Error::out_of_spec(format!(
                "compressed chunk at byte {position} of its block claims {} bytes where {} are left",
                header.compressed,
                payload.len()
            )));
        };
        if header.content > size - done {
            return Err(Error::out_of_spec(format!(
                "compressed chunk at byte {position} of its block claims a content of {} bytes where \
                 {} are expected",
                header.content,
                size - done
            )));
        }
        visit(header, payload)?;
        rest = after;
        done += header.content;
    }
    if !rest.is_empty() {
        return Err(Error::out_of_spec(format!(
            "compressed block has {} bytes after its content of {size} bytes is complete",
            rest.len()
        )));
    }
    Ok(())
}

fn payload_into(
    method: Method,
    payload: &[u8],
    out: &mut [u8],
    decoders: &mut Decoders,
) -> Result<()> {
    match method {
        Method::Zlib => decoders.zlib.get_or_insert_default().zlib(payload, out),
        Method::OldDeflate => decoders.zlib.get_or_insert_default().deflate(payload, out),
        Method::Lzma => lzma::decompress(payload, out),
        Method::Lz4 => lz4::decompress(payload, out),
        Method::Zstd => match &mut decoders.zstd {
            Some(decoder) => decoder.decompress(payload, out),
            none => none.insert(zstd::Decoder::new()?).decompress(payload, out),
        },
    }
}
