//! Defines the option that says how column types are chosen.

use std::fmt;
use std::str::FromStr;

use crate::compression::Compression;
use crate::effort::{Chooser, Effort};
use crate::error::{Error, Result};

/// The way in which the column types of a writer are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encodings {
    /// The types of the schema. By default they are ROOT's: split if compressed, otherwise unsplit.
    #[default]
    Default,
    /// Split or unsplit, by a sample of each column. With [`Effort::Auto`] the sample also decides the effort;
    /// size then counts more than time.
    Auto,
}

impl FromStr for Encodings {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "default" => Ok(Self::Default),
            "auto" => Ok(Self::Auto),
            _ => Err(Error::invalid_argument(format!(
                "encoding {text:?} is not known: use default or auto"
            ))),
        }
    }
}

impl fmt::Display for Encodings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Auto => "auto",
        })
    }
}

impl Chooser {
    /// Returns the chooser for the options, or `None` if they leave nothing to choose.
    pub(crate) fn of(
        compression: Compression,
        effort: Effort,
        encodings: Encodings,
    ) -> Option<Self> {
        match encodings {
            Encodings::Auto => Self::for_size(compression, effort),
            Encodings::Default => Self::for_time(compression, effort),
        }
    }
}
