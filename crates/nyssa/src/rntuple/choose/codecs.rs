//! Settings of zstd between its levels, made for columns of physics data.

use zstd::zstd_safe::{ParamSwitch, Strategy};

use crate::compression::{Codec, Compression, ZstdParameter};

/// ROOT's highest level at which [`strong`] saves more than the level itself would.
pub(super) const STRONG_LEVEL: u8 = 6;

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

/// The best of some matches at each place, again without short ones; above [`STRONG_LEVEL`] the level itself,
/// which is stronger.
pub(super) fn strong(compression: Compression) -> Codec {
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

/// A level that does not spend literals on short matches, which are chance in planes of noise.
pub(super) fn without_short_matches(level: i32) -> Codec {
    Codec::Zstd { level, parameters: vec![ZstdParameter::MinMatch(6)] }
}

/// The cheapest of all ways to write a block, among few matches at each place.
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
