//! Defines compression settings as ROOT's numbers, `100 * algorithm + level`.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A compression algorithm that nyssa writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// zlib, by libdeflate. This is ROOT's algorithm 1.
    Zlib,
    /// LZMA in xz framing, by liblzma. This is ROOT's algorithm 2.
    Lzma,
    /// LZ4, by liblz4. This is ROOT's algorithm 4.
    Lz4,
    /// zstd, by libzstd. This is ROOT's algorithm 5.
    Zstd,
}

/// An algorithm and a level in ROOT's numbers. Level 0 means no compression.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let compression: nyssa::Compression = "zstd:7".parse()?;
/// assert_eq!(compression.setting(), 507);
/// assert!("zstd:30".parse::<nyssa::Compression>().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compression {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// ROOT's level, from 0 to 9.
    pub level: u8,
}

impl Compression {
    /// ROOT's default for RNTuple, 505: zstd, ROOT level 5 (zstd's own level 10).
    pub const DEFAULT: Self = Self { algorithm: Algorithm::Zstd, level: 5 };
    /// No compression.
    pub const NONE: Self = Self { algorithm: Algorithm::Zstd, level: 0 };

    /// Returns the compression of a number that a file states (`fCompress`). Returns `None` for unknown numbers and
    /// for -1, which means the setting of the file.
    pub fn of_setting(setting: i64) -> Option<Self> {
        let level = u8::try_from(setting % 100).ok()?.min(9);
        let algorithm = match setting / 100 {
            _ if level == 0 => return Some(Self::NONE),
            // ROOT's default, and its algorithm before zlib.
            0 | 1 | 3 => Algorithm::Zlib,
            2 => Algorithm::Lzma,
            4 => Algorithm::Lz4,
            5 => Algorithm::Zstd,
            _ => return None,
        };
        Some(Self { algorithm, level })
    }

    /// Returns ROOT's setting number, which is 0 for no compression.
    pub fn setting(self) -> u32 {
        let algorithm = match self.algorithm {
            _ if self.level == 0 => return 0,
            Algorithm::Zlib => 1,
            Algorithm::Lzma => 2,
            Algorithm::Lz4 => 4,
            Algorithm::Zstd => 5,
        };
        algorithm * 100 + u32::from(self.level)
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self::DEFAULT
    }
}

crate::serde_as_text!(Compression);

impl FromStr for Compression {
    type Err = Error;

    /// Parses `zstd:5`, `zlib:1`, `lz4:4`, `lzma:7`, `zstd` (with the default level), `none`, or ROOT's number
    /// `505`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::invalid_argument(format!(
                "compression {text:?} is not known: use zstd, zlib, lz4 or lzma with a level 1 to 9 \
                 (such as zstd:5), a ROOT setting such as 505, or none"
            ))
        };
        let algorithm = |name: &str| match name {
            "zlib" | "1" => Ok((Algorithm::Zlib, 1)),
            "lzma" | "2" => Ok((Algorithm::Lzma, 7)),
            "lz4" | "4" => Ok((Algorithm::Lz4, 4)),
            "zstd" | "5" => Ok((Algorithm::Zstd, 5)),
            _ => Err(wrong()),
        };
        let lower = text.trim().to_ascii_lowercase();
        if lower == "none" || lower == "0" {
            return Ok(Self::NONE);
        }
        let (name, level) = match lower.split_once(':') {
            Some((name, level)) => (name.to_owned(), Some(level.to_owned())),
            None if lower.len() == 3 && lower.bytes().all(|byte| byte.is_ascii_digit()) => {
                (lower[..1].to_owned(), Some(lower[2..].to_owned()))
            }
            None => (lower, None),
        };
        let (algorithm, default) = algorithm(&name)?;
        let level = match level {
            Some(level) => level.parse().map_err(|_| wrong())?,
            None => default,
        };
        if level > 9 { Err(wrong()) } else { Ok(Self { algorithm, level }) }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.algorithm {
            _ if self.level == 0 => return f.write_str("none"),
            Algorithm::Zlib => "zlib",
            Algorithm::Lzma => "lzma",
            Algorithm::Lz4 => "lz4",
            Algorithm::Zstd => "zstd",
        };
        write!(f, "{name}:{}", self.level)
    }
}
