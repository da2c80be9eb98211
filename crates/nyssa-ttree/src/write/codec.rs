//! Chooses the codec of the baskets of a branch by a sample of a basket (docs/decisions/0004 and 0010).

use std::sync::Arc;

use nyssa_root::compression::{Codec, Compression, Compressor};
use nyssa_root::effort::{Chooser, Effort, SampleSize, SplitForm};
use nyssa_root::error::Result;

use super::basket::Basket;
use crate::heuristics::write;

/// A sample starts at a multiple of this number of bytes, the size of the largest number.
const ALIGNMENT: usize = 8;

/// The form of the values of a basket: they are not byte planes.
const FORM: [SplitForm; 1] = [SplitForm { name: "", split: false }];

/// The codec of the baskets of one branch.
#[derive(Clone, Debug)]
pub(crate) struct BranchCodec {
    /// The codec of the level.
    level: Arc<Codec>,
    /// The chooser, or `None` if all baskets have the codec of the level.
    chooser: Option<Arc<Chooser>>,
    chosen: Option<ChosenCodec>,
}

/// The codec that a sample chose for the baskets of a branch.
#[derive(Clone, Debug)]
struct ChosenCodec {
    codec: Arc<Codec>,
    /// The entry after the basket that was sampled.
    end: u64,
}

/// The codecs of one basket.
#[derive(Clone, Debug)]
pub(crate) struct BasketCodecs {
    /// The codec of the entries.
    pub entries: Arc<Codec>,
    /// The codec of the offsets, if they are compressed separately. They differ from the entries, so they should not
    /// share a table of frequencies.
    pub offsets: Option<Arc<Codec>>,
}

impl BranchCodec {
    /// Returns the codec for options.
    pub(crate) fn new(compression: Compression, effort: Effort) -> Self {
        let chooser = Chooser::for_baskets(compression, effort).map(Arc::new);
        let root = chooser.as_ref().map(|chooser| Arc::clone(chooser.root_codec()));
        let level = root.unwrap_or_else(|| Arc::new(Codec::from(compression)));
        Self { level, chooser, chosen: None }
    }

    /// Returns whether a basket must be sampled.
    pub(crate) fn wants(&self, basket: &Basket) -> bool {
        self.chooser.is_some() && self.chosen.is_none() && basket.data.len() >= write::MIN_BYTES
    }

    /// Chooses the codec by a sample of a basket, which lacks its offsets.
    ///
    /// # Errors
    /// `LimitExceeded` if a library cannot allocate its state.
    pub(crate) fn choose(&mut self, basket: &Basket) -> Result<()> {
        let Some(chooser) = &self.chooser else { return Ok(()) };
        let sample = sample(&basket.data);
        let mut out = Vec::new();
        let best = chooser.choose(&FORM, |_, candidate| {
            out.clear();
            Compressor::with_codec(&candidate.codec)?
                .with_checksums()?
                .compress(sample, &mut out)?;
            Ok(SampleSize { uncompressed: sample.len() as f64, compressed: out.len() as u64 })
        })?;
        self.chosen =
            Some(ChosenCodec { codec: Arc::clone(&best.candidate.codec), end: basket.end() });
        Ok(())
    }

    /// Forgets the choice. The next basket is sampled.
    pub(crate) fn forget(&mut self) {
        self.chosen = None;
    }

    /// Forgets a choice by a basket with entries from `end` on.
    pub(crate) fn forget_behind(&mut self, end: u64) {
        self.chosen.take_if(|chosen| chosen.end > end);
    }

    /// Returns the codecs of a basket, which lacks its offsets.
    pub(crate) fn of(&self, basket: &Basket) -> BasketCodecs {
        let offsets = basket.ends.as_ref().map_or(0, |ends| ends.len() * size_of::<u32>());
        match (&self.chooser, &self.chosen) {
            (Some(chooser), Some(chosen)) if basket.data.len() >= write::MIN_BYTES => {
                BasketCodecs {
                    entries: Arc::clone(&chosen.codec),
                    offsets: (offsets >= write::MIN_OFFSETS)
                        .then(|| Arc::clone(chooser.first_codec())),
                }
            }
            _ => BasketCodecs { entries: Arc::clone(&self.level), offsets: None },
        }
    }
}

/// Returns bytes from the middle of a basket.
fn sample(data: &[u8]) -> &[u8] {
    let taken = (data.len() / 2).min(write::MAX_SAMPLE);
    let start = (data.len() - taken) / 2 / ALIGNMENT * ALIGNMENT;
    &data[start..start + taken]
}
