//! Where compression effort pays.
//!
//! Most columns of physics data are noise in which only entropy coding gains, next to a few with
//! structure. A sample tells which a column is: the cheap codec is the rule, the strong one is spent
//! where the bytes that it saves are worth its time. Times are nominal, so the choice depends on the
//! data alone and the output is the same on every machine (docs/decisions/0004).

use std::str::FromStr;
use std::sync::Arc;

use super::Scratch;
use super::column_data::ColumnData;
use super::seal::ColumnPlan;
use crate::compression::{Algorithm, Codec, Compression, ZstdParameter};
use crate::error::{Error, Result};

use zstd::zstd_safe::Strategy;

/// How much CPU time goes into compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Chooses codec effort per column from a sample: the full level only where it pays.
    #[default]
    Auto,
    /// The exact compression level for every column.
    Full,
}

impl FromStr for Effort {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "full" => Ok(Self::Full),
            _ => Err(Error::invalid_argument(format!(
                "effort {text:?} is not known: use auto or full"
            ))),
        }
    }
}

/// Bytes saved per second of CPU time from which effort pays.
const WORTH: f64 = 3.0e6;
/// ROOT's highest level at which the strong codec saves more than the level itself would.
const STRONG_LEVEL: u8 = 6;
/// A sample is one part in so many of a column's first page, from its middle,
const SAMPLE_SHARE: usize = 4;
/// and of at most so many elements.
const SAMPLE_ELEMENTS: usize = 8 << 10;

/// Nominal seconds per byte before compression, on one core.
pub(crate) struct Cost {
    pub(crate) split: f64,
    pub(crate) plain: f64,
}

pub(crate) const CHEAP_COST: Cost = Cost { split: 1.25e-9, plain: 2.6e-9 };
pub(crate) const STRONG_COST: Cost = Cost { split: 3.1e-9, plain: 6.2e-9 };

/// The codecs to choose from.
#[derive(Clone)]
pub(crate) struct Codecs {
    pub(crate) cheap: Arc<Codec>,
    pub(crate) strong: Arc<Codec>,
}

impl Codecs {
    /// Those of a compression setting. Only zstd knows effort: the other algorithms keep the level
    /// that was asked for.
    pub(crate) fn of(compression: Compression) -> Option<Self> {
        let zstd = compression.algorithm == Algorithm::Zstd && compression.level > 0;
        zstd.then(|| Self { cheap: Arc::new(cheap()), strong: Arc::new(strong(compression)) })
    }

    /// The codec for a column that begins with the page of `elements` elements of `data`.
    ///
    /// # Errors
    /// As sealing the page.
    pub(super) fn choose(
        &self,
        plan: &ColumnPlan<'_>,
        data: &ColumnData,
        elements: usize,
        scratch: &mut Scratch,
    ) -> Result<&Arc<Codec>> {
        let count = (elements / SAMPLE_SHARE).min(SAMPLE_ELEMENTS);
        let start = (elements - count) / 2;
        let cost = |cost: &Cost| if plan.is_split() { cost.split } else { cost.plain };
        let (cheap, strong) = (cost(&CHEAP_COST), cost(&STRONG_COST));
        let page = plan.seal_with(&self.cheap, data, start..start + count, scratch)?;
        let (raw, now) = (page.uncompressed as f64, (page.bytes.len() as f64, cheap));
        if count == 0 || !pays(raw, now, (0.0, strong)) {
            return Ok(&self.cheap);
        }
        let page = plan.seal_with(&self.strong, data, start..start + count, scratch)?;
        let other = (page.bytes.len() as f64, strong);
        Ok(if pays(raw, now, other) { &self.strong } else { &self.cheap })
    }
}

/// Are the bytes saved by `other` worth its time? Each is (bytes, seconds per byte of `raw`).
pub(crate) fn pays(raw: f64, now: (f64, f64), other: (f64, f64)) -> bool {
    now.0 - other.0 > WORTH * raw * (other.1 - now.1)
}

/// Two hash tables and long matches only: on planes of noise, short matches cost more than the
/// literals they replace. As fast as level 1 and smaller.
pub(super) fn cheap() -> Codec {
    Codec::Zstd {
        level: 1,
        parameters: vec![
            ZstdParameter::Strategy(Strategy::ZSTD_dfast),
            ZstdParameter::HashLog(16),
            ZstdParameter::ChainLog(16),
            ZstdParameter::MinMatch(7),
        ],
    }
}

/// The best of some candidates at each place, again without short matches; from ROOT's level 7 on, the
/// level itself is stronger.
fn strong(compression: Compression) -> Codec {
    if compression.level > STRONG_LEVEL {
        return Codec::from(compression);
    }
    Codec::Zstd {
        level: 1,
        parameters: vec![
            ZstdParameter::Strategy(Strategy::ZSTD_greedy),
            ZstdParameter::HashLog(17),
            ZstdParameter::ChainLog(17),
            ZstdParameter::SearchLog(4),
            ZstdParameter::MinMatch(6),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_pays_by_bytes_per_second() {
        // 1000 bytes at 1 µs per byte more are 1 ms, worth 3000 bytes.
        assert!(pays(1000.0, (9000.0, 0.0), (5999.0, 1e-6)));
        assert!(!pays(1000.0, (9000.0, 0.0), (6001.0, 1e-6)));
    }

    #[test]
    fn high_levels_are_themselves_the_strong_codec() {
        let level = |level| strong(Compression { algorithm: Algorithm::Zstd, level });
        assert!(matches!(level(9), Codec::Zstd { level: 18, .. }));
        assert!(matches!(level(5), Codec::Zstd { level: 1, .. }));
    }
}
