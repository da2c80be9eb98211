//! Where compression effort pays.
//!
//! Most columns of physics data are noise in which only entropy coding gains, next to a few with
//! structure. A sample tells which a column is: the cheap codec is the rule, the strong one is spent
//! where the bytes that it saves are worth its time. Times are nominal, so the choice depends on the
//! data alone and the output is the same on every machine (docs/decisions/0004).

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::ArrayRef;

use super::auto::form;
use super::chosen::{BY_PRICE, Chosen, Trial, level};
use super::column_data::ColumnData;
use super::seal::{ColumnPlan, choose_each};
use super::{Scratch, SealSettings};
use crate::compression::{Algorithm, Codec, Compression, ZstdParameter};
use crate::error::{Error, Result};
use crate::rntuple::schema::{ColumnId, FieldId, Schema};

use zstd::zstd_safe::{ParamSwitch, Strategy};

/// How much CPU time goes into compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Chooses codec effort per column from a sample: more only where it pays, and never more than that
    /// of the level.
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

/// A compression as it is asked for: an algorithm, with a level or without.
///
/// A level that is named is used exactly. Without one, effort is chosen for each column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionChoice {
    /// Algorithm and level; where no level is named, the default of the algorithm.
    pub compression: Compression,
    /// Whether the level is named.
    pub level_named: bool,
}

impl CompressionChoice {
    /// The effort, unless another one is asked for.
    pub fn effort(self, asked: Option<Effort>) -> Effort {
        asked.unwrap_or(if self.level_named { Effort::Full } else { Effort::Auto })
    }
}

impl Default for CompressionChoice {
    fn default() -> Self {
        Self { compression: Compression::DEFAULT, level_named: false }
    }
}

impl FromStr for CompressionChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let name = text.trim();
        let level_named = name.contains(':') || name.len() == 3;
        Ok(Self { compression: text.parse()?, level_named })
    }
}

impl fmt::Display for CompressionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.compression.to_string();
        f.write_str(if self.level_named { &text } else { text.split(':').next().unwrap_or(&text) })
    }
}

/// Bytes saved per second of CPU time from which effort pays.
const WORTH: f64 = 3.0e6;
/// ROOT's lowest level whose effort is not less than that of the strong codec.
const STRONG_FROM: u8 = 3;
/// ROOT's highest level at which the strong codec saves more than the level itself would.
const STRONG_LEVEL: u8 = 6;
/// A sample is one part in so many of a column's first page, from its middle,
const SAMPLE_SHARE: usize = 4;
/// and of at most so many elements.
const SAMPLE_ELEMENTS: usize = 8 << 10;

/// A codec and what it costs: nominal seconds per byte before compression, on one core.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) codec: Arc<Codec>,
    /// For reports.
    pub(crate) name: String,
    /// For elements stored as byte planes,
    split: f64,
    /// and for others.
    plain: f64,
}

impl Candidate {
    fn new(codec: Codec, name: &str, split: f64, plain: f64) -> Self {
        Self { codec: Arc::new(codec), name: name.to_owned(), split, plain }
    }

    /// What `stored` bytes of once `raw` ones cost with this codec, in bytes.
    pub(crate) fn price(&self, split: bool, raw: f64, stored: f64) -> f64 {
        stored + WORTH * raw * if split { self.split } else { self.plain }
    }
}

/// A codec for a column, and why.
pub(crate) struct ChosenCodec {
    pub(crate) codec: Arc<Codec>,
    pub(crate) chosen: Chosen,
}

/// The codecs to choose from.
#[derive(Clone)]
pub(crate) struct Codecs {
    /// For noise.
    pub(crate) entropy: Candidate,
    /// Where nothing is known.
    pub(crate) cheap: Candidate,
    /// None below [`STRONG_FROM`].
    pub(crate) strong: Option<Candidate>,
}

