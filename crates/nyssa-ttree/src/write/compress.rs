//! Makes the stored bytes of a basket (`TBasket::Streamer`, `TBasket::WriteBuffer`).
//!
//! ```text
//! | TKey | version, buffer size, size of an entry or number of offsets, entries, last, flag | data | offsets |
//!        |<-------------------------- header, in keylen --------------------------------->|<- compressed ->|
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nyssa_root::arrow::Native;
use nyssa_root::compression::{Codec, Compression, Compressor};
use nyssa_root::error::{Error, Result};

use super::basket::Basket;
use super::codec::BasketCodecs;
use crate::heuristics::write;

/// The size of the header behind the key, in bytes.
pub(crate) const HEADER: usize = 19;
/// The class version of `TBasket`.
const VERSION: u16 = 3;
/// The largest payload in bytes. ROOT counts the bytes of a basket in 31 bits.
pub(crate) const MAX_PAYLOAD: usize = 1 << 30;

/// The number of offsets that are made at once.
const PIECE: usize = 1024;

/// A basket in its stored form.
#[derive(Debug)]
pub(crate) struct CompressedPayload {
    pub header: [u8; HEADER],
    /// The compressed bytes. `None` if the bytes of the basket are stored without change.
    pub compressed: Option<Vec<u8>>,
    pub objlen: usize,
}

impl CompressedPayload {
    /// Returns the number of stored bytes after the header.
    pub(crate) fn stored(&self) -> usize {
        self.compressed.as_ref().map_or(self.objlen, Vec::len)
    }
}

/// Compressors and memory for their output, which the next baskets use again.
#[derive(Default)]
pub(crate) struct Compressors {
    idle: Mutex<Vec<(Arc<Codec>, Compressor)>>,
    free: Mutex<Vec<Vec<u8>>>,
}

impl Compressors {
    fn take(&self, codec: &Arc<Codec>) -> Result<Compressor> {
        let mut idle = locked(&self.idle);
        match idle.iter().position(|(known, _)| known == codec) {
            Some(place) => Ok(idle.swap_remove(place).1),
            None => Compressor::with_codec(codec)?.with_checksums(),
        }
    }

    /// Runs `work` with a compressor, which is then used again.
    fn with<T>(
        &self,
        codec: &Arc<Codec>,
        work: impl FnOnce(&mut Compressor) -> Result<T>,
    ) -> Result<T> {
        let mut compressor = self.take(codec)?;
        let done = work(&mut compressor)?;
        let codec = Arc::clone(codec);
        locked(&self.idle).push((codec, compressor));
        Ok(done)
    }

    /// Compresses the entries of a basket and the offsets behind them, which start at `offsets`. Returns `None` if
    /// the result is not smaller.
    fn compress_data(
        &self,
        data: &[u8],
        offsets: usize,
        codecs: &BasketCodecs,
    ) -> Result<Option<Vec<u8>>> {
        let mut out = locked(&self.free).pop().unwrap_or_default();
        if let Some(codec) = &codecs.offsets {
            let (entries, offsets) = data.split_at(offsets);
            if self
                .with(&codecs.entries, |compressor| compressor.append_chunk(entries, 0, &mut out))?
                && self.with(codec, |compressor| compressor.append_chunk(offsets, 0, &mut out))?
            {
                return Ok(Some(out));
            }
            out.clear();
        }
        let smaller = self
            .with(&codecs.entries, |compressor| compressor.compress_if_smaller(data, &mut out))?;
        if smaller {
            return Ok(Some(out));
        }
        self.recycle(out);
        Ok(None)
    }

    /// Compresses the payload of a basket. Returns `None` if the result is not smaller.
    ///
    /// # Errors
    /// `LimitExceeded` if a library cannot allocate its state.
    pub(crate) fn compress_bytes(
        &self,
        data: &[u8],
        compression: Compression,
    ) -> Result<Option<Vec<u8>>> {
        let entries = Arc::new(Codec::from(compression));
        self.compress_data(data, data.len(), &BasketCodecs { entries, offsets: None })
    }

    /// Takes the memory of a stored basket for the next baskets, unless it is very large.
    pub(crate) fn recycle(&self, mut out: Vec<u8>) {
        if out.capacity() <= write::MAX_REUSED {
            out.clear();
            locked(&self.free).push(out);
        }
    }

    /// Compresses a basket of a branch whose keys have `keylen` bytes.
    ///
    /// # Errors
    /// `LimitExceeded` for baskets of more than 1 GiB.
    pub(crate) fn compress(
        &self,
        basket: &mut Basket,
        keylen: usize,
        codecs: &BasketCodecs,
    ) -> Result<CompressedPayload> {
        let end = basket.data.len();
        let last = keylen + end;
        let entry_size = basket.data.len() / basket.entries.max(1) as usize;
        if let Some(ends) = &basket.ends {
            // The offsets count from the start of the key. ROOT does not store the end of the last entry.
            let key = keylen as u32;
            let starts = ends.split_last().map_or(&[][..], |(_, starts)| starts);
            basket.data.reserve_exact((ends.len() + 2) * size_of::<u32>());
            u32::put_all_be(&[basket.entries + 1, key], &mut basket.data);
            let mut piece = [0; PIECE];
            for starts in starts.chunks(PIECE) {
                let numbers = &mut piece[..starts.len()];
                numbers.iter_mut().zip(starts).for_each(|(to, start)| *to = key + start);
                u32::put_all_be(numbers, &mut basket.data);
            }
            u32::put_all_be(&[0], &mut basket.data);
            if let Some(places) = &basket.streamed_at {
                u32::put_all_be(&[basket.entries + 1], &mut basket.data);
                u32::put_all_be(places, &mut basket.data);
                u32::put_all_be(&[0], &mut basket.data);
            }
        }
        let objlen = basket.data.len();
        if objlen > MAX_PAYLOAD {
            return Err(Error::limit(format!(
                "a basket of {objlen} bytes: an entry of a branch can have 1 GiB at most"
            )));
        }
        let offsets = basket.entries + 1;
        let numbers = [
            (keylen + objlen) as u32,
            if basket.ends.is_some() { offsets } else { entry_size as u32 },
            basket.entries,
            last as u32,
        ];
        let mut header = [0; HEADER];
        header[..2].copy_from_slice(&VERSION.to_be_bytes());
        for (bytes, number) in header[2..18].chunks_exact_mut(4).zip(numbers) {
            bytes.copy_from_slice(&number.to_be_bytes());
        }
        let compressed = self.compress_data(&basket.data, end, codecs)?;
        Ok(CompressedPayload { header, compressed, objlen })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
