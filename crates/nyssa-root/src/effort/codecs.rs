//! Defines codecs of zstd between its levels, for columns of physics data.

use zstd::zstd_safe::{ParamSwitch, Strategy};

use crate::compression::{Codec, Compression, ZstdParameter};
use crate::heuristics::effort;

/// Returns a codec that codes single bytes by their frequency and hardly searches for matches. In noise a match is
/// found only by chance, and takes more space than the literals that it replaces. The search still finds repeated
/// bytes.
pub(super) fn entropy() -> Codec {
    Codec::Zstd {
        level: 1,
        parameters: vec![
            ZstdParameter::Strategy(Strategy::ZSTD_fast),
            ZstdParameter::HashLog(12),
            ZstdParameter::MinMatch(7),
            // The search skips this many bytes between two places.
            ZstdParameter::TargetLength(128),
            // With such a step, libzstd compresses literals only if it is told to.
            ZstdParameter::LiteralCompressionMode(ParamSwitch::Enable),
        ],
    }
}

/// Returns a codec with two hash tables that uses only long matches. In noise, short matches take more space
/// than the literals that they replace. It is as fast as level 1, and its output is smaller.
pub(super) fn fast() -> Codec {
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

/// Returns a codec that uses the best of several matches at each place, and no short matches. Above the level
/// [`effort::STRONG_LEVEL`] the codec is the level itself, which is stronger.
pub(super) fn strong(compression: Compression) -> Codec {
    if compression.level > effort::STRONG_LEVEL {
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

/// Returns a codec that uses matches of four bytes and more, and looks whether a better match starts at the next
/// byte.
pub(super) fn short_matches() -> Codec {
    Codec::Zstd {
        level: 1,
        parameters: vec![
            ZstdParameter::Strategy(Strategy::ZSTD_lazy),
            ZstdParameter::HashLog(17),
            ZstdParameter::ChainLog(17),
            ZstdParameter::SearchLog(3),
            ZstdParameter::MinMatch(4),
        ],
    }
}

/// Returns a codec that finds the smallest way to write a block, with a few matches at each place.
pub(super) fn optimal() -> Codec {
    Codec::Zstd {
        level: 16,
        parameters: vec![
            ZstdParameter::Strategy(Strategy::ZSTD_btopt),
            ZstdParameter::HashLog(17),
            ZstdParameter::ChainLog(17),
            ZstdParameter::SearchLog(2),
            ZstdParameter::MinMatch(6),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::Algorithm;

    #[test]
    fn high_levels_are_themselves_the_strong_codec() {
        let level = |level| strong(Compression { algorithm: Algorithm::Zstd, level });
        assert!(matches!(level(9), Codec::Zstd { level: 18, .. }));
        assert!(matches!(level(5), Codec::Zstd { level: 1, .. }));
    }
}
