//! Parses the column types that a user can request for fields.
//!
//! | text | columns |
//! |---|---|
//! | `split`, `unsplit` | of the same numbers, as byte planes or not |
//! | `Int16`, `Real32`, `SplitIndex32`, … | of this type |
//! | `Real16` | half precision: relative error at most 2^-11 for values from 2^-14 to 65504 |
//! | `Real32Trunc:BITS` | 10 to 31 bits: relative error below 2^-(BITS - 9), towards zero |
//! | `Real32Quant:BITS:MIN:MAX` | 1 to 32 bits: absolute error at most (MAX - MIN) / (2^BITS - 1) / 2; values outside are refused |

use std::fmt;
use std::str::FromStr;

use nyssa_root::error::{Error, Result};
use serde::{Serialize, Serializer};

use crate::encoding::{ColumnType, Encoding};

/// The column type that a user requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestedType {
    /// The split type for the values of the column.
    Split,
    /// The unsplit type for the values of the column.
    Unsplit,
    /// A column type with its bits and its range of values.
    Encoding(Encoding),
}

/// As text for people.
impl Serialize for RequestedType {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl fmt::Display for RequestedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoding = match self {
            Self::Split => return f.write_str("split columns"),
            Self::Unsplit => return f.write_str("unsplit columns"),
            Self::Encoding(encoding) => encoding,
        };
        f.write_str(encoding.column_type.name())?;
        match (encoding.column_type, encoding.range) {
            (ColumnType::Real32Quant, Some((min, max))) => {
                write!(f, ":{}:{min}:{max}", encoding.bits)
            }
            (ColumnType::Real32Trunc, _) => write!(f, ":{}", encoding.bits),
            _ => Ok(()),
        }
    }
}

/// Returns the error of a column type that is only read.
pub(crate) fn not_written(column_type: ColumnType) -> Error {
    let (name, plain) = (column_type.name(), column_type.unsplit_form().name());
    Error::invalid_argument(format!(
        "nyssa does not write columns of type {name}, since ROOT does not open an RNTuple that has them: use {plain}"
    ))
}

impl FromStr for RequestedType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "split" => return Ok(Self::Split),
            "unsplit" => return Ok(Self::Unsplit),
            _ => {}
        }
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let written = || ColumnType::ALL.iter().filter(|known| known.is_written());
        let names = || written().map(|known| known.name());
        let known = ColumnType::ALL.iter().find(|known| known.name() == name);
        let column_type = *known.ok_or_else(|| {
            Error::invalid_argument(format!("{text:?} is not a column type"))
                .suggest(name, names().chain(["split", "unsplit"]))
        })?;
        if !column_type.is_written() {
            return Err(not_written(column_type));
        }
        let wrong = || {
            Error::invalid_argument(format!(
                "{text:?}: Real32Trunc takes bits, as in \"Real32Trunc:16\", Real32Quant bits and \
                 a range, as in \"Real32Quant:12:0:1\", others nothing"
            ))
        };
        let numbers = parts.map(|part| part.parse::<f64>().map_err(|_| wrong()));
        let numbers = numbers.collect::<Result<Vec<_>>>()?;
        let bits = |bits: f64| match bits {
            bits if bits.fract() == 0.0 && (1.0..=32.0).contains(&bits) => Ok(bits as u16),
            _ => Err(wrong()),
        };
        let (bits, range) = match (column_type, &numbers[..]) {
            (ColumnType::Real32Trunc, &[count]) => (bits(count)?, None),
            (ColumnType::Real32Quant, &[count, min, max]) => (bits(count)?, Some((min, max))),
            (ColumnType::Real32Trunc | ColumnType::Real32Quant, _) => return Err(wrong()),
            (_, []) => (column_type.bits(), None),
            _ => return Err(wrong()),
        };
        let encoding = Encoding::of(column_type, bits, range);
        encoding.map(Self::Encoding).map_err(|error| Error::invalid_argument(error.message()))
    }
}
