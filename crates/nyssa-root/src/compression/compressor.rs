//! Compresses content to a block.

use super::frame::{CHUNK_HEADER_SIZE, ChunkHeader, MAX_CHUNK_SIZE, Method};
use super::{Codec, Compression, lz4, lzma, zlib, zstd};
use crate::error::{Error, Result};

/// The largest buffer that a compressor keeps, in bytes. Only a block of several chunks needs more.
const MAX_BUFFER: usize = 2 * MAX_CHUNK_SIZE;

/// A compressor of blocks with one codec. It keeps the state of the library for the next block. Each thread
/// needs its own.
pub struct Compressor {
    setting: u32,
    encoder: Encoder,
    /// A buffer that is large enough for any compressed chunk. The chunk is copied from it.
    output: Vec<u8>,
}

enum Encoder {
    Store,
    Zlib(zlib::Encoder),
    Lzma(u32),
    Lz4(Option<i32>),
    Zstd(zstd::Encoder),
}

impl Compressor {
    /// Makes a compressor with the codec that ROOT uses for this setting.
    ///
    /// # Errors
    /// `LimitExceeded` if the library cannot allocate its state.
    pub fn new(compression: Compression) -> Result<Self> {
        Self::with_codec(&Codec::from(compression))
    }

    /// Makes a compressor with this codec.
    ///
    /// # Errors
    /// `InvalidArgument` for levels or parameters that the library refuses; `LimitExceeded` if it cannot
    /// allocate its state.
    pub fn with_codec(codec: &Codec) -> Result<Self> {
        let encoder = match codec {
            Codec::Store => Encoder::Store,
            Codec::Zlib { level } => Encoder::Zlib(zlib::Encoder::new(*level)?),
            Codec::Lzma { preset } if *preset > 9 => {
                return Err(Error::invalid_argument(format!(
                    "lzma preset {preset} is not one of 0 to 9"
                )));
            }
            Codec::Lzma { preset } => Encoder::Lzma(*preset),
            Codec::Lz4 { high_compression: Some(level) } if !(1..=12).contains(level) => {
                return Err(Error::invalid_argument(format!(
                    "lz4 level {level} is not one of 1 to 12"
                )));
            }
            Codec::Lz4 { high_compression } => Encoder::Lz4(*high_compression),
            Codec::Zstd { level, parameters } => {
                Encoder::Zstd(zstd::Encoder::new(*level, parameters)?)
            }
        };
        Ok(Self { setting: codec.setting(), encoder, output: Vec::new() })
    }

    /// Adds a checksum of their content to frames of zstd, which every decoder checks. It has 4 bytes. The other
    /// algorithms always add a checksum. The pages and envelopes of RNTuples have their own checksums.
    ///
    /// # Errors
    /// `LimitExceeded` if the library refuses.
    pub fn with_checksums(mut self) -> Result<Self> {
        if let Encoder::Zstd(encoder) = &mut self.encoder {
            encoder.add_checksums()?;
        }
        Ok(self)
    }

    /// Returns the nearest setting of ROOT, which is stored with the data.
    pub fn setting(&self) -> u32 {
        self.setting
    }

    /// Appends the block of `input` to `out`. The block has framed chunks, or is `input` itself if the chunks
    /// are not smaller.
    ///
    /// # Errors
    /// `LimitExceeded` if the library fails (out of memory). `out` does not change then.
    pub fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.compress_planes(input, 0, out)
    }

    /// Appends the block of `input`, which consists of planes of `plane` bytes each (split encodings), to `out`. A
    /// block of zstd ends at the end of each plane, so that each plane has its own entropy tables. This makes NanoAOD
    /// about 2 % smaller without cost. 0 means that there are no planes.
    ///
    /// # Errors
    /// `LimitExceeded` if the library fails (out of memory). `out` does not change then.
    pub fn compress_planes(&mut self, input: &[u8], plane: usize, out: &mut Vec<u8>) -> Result<()> {
        if !self.planes_if_smaller(input, plane, out)? {
            out.extend_from_slice(input);
        }
        Ok(())
    }

    /// Appends the block of `input` to `out` if the block is smaller. Returns whether it is smaller. If not, the
    /// caller stores `input` itself, and `out` does not change.
    ///
    /// # Errors
    /// `LimitExceeded` if the library fails (out of memory).
    pub fn compress_if_smaller(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        self.planes_if_smaller(input, 0, out)
    }

    /// Appends the chunk of `input`, which has planes of `plane` bytes each, behind earlier chunks. A reader takes
    /// several chunks together as one block. Returns `false` if the chunk would not be smaller than its content, as
    /// ROOT demands it, or if the content is too large for one chunk.
    ///
    /// # Errors
    /// `LimitExceeded` if the library fails (out of memory).
    pub fn append_chunk(&mut self, input: &[u8], plane: usize, out: &mut Vec<u8>) -> Result<bool> {
        if input.len() > MAX_CHUNK_SIZE {
            return Ok(false);
        }
        self.planes_if_smaller(input, plane, out)
    }

    fn planes_if_smaller(&mut self, input: &[u8], plane: usize, out: &mut Vec<u8>) -> Result<bool> {
        let mut framed = std::mem::take(&mut self.output);
        framed.clear();
        let whole = self.chunks(input, plane, &mut framed);
        let smaller = whole.map(|whole| whole && framed.len() < input.len());
        if let Ok(true) = smaller {
            match out.is_empty() && framed.len() > MAX_CHUNK_SIZE {
                // A large block is in memory only once.
                true => std::mem::swap(out, &mut framed),
                false => out.extend_from_slice(&framed),
            }
        }
        if framed.capacity() <= MAX_BUFFER {
            self.output = framed;
        }
        smaller
    }

    /// Appends the chunks. Returns `false` as soon as it is clear that they are not smaller than the input.
    fn chunks(&mut self, input: &[u8], plane: usize, out: &mut Vec<u8>) -> Result<bool> {
        if input.len() <= CHUNK_HEADER_SIZE || matches!(self.encoder, Encoder::Store) {
            return Ok(false);
        }
        let before = out.len();
        let mut stage = nyssa_observe::stage!("zip", bytes_in = input.len() as u64);
        for chunk in input.chunks(MAX_CHUNK_SIZE) {
            let header = out.len();
            out.extend_from_slice(&[0; CHUNK_HEADER_SIZE]);
            let payload = out.len();
            let method = match &mut self.encoder {
                Encoder::Store => return Ok(false),
                Encoder::Zlib(encoder) => encoder.compress(chunk, out).map(|()| Method::Zlib)?,
                Encoder::Lzma(preset) => {
                    lzma::compress(*preset, chunk, out).map(|()| Method::Lzma)?
                }
                Encoder::Lz4(high) => lz4::compress(*high, chunk, out).map(|()| Method::Lz4)?,
                Encoder::Zstd(encoder) => {
                    encoder.compress(chunk, plane, out).map(|()| Method::Zstd)?
                }
            };
            let compressed = out.len() - payload;
            let bytes = ChunkHeader { method, compressed, content: chunk.len() }.to_bytes();
            let Some(bytes) = bytes else { return Ok(false) };
            out[header..payload].copy_from_slice(&bytes);
        }
        stage.set_bytes_out(|| (out.len() - before) as u64);
        Ok(true)
    }
}

#[cfg(test)]
impl Compressor {
    /// Returns the number of bytes that zstd has allocated.
    pub(crate) fn allocated(&self) -> usize {
        match &self.encoder {
            Encoder::Zstd(encoder) => encoder.allocated(),
            _ => 0,
        }
    }
}
