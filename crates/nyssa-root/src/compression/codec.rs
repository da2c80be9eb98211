//! Defines the codec of a compression setting with the parameters of its library.

use ::zstd::zstd_safe;

use super::{Algorithm, Compression};

/// A parameter of libzstd (`ZSTD_cParameter`).
pub use zstd_safe::CParameter as ZstdParameter;

/// The lowest level of libdeflate whose streams are not larger than streams of ROOT's level 1.
const ZLIB_LEAST: i32 = 3;

/// A compression algorithm with the parameters of its library. Any version of ROOT with the algorithm can read
/// the streams of every codec. The choice changes only time and size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Codec {
    /// No compression: bytes are stored as they are.
    #[default]
    Store,
    /// zlib streams, with a level of libdeflate from 0 to 12.
    Zlib {
        /// The level.
        level: i32,
    },
    /// xz streams, with a preset of liblzma from 0 to 9.
    Lzma {
        /// The preset.
        preset: u32,
    },
    /// LZ4 blocks, by the fast compressor or by LZ4 HC with a level from 3 to 12.
    Lz4 {
        /// The level of LZ4 HC.
        high_compression: Option<i32>,
    },
    /// zstd frames, with a level of libzstd and more parameters.
    Zstd {
        /// The level, which may be negative.
        level: i32,
        /// The parameters that are set after the level.
        parameters: Vec<ZstdParameter>,
    },
}

impl Codec {
    /// Returns the name of the algorithm.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Store => "none",
            Self::Zlib { .. } => "zlib",
            Self::Lzma { .. } => "lzma",
            Self::Lz4 { .. } => "lz4",
            Self::Zstd { .. } => "zstd",
        }
    }

    /// Makes a zstd codec with a level of libzstd. ROOT's level 5 is level 10 of libzstd.
    pub fn zstd(level: i32) -> Self {
        Self::Zstd { level, parameters: Vec::new() }
    }

    /// Estimates the memory in bytes that a compressor takes for inputs of up to `input` bytes. The estimate
    /// may be a little low. It was measured with the libraries' own counts.
    pub fn memory(&self, input: usize) -> u64 {
        let input = input as u64;
        match self {
            Self::Store => 0,
            Self::Zlib { level: ..=9 } => 1 << 20,
            Self::Zlib { .. } => 10 << 20,
            // The dictionary, the match finder and the range coder need this memory. The dictionary has at most a quarter
            // of the input.
            Self::Lzma { .. } => (1 << 20) + 4 * input,
            Self::Lz4 { high_compression: None } => 16 << 10,
            Self::Lz4 { .. } => 256 << 10,
            // Blocks, sequences and tables need this memory. The parameters or the level give the size of tables.
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

    /// Returns the nearest setting of ROOT, which page lists and file headers contain. It is 0 for stored
    /// bytes.
    pub fn setting(&self) -> u32 {
        let level = |level: i32| u8::try_from(level.clamp(1, 9)).unwrap_or(1);
        let compression = match *self {
            Self::Store => Compression::NONE,
            Self::Zlib { level: native } => Compression {
                algorithm: Algorithm::Zlib,
                level: if native <= ZLIB_LEAST { 1 } else { level(native) },
            },
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
    /// Maps levels as ROOT does: zstd has twice the level, and LZ4 is fast below 4 and HC from 4 on. A level of zlib is
    /// the same level of libdeflate, which is faster and makes smaller streams than ROOT's zlib, from level 3 on.
    fn from(compression: Compression) -> Self {
        let level = i32::from(compression.level.min(9));
        match compression.algorithm {
            _ if level == 0 => Self::Store,
            Algorithm::Zlib => Self::Zlib { level: level.max(ZLIB_LEAST) },
            Algorithm::Lzma => Self::Lzma { preset: u32::from(compression.level.min(9)) },
            Algorithm::Lz4 if level < 4 => Self::Lz4 { high_compression: None },
            Algorithm::Lz4 => Self::Lz4 { high_compression: Some(level) },
            Algorithm::Zstd => Self::zstd(2 * level),
        }
    }
}