impl Codecs {
    /// Those of a compression setting. Only zstd knows effort: the other algorithms keep the level
    /// that was asked for.
    pub(crate) fn of(compression: Compression) -> Option<Self> {
        let zstd = compression.algorithm == Algorithm::Zstd && compression.level > 0;
        let name = match compression.level {
            high if high > STRONG_LEVEL => level(compression.setting()),
            _ => "strong".to_owned(),
        };
        let strong = || Candidate::new(strong(compression), &name, 3.1e-9, 6.2e-9);
        zstd.then(|| Self {
            entropy: Candidate::new(entropy(), "entropy", 0.75e-9, 0.9e-9),
            cheap: Candidate::new(cheap(), "fast", 1.25e-9, 2.6e-9),
            strong: (compression.level >= STRONG_FROM).then(strong),
        })
    }

    /// All of them.
    pub(super) fn into_codecs(self) -> Vec<Arc<Codec>> {
        let strong = self.strong.map(|strong| strong.codec);
        [self.entropy.codec, self.cheap.codec].into_iter().chain(strong).collect()
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
    ) -> Result<&Candidate> {
        let count = (elements / SAMPLE_SHARE).min(SAMPLE_ELEMENTS);
        let start = (elements - count) / 2;
        Ok(self.choose_by(plan, data, start..start + count, scratch)?.0)
    }

