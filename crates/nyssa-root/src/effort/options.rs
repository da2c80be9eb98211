//! Defines the options that users set: the compression and its effort.

use std::fmt;
use std::str::FromStr;

use crate::compression::Compression;
use crate::error::{Error, Result};

/// The CPU time that compression may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// The effort is chosen for each column by a sample. More effort is made only if it saves enough bytes, and never
    /// more than the effort of the level.
    #[default]
    Auto,
    /// Every column is compressed with exactly the level.
    Full,
}

crate::named_variants!(Effort, "effort", Auto = "auto", Full = "full");

/// A compression that a user requests: an algorithm, with or without a level.
///
/// If the user names a level, it is used exactly. Otherwise the effort is chosen for each column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompressionChoice {
    /// The algorithm and the level. If the user names no level, it is the default level of the algorithm.
    pub compression: Compression,
    /// Whether the user named the level.
    pub level_named: bool,
}

impl CompressionChoice {
    /// Returns the requested effort, or the default for this compression.
    pub fn effort(self, requested: Option<Effort>) -> Effort {
        requested.unwrap_or(if self.level_named { Effort::Full } else { Effort::Auto })
    }
}

crate::serde_as_text!(CompressionChoice);

impl From<Compression> for CompressionChoice {
    fn from(compression: Compression) -> Self {
        Self { compression, level_named: true }
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
