//! Stores the buffers and compressors that a thread reuses.

use std::sync::Arc;

use crate::heuristics::seal;
use nyssa_root::compression::{Codec, Compressor};
use nyssa_root::error::Result;

/// The compressors of a thread, each with its codec.
type Compressors = Vec<(Arc<Codec>, Compressor)>;

/// The buffers and compressors that one thread reuses.
#[derive(Default)]
pub struct Scratch {
    compressors: Compressors,
    /// The elements that are rearranged before encoding.
    pub(crate) native: Vec<u8>,
    /// The encoded page.
    pub(crate) encoded: Vec<u8>,
}

impl Scratch {
    /// Makes empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the compressor of a codec. It is made at the first use. The oldest compressor is dropped when there
    /// are too many.
    pub(crate) fn compressor<'a>(
        compressors: &'a mut Compressors,
        codec: &Arc<Codec>,
    ) -> Result<&'a mut Compressor> {
        // The `Arc` stays alive with its compressor, so no other codec can get its address.
        let index = match compressors.iter().position(|(known, _)| Arc::ptr_eq(known, codec)) {
            Some(index) => index,
            None => {
                if compressors.len() == seal::MAX_COMPRESSORS {
                    compressors.remove(0);
                }
                compressors.push((Arc::clone(codec), Compressor::with_codec(codec)?));
                compressors.len() - 1
            }
        };
        Ok(&mut compressors[index].1)
    }

    /// Returns the number of bytes of `input`, which has planes of `plane` bytes each, after compression.
    ///
    /// # Errors
    /// Returns an error if compression fails.
    pub(crate) fn compressed(
        &mut self,
        codec: &Arc<Codec>,
        input: &[u8],
        plane: usize,
    ) -> Result<usize> {
        self.native.clear();
        let compressor = Self::compressor(&mut self.compressors, codec)?;
        compressor.compress_planes(input, plane, &mut self.native)?;
        Ok(self.native.len())
    }

    /// Borrows the compressors and the two buffers.
    pub(crate) fn all(&mut self) -> (&mut Compressors, &mut Vec<u8>, &mut Vec<u8>) {
        (&mut self.compressors, &mut self.native, &mut self.encoded)
    }

    /// Borrows the parts that sealing one page needs.
    pub(crate) fn parts(
        &mut self,
        codec: &Arc<Codec>,
    ) -> Result<(&mut Compressor, &mut Vec<u8>, &mut Vec<u8>)> {
        let Self { compressors, native, encoded } = self;
        Ok((Self::compressor(compressors, codec)?, native, encoded))
    }
}
