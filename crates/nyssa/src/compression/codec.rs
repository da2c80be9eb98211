//! The exact codec behind a compression setting, in the library's own terms.

use ::zstd::zstd_safe;

use super::{Algorithm, Compression};

/// A parameter of libzstd (`ZSTD_cParameter`).
pub use zstd_safe::CParameter as ZstdParameter;

/// What compresses: the algorithm and the tuning in its library's own numbers. Every codec writes
/// streams that any ROOT can read; the choice costs only time and size.
#[derive(Clone, Debug, Default)]
pub enum Codec {
    /// Stored.
    #[default]
    Store,
    /// zlib streams; libdeflate's level, 0 to 12.
    Zlib {
        /// The level.
        level: i32,
    },
    /// xz streams; liblzma's preset, 0 to 9.
    Lzma {
        /// The preset.
        preset: u32,
    },
    /// LZ4 blocks: the fast compressor, or LZ4 HC of a level 3 to 12.
    Lz4 {
        /// The level of LZ4 HC.
        high_compression: Option<i32>,
    },
    /// zstd frames; libzstd's own level, refined by parameters.
    Zstd {
        /// The level, negative ones included.
        level: i32,
        /// Parameters set after the level.
        parameters: Vec<ZstdParameter>,
    },
}

impl Codec {
    /// zstd at libzstd's own level (ROOT's level 5 is 10).
    pub fn zstd(level: i32) -> Self {
        Self::Zstd { level, parameters: Vec::new() }
    }

    /// Bytes that a compressor of inputs of up to `input` bytes takes, or a little less than that;
    /// measured with the libraries' own counts.
    pub fn memory(&self, input: usize) -> u64 {
        let input = input as u64;
        match self {
            Self::Store => 0,
            Self::Zlib { level: ..=9 } => 1 << 20,
            Self::Zlib { .. } => 10 << 20,
            // Dictionary, match finder and range coder; the dictionary is at most a quarter.
            Self::Lzma { .. } => (1 << 20) + 4 * input,
            Self::Lz4 { high_compression: None } => 16 << 10,
            Self::Lz4 { .. } => 256 << 10,
            // Blocks and sequences, and tables of the size that is asked for, or else that of the level.
            Self::Zstd { level: ..=2, parameters } => {
                let hash = parameters.iter().find_map(|parameter| match parameter {
                    ZstdParameter::HashLog(log) => Some(8 << (*log).min(30)),
                    _ => None,
                });
                (1 << 20) + hash.unwrap_or(3 << 19)
            }
            Self::Zstd { level: ..=6, .. } => 5 << 20,
            // Tables grow with the window, which is no larger than the input.
            Self::Zstd { .. } => (3 << 20) + 16 * input.next_power_of_two().min(8 << 20),
        }
    }

    /// ROOT's setting that comes closest, as recorded in page lists and file headers; 0 for stored.
    pub fn setting(&self) -> u32 {
        let level = |level: i32| u8::try_from(level.clamp(1, 9)).unwrap_or(1);
        let compression = match *self {
            Self::Store => Compression::NONE,
            Self::Zlib { level: native } => {
                Compression { algorithm: Algorithm::Zlib, level: level(native) }
            }
            Self::Lzma { preset } => Compression {
                algorithm: Algorithm::Lzma,
                level: level(i32::try_from(preset).unwrap_or(9)),
            },
            Self::Lz4 { high_compression: None } => {
                Compression { algorithm: Algorithm::Lz4, level: 1 }
            }
            Self::Lz4 { high_compression: Some(native) } => {
                Compression { algorithm: Algorithm::Lz4, level: level(native.max(4)) }
            }
            Self::Zstd { level: native, .. } => Compression {
                algorithm: Algorithm::Zstd,
                level: level(native.saturating_add(1) / 2),
            },
        };
        compression.setting()
    }
}

impl From<Compression> for Codec {
    /// ROOT's mapping of levels: zstd doubles them, LZ4 is fast below 4 and HC from there on.
    fn from(compression: Compression) -> Self {
        let level = i32::from(compression.level.min(9));
        match compression.algorithm {
            _ if level == 0 => Self::Store,
            Algorithm::Zlib => Self::Zlib { level },
            Algorithm::Lzma => Self::Lzma { preset: u32::from(compression.level.min(9)) },
            Algorithm::Lz4 if level < 4 => Self::Lz4 { high_compression: None },
            Algorithm::Lz4 => Self::Lz4 { high_compression: Some(level) },
            Algorithm::Zstd => Self::zstd(2 * level),
        }
    }
}