    /// The codec that is best for some elements, and what was tried.
    fn choose_by(
        &self,
        plan: &ColumnPlan<'_>,
        data: &ColumnData,
        sample: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<(&Candidate, Vec<Trial>)> {
        let form = form(plan.encoding().column_type);
        let mut tried = Vec::new();
        let raw = plan.encoding().packed_size(sample.len()) as f64;
        let mut best = (&self.cheap, f64::INFINITY);
        for candidate in [&self.cheap, &self.entropy].into_iter().chain(&self.strong) {
            let price = |stored| candidate.price(plan.is_split(), raw, stored);
            // What finds nothing with less effort will find next to nothing with more.
            let noise = Arc::ptr_eq(&best.0.codec, &self.entropy.codec);
            if sample.is_empty() || noise || price(0.0) >= best.1 {
                continue;
            }
            let page = plan.seal_with(&candidate.codec, data, sample.clone(), scratch)?;
            let bytes = page.bytes.len() as u64;
            tried.push(Trial { form, effort: candidate.name.clone(), bytes });
            let price = price(bytes as f64);
            if price < best.1 {
                best = (candidate, price);
            }
        }
        Ok((best.0, tried))
    }

    /// The codecs for the columns of `field`, and all below it, from `sample`: some of its values. For
    /// writers that seal with [`super::seal_field`].
    ///
    /// # Errors
    /// As [`super::seal_field`].
    pub(crate) fn choose_field(
        &self,
        schema: &Schema,
        field: FieldId,
        sample: &ArrayRef,
        settings: &SealSettings,
        scratch: &mut Scratch,
    ) -> Result<Vec<(ColumnId, ChosenCodec)>> {
        choose_each(schema, field, sample, settings, |plan, data| {
            let (best, tried) = self.choose_by(plan, data, 0..data.len(), scratch)?;
            let chosen = Chosen { effort: best.name.clone(), reason: BY_PRICE, tried };
            Ok(ChosenCodec { codec: Arc::clone(&best.codec), chosen })
        })
    }
}

/// Entropy coding of single bytes, with next to no search: in planes of noise matches are chance, and
/// each costs more than the literals it replaces. Repeated bytes are still found.
pub(super) fn entropy() -> Codec {
    Codec::Zstd {
        level: 1,
        parameters: vec![
            ZstdParameter::Strategy(Strategy::ZSTD_fast),
            ZstdParameter::HashLog(12),
            ZstdParameter::MinMatch(7),
            // The step from one place to the next that is looked at,
            ZstdParameter::TargetLength(128),
            // with which libzstd would not compress literals.
            ZstdParameter::LiteralCompressionMode(ParamSwitch::Enable),
        ],
    }
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
    use crate::compression::Compressor;
    use crate::rntuple::write::testing::noise;

    #[test]
    fn effort_pays_by_bytes_per_second() {
        let Codecs { cheap, strong, .. } = Codecs::of(Compression::DEFAULT).unwrap();
        let strong = strong.unwrap();
        // 1 GB takes 1.85 s more, worth 5.55 MB.
        let cheap = cheap.price(true, 1e9, 500e6);
        assert!(strong.price(true, 1e9, 494.4e6) < cheap);
        assert!(strong.price(true, 1e9, 494.5e6) > cheap);
    }

    /// Sizes of some bytes with each codec: entropy, cheap, strong.
    fn sizes(bytes: &[u8]) -> [usize; 3] {
        let Codecs { entropy, cheap, strong } = Codecs::of(Compression::DEFAULT).unwrap();
        [entropy, cheap, strong.unwrap()].map(|candidate| {
            let mut out = Vec::new();
            let mut compressor = Compressor::with_codec(&candidate.codec).unwrap();
            compressor.compress(bytes, &mut out).unwrap();
            out.len()
        })
    }

    #[test]
    fn noise_is_for_entropy_coding_alone() {
        // Four values at random: 2 bits each, and many matches by chance.
        let bytes: Vec<u8> = noise().take(100_000).map(|bits| (bits >> 7 & 3) as u8).collect();
        let [entropy, cheap, strong] = sizes(&bytes);
        assert!(entropy < cheap && entropy < strong, "{entropy} {cheap} {strong}");
        assert!((25_000..25_500).contains(&entropy), "{entropy}");
        // One value only takes next to nothing with any.
        assert!(sizes(&[7; 100_000]).iter().all(|size| *size < 100));
    }

    /// The memory budget counts on it.
    #[test]
    fn codecs_take_no_more_memory_than_they_say() {
        let bytes: Vec<u8> = noise().take(1 << 20).map(|bits| (bits >> 7 & 15) as u8).collect();
        for codec in Codecs::of(Compression::DEFAULT).unwrap().into_codecs() {
            let mut compressor = Compressor::with_codec(&codec).unwrap();
            compressor.compress(&bytes, &mut Vec::new()).unwrap();
            let (took, said) = (compressor.allocated() as u64, codec.memory(bytes.len()));
            assert!(took <= said && took > said / 3, "{codec:?}: {took} of {said} bytes");
        }
    }

    #[test]
    fn the_level_bounds_the_effort() {
        let names = |level| {
            let codecs = Codecs::of(Compression { algorithm: Algorithm::Zstd, level }).unwrap();
            let strong = codecs.strong.map(|strong| strong.name);
            [Some(codecs.entropy.name), Some(codecs.cheap.name), strong]
                .map(Option::unwrap_or_default)
        };
        assert_eq!(names(1), ["entropy", "fast", ""]);
        assert_eq!(names(3), ["entropy", "fast", "strong"]);
        assert_eq!(names(6), names(3));
        assert_eq!(names(7), ["entropy", "fast", "level 7"]);
        assert!(Codecs::of(Compression::NONE).is_none());
    }

    #[test]
    fn a_level_that_is_named_is_used() {
        for (text, shown, effort) in [
            ("zstd", "zstd", Effort::Auto),
            ("zstd:5", "zstd:5", Effort::Full),
            ("505", "zstd:5", Effort::Full),
            ("lzma", "lzma", Effort::Auto),
            ("none", "none", Effort::Auto),
            ("5", "zstd", Effort::Auto),
        ] {
            let choice: CompressionChoice = text.parse().unwrap();
            assert_eq!(
                (choice.to_string().as_str(), choice.effort(None)),
                (shown, effort),
                "{text}"
            );
            assert_eq!(choice.effort(Some(Effort::Auto)), Effort::Auto);
        }
        assert_eq!(CompressionChoice::default(), "zstd".parse().unwrap());
        assert!("gzip".parse::<CompressionChoice>().is_err());
    }

    #[test]
    fn high_levels_are_themselves_the_strong_codec() {
        let level = |level| strong(Compression { algorithm: Algorithm::Zstd, level });
        assert!(matches!(level(9), Codec::Zstd { level: 18, .. }));
        assert!(matches!(level(5), Codec::Zstd { level: 1, .. }));
    }
}
