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
    /// The costs for elements stored as byte planes, and for elements that are not split.
    seconds: [f64; 2],
    /// Whether this codec is best for noise. In noise, codecs that search more find almost nothing.
    pub(super) for_noise: bool,
}

impl PricedCodec {
    fn new(codec: impl Into<Arc<Codec>>, name: &str, seconds: [f64; 2]) -> Self {
        Self { codec: codec.into(), name: name.to_owned(), seconds, for_noise: false }
    }

    /// Returns the codec that the options name for a column. It is the only candidate.
    pub(super) fn requested(codec: &Arc<Codec>) -> Self {
        Self::new(Arc::clone(codec), "requested", effort::LEVEL)
    }

    /// Returns whether this codec takes so much time that it is tried only if another codec has saved something.
    pub(super) fn is_hardest(&self) -> bool {
        self.seconds(true) > effort::HARD
    }

    /// Returns the nominal seconds for each byte, split or not.
    pub(super) fn seconds(&self, split: bool) -> f64 {
        let [of_planes, unsplit] = self.seconds;
        if split { of_planes } else { unsplit }
    }
}

/// Returns the candidates for which time is worth more than size. The first of them is taken without a sample. Only
/// zstd has candidates of different effort. With another algorithm there is nothing to choose.
pub(super) fn for_time(compression: Compression) -> Option<Vec<PricedCodec>> {
    if compression.algorithm != Algorithm::Zstd || compression.level == 0 {
        return None;
    }
    let name = match compression.level {
        high if high > effort::STRONG_LEVEL => level(compression.setting()),
        _ => "strong".to_owned(),
    };
    let entropy = PricedCodec::new(entropy(), "entropy", effort::ENTROPY);
    let mut codecs = vec![PricedCodec::new(fast(), "fast", effort::FAST)];
    codecs.push(PricedCodec { for_noise: true, ..entropy });
    if compression.level >= effort::STRONG_FROM {
        codecs.push(PricedCodec::new(strong(compression), &name, effort::STRONG));
    }
    Some(codecs)
}

/// Returns the candidates for the baskets of trees. The numbers are not split, so parts of them repeat, and short
/// matches may pay.
pub(super) fn for_baskets(compression: Compression) -> Option<Vec<PricedCodec>> {
    let mut codecs = for_time(compression)?;
    if (effort::STRONG_FROM..=effort::STRONG_LEVEL).contains(&compression.level) {
        codecs.push(PricedCodec::new(short_matches(), "short matches", effort::SHORT_MATCHES));
    }
    Some(codecs)
}

/// Returns the candidates if size is worth more than time. Each tries harder than the previous candidate. Returns `None`
/// if nothing is compressed. Only zstd has candidates of different effort: with another algorithm the only candidate
/// is ROOT's own codec. ROOT's level 5 is not a candidate: it takes much more time than the strong codec, and saves
/// almost nothing more than optimal parsing (docs/decisions/0021).
pub(super) fn for_size(compression: Compression, requested: Effort) -> Option<Vec<PricedCodec>> {
    if compression.setting() == 0 {
        return None;
    }
    let Some(mut codecs) = for_time(compression).filter(|_| requested == Effort::Auto) else {
        let name = level(compression.setting());
        return Some(vec![PricedCodec::new(Codec::from(compression), &name, effort::LEVEL)]);
    };
    codecs.push(PricedCodec::new(optimal(), "optimal parsing", effort::OPTIMAL));
    Some(codecs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::Compressor;
    use nyssa_testdata::noise;

    /// Returns the sizes of some bytes with the codecs for time: fast, entropy, strong.
    fn sizes(bytes: &[u8]) -> Vec<usize> {
        let candidates = for_time(Compression::DEFAULT).unwrap();
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
        for PricedCodec { codec, .. } in for_time(Compression::DEFAULT).unwrap() {
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
            let candidates = for_size(compression, Effort::Auto).unwrap();
            candidates.into_iter().map(|candidate| candidate.name).collect::<Vec<_>>()
        };
        assert_eq!(names(5), ["fast", "entropy", "strong", "optimal parsing"]);
        assert_eq!(names(9), ["fast", "entropy", "level 9", "optimal parsing"]);
    }

    #[test]
    fn the_level_bounds_the_effort() {
        let names = |level| {
            let candidates = for_time(Compression { algorithm: Algorithm::Zstd, level }).unwrap();
            candidates.into_iter().map(|candidate| candidate.name).collect::<Vec<_>>()
        };
        assert_eq!(names(1), ["fast", "entropy"]);
        assert_eq!(names(3), ["fast", "entropy", "strong"]);
        assert_eq!(names(6), names(3));
        assert_eq!(names(7), ["fast", "entropy", "level 7"]);
        assert!(for_time(Compression::NONE).is_none());
    }
}
