//! Lists the codecs that can be chosen, with the time that they take.

use std::sync::Arc;

use super::codecs::{entropy, fast, optimal, short_matches, strong};
use super::{Effort, level};
use crate::compression::{Algorithm, Codec, Compression};
use crate::heuristics::effort;

/// A codec and its cost: the nominal seconds that one core needs for each byte before compression.
#[derive(Clone, Debug)]
pub struct PricedCodec {
    /// The codec.
    pub codec: Arc<Codec>,
    /// The name in reports.
    pub name: String,
    /// The cost for elements stored as byte planes.
    split: f64,
    /// The cost for elements that are not split.
    unsplit: f64,
    /// Whether this codec is best for noise. In noise, codecs that search more find almost nothing.
    pub(super) for_noise: bool,
}

impl PricedCodec {
    fn new(codec: Codec, name: &str, [split, unsplit]: [f64; 2]) -> Self {
        let name = name.to_owned();
        Self { codec: Arc::new(codec), name, split, unsplit, for_noise: false }
    }

    /// Returns the codec that the options name for a column. It is the only candidate.
    pub(super) fn requested(codec: &Arc<Codec>) -> Self {
        let (codec, name) = (Arc::clone(codec), "asked for".to_owned());
        let [split, unsplit] = effort::LEVEL;
        Self { codec, name, split, unsplit, for_noise: false }
    }

    /// Returns whether this codec takes so much time that it is tried only if another codec has saved something.
    pub(super) fn is_hardest(&self) -> bool {
        self.split > effort::HARD
    }

    /// Returns the nominal seconds for each byte, split or not.
    pub(super) fn seconds(&self, split: bool) -> f64 {
        if split { self.split } else { self.unsplit }
    }
}

/// Returns the candidates for which time is worth more than size: the candidate to take without a sample, and the
/// others. Only zstd has candidates of different effort. With another algorithm there is nothing to choose.
pub(super) fn for_time(compression: Compression) -> Option<(PricedCodec, Vec<PricedCodec>)> {
    if compression.algorithm != Algorithm::Zstd || compression.level == 0 {
        return None;
    }
    let name = match compression.level {
        high if high > effort::STRONG_LEVEL => level(compression.setting()),
        _ => "strong".to_owned(),
    };
    let entropy = PricedCodec::new(entropy(), "entropy", effort::ENTROPY);
    let mut others = vec![PricedCodec { for_noise: true, ..entropy }];
    if compression.level >= effort::STRONG_FROM {
        others.push(PricedCodec::new(strong(compression), &name, effort::STRONG));
    }
    Some((PricedCodec::new(fast(), "fast", effort::FAST), others))
}

/// Returns the candidates for the baskets of trees: the candidate to take without a sample, and the others. The
/// numbers are not split, so parts of them repeat, and short matches may pay.
pub(super) fn for_baskets(compression: Compression) -> Option<(PricedCodec, Vec<PricedCodec>)> {
    let (first, mut others) = for_time(compression)?;
    if (effort::STRONG_FROM..=effort::STRONG_LEVEL).contains(&compression.level) {
        others.push(PricedCodec::new(short_matches(), "short matches", effort::SHORT_MATCHES));
    }
    Some((first, others))
}

/// Returns the candidates if size is worth more than time: the candidate that is tried first, and others that each
/// try harder than the previous candidate. Returns `None` if nothing is compressed. Only zstd has candidates of
/// different effort: with another algorithm the only candidate is ROOT's own codec. ROOT's level 5 is not a
/// candidate: it takes much more time than the strong codec, and saves almost nothing more than optimal parsing
/// (docs/decisions/0021).
pub(super) fn for_size(
    compression: Compression,
    effort: Effort,
) -> Option<(PricedCodec, Vec<PricedCodec>)> {
    if compression.setting() == 0 {
        return None;
    }
    let named = level(compression.setting());
    let named = || PricedCodec::new(Codec::from(compression), &named, effort::LEVEL);
    if effort == Effort::Full {
        return Some((named(), Vec::new()));
    }
    let Some((first, mut others)) = for_time(compression) else {
        return Some((named(), Vec::new()));
    };
    others.push(PricedCodec::new(optimal(), "optimal parsing", effort::OPTIMAL));
    Some((first, others))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::Compressor;
    use nyssa_testdata::noise;

    /// Returns all candidates.
    fn all(of: Option<(PricedCodec, Vec<PricedCodec>)>) -> Vec<PricedCodec> {
        of.into_iter().flat_map(|(first, others)| std::iter::once(first).chain(others)).collect()
    }

    /// Returns the sizes of some bytes with the codecs for time: fast, entropy, strong.
    fn sizes(bytes: &[u8]) -> Vec<usize> {
        let candidates = all(for_time(Compression::DEFAULT));
        let size = |candidate: PricedCodec| {
            let mut out = Vec::new();
            let mut compressor = Compressor::with_codec(&candidate.codec).unwrap();
            compressor.compress(bytes, &mut out).unwrap();
            out.len()
        };
        candidates.into_iter().map(size).collect()
    }

    #[test]
    fn noise_is_for_entropy_coding_alone() {
        // Four values at random have 2 bits each, and many matches by chance.
        let bytes: Vec<u8> = noise().take(100_000).map(|bits| (bits >> 7 & 3) as u8).collect();
        let [fast, entropy, strong] = sizes(&bytes).try_into().unwrap();
        assert!(entropy < fast && entropy < strong, "{entropy} {fast} {strong}");
        assert!((25_000..25_500).contains(&entropy), "{entropy}");
        // A single repeated value takes almost no space with any codec.
        assert!(sizes(&[7; 100_000]).iter().all(|size| *size < 100));
    }

    /// Tests that codecs take no more memory than they state. The memory budget depends on it.
    #[test]
    fn codecs_take_no_more_memory_than_they_say() {
        let bytes: Vec<u8> = noise().take(1 << 20).map(|bits| (bits >> 7 & 15) as u8).collect();
        for PricedCodec { codec, .. } in all(for_time(Compression::DEFAULT)) {
            let mut compressor = Compressor::with_codec(&codec).unwrap();
            compressor.compress(&bytes, &mut Vec::new()).unwrap();
            let (took, said) = (compressor.allocated() as u64, codec.memory(bytes.len()));
            assert!(took <= said && took > said / 3, "{codec:?}: {took} of {said} bytes");
        }
    }

    #[test]
    fn for_size_only_high_levels_are_candidates() {
        let names = |level| {
            let compression = Compression { algorithm: Algorithm::Zstd, level };
            let candidates = all(for_size(compression, Effort::Auto));
            candidates.into_iter().map(|candidate| candidate.name).collect::<Vec<_>>()
        };
        assert_eq!(names(5), ["fast", "entropy", "strong", "optimal parsing"]);
        assert_eq!(names(9), ["fast", "entropy", "level 9", "optimal parsing"]);
    }

    #[test]
    fn the_level_bounds_the_effort() {
        let names = |level| {
            let candidates = all(for_time(Compression { algorithm: Algorithm::Zstd, level }));
            candidates.into_iter().map(|candidate| candidate.name).collect::<Vec<_>>()
        };
        assert_eq!(names(1), ["fast", "entropy"]);
        assert_eq!(names(3), ["fast", "entropy", "strong"]);
        assert_eq!(names(6), names(3));
        assert_eq!(names(7), ["fast", "entropy", "level 7"]);
        assert!(for_time(Compression::NONE).is_none());
    }
}
