//! Parses and evaluates expressions of fields: cuts, which select entries, and columns that are computed.
//!
//! ```text
//! nMuon >= 2 && Muon_pt[0] > 20 && any(abs(Muon_eta) < 2.4)
//! ```
//!
//! `docs/expressions.md` has the language: grammar, functions, missing values, types.
//!
//! Values are kept as integers of 64 bits or real numbers of double precision. Where NumPy has single precision, each result is
//! rounded to it: `+ - * /` and `sqrt` of numbers of single precision that are computed in double precision and then
//! rounded are the correctly rounded results. A comparison with a missing value is false.

mod alias;
mod expression;
mod formula;
mod functions;
mod lists;
mod load;
mod operators;
mod parse;
mod particles;
mod result;
mod token;
mod value;

#[cfg(test)]
mod tests;

use std::fmt;

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;

use crate::dataset::ColumnInfo;
pub use expression::Known;
pub use formula::Formula;
use nyssa_root::error::{Error, Result};
use value::{Data, Value};

/// A parsed cut: an expression that is true or false for each entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut(Formula);

/// An error in an expression, and the byte of the text where it is.
#[derive(Debug)]
struct CutError {
    at: usize,
    error: Error,
}

type Checked<T> = std::result::Result<T, CutError>;

impl CutError {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, error: Error::invalid_argument(message) }
    }

    /// Returns the error with an excerpt: the expression, and a mark under the place.
    fn show(self, text: &str) -> Error {
        let before = text.get(..self.at).unwrap_or(text).chars().count();
        // The expression is shown on one line, so that the mark is under the right place.
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.error.with_excerpt(format!("  {line}\n  {:before$}^", ""))
    }
}

impl Cut {
    /// Parses a cut.
    ///
    /// # Errors
    /// `InvalidArgument` with the place of the error.
    pub fn parse(text: &str) -> Result<Self> {
        Formula::parse(text).map(Self)
    }

    /// Returns the names of the columns that the cut needs, each once.
    pub fn fields(&self) -> &[String] {
        self.0.fields()
    }

    /// Returns the cut with each alias replaced by its formula. A name that is both a column and an alias means the
    /// column.
    ///
    /// # Errors
    /// `InvalidArgument` with the name of an alias whose formula does not parse, or that depends on itself.
    pub fn with_aliases(
        self,
        columns: &[ColumnInfo],
        formulas: &[(String, String)],
    ) -> Result<Self> {
        let is_column = |name: &str| columns.iter().any(|item| item.name == name);
        self.0.with_aliases(&is_column, formulas).map(Self)
    }

    /// Checks that the fields exist and that the cut is true or false for each entry.
    ///
    /// # Errors
    /// `NotFound` with the nearest names; `Unsupported` for fields that cannot be read; `InvalidArgument` for values
    /// that cannot be combined. All errors contain their place in the cut.
    pub fn check(&self, items: &[ColumnInfo]) -> Result<()> {
        let arrays = self.0.empty(items)?;
        self.mask(&arrays, 0).map(|_| ())
    }

    /// Returns the mask of the selected entries. `arrays` are the arrays of [`Cut::fields`], each of `length`
    /// entries.
    ///
    /// # Errors
    /// `InvalidArgument` for values that cannot be combined, with their place in the cut.
    pub fn mask(&self, arrays: &[ArrayRef], length: usize) -> Result<BooleanBuffer> {
        let value = self.0.value(arrays)?;
        mask(&value, length).map_err(|message| self.0.fault(&message))
    }
}

/// Returns a truth value for each entry.
fn mask(value: &Value, length: usize) -> std::result::Result<BooleanBuffer, String> {
    let fault = |message: &str| Err(message.to_owned());
    if !value.levels.is_empty() {
        return fault(
            "a cut is true or false for each entry, this is so for each item of a list: \
             any(…) or all(…) makes one of them",
        );
    }
    let Data::Bool(bits) = &value.data else {
        return fault("a cut is true or false for each entry, this is a number: compare it");
    };
    let present = |index: usize| value.valid.as_ref().is_none_or(|valid| valid[index]);
    if value.constant {
        let taken = bits.first().copied().unwrap_or(false) && present(0);
        return Ok(match taken {
            true => BooleanBuffer::new_set(length),
            false => BooleanBuffer::new_unset(length),
        });
    }
    if bits.len() != length {
        return fault("a field has another number of entries");
    }
    Ok(BooleanBuffer::collect_bool(length, |index| bits[index] && present(index)))
}

impl From<Formula> for Cut {
    fn from(formula: Formula) -> Self {
        Self(formula)
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
