//! Parses and evaluates cuts, which are expressions of fields that select entries.
//!
//! ```text
//! nMuon >= 2 && Muon_pt[0] > 20 && any(abs(Muon_eta) < 2.4)
//! ```
//!
//! | | |
//! |---|---|
//! | numbers | `2`, `0.5`, `1e3`; integers have 64 bits, other numbers have double precision |
//! | fields | `run`, `jets.pt`, `jets._0.pt`; in back quotes if the name is not a plain word |
//! | arithmetic | `+ - * / %`, `-x`; `/` is never rounded, `%` has the sign of the left side |
//! | comparison | `< <= > >= == !=` |
//! | logic | `&& \|\| !`, or `and or not`; only between true and false |
//! | functions of items | `abs(x)`, `sqrt(x)` |
//! | functions of lists | `min max sum` of numbers, `any all count` of true and false, `len` |
//! | items | `x[0]`, `x[-1]` from the end, `x[best]` |
//!
//! An operation on a list is applied to each of its items. A number is combined with every item of a list.
//! Functions of lists apply to the innermost lists. An item beyond the end of a list, an optional value
//! without a value, and the `min` or `max` of an empty list are missing. A result that is computed from a
//! missing value is missing too, and comparisons with it are false.

mod alias;
mod expression;
mod functions;
mod load;
mod operators;
mod parse;
mod token;
mod value;

#[cfg(test)]
mod tests;

use std::fmt;

use arrow_array::{ArrayRef, new_empty_array};
use arrow_buffer::BooleanBuffer;

use crate::dataset::ColumnInfo;
use crate::error::{Error, Result};
use expression::Expression;
use value::Data;

/// A parsed cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    text: String,
    expression: Expression,
    fields: Vec<String>,
}

/// An error in a cut, and the byte of the cut at which it is.
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

    /// Returns the error with an excerpt: the cut, and a mark under the place.
    fn show(self, text: &str) -> Error {
        let before = text.get(..self.at).unwrap_or(text).chars().count();
        // The cut is shown on one line, so that the mark is under the right place.
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
        let expression = parse::parse(text).map_err(|fault| fault.show(text))?;
        let mut fields = Vec::new();
        expression.fields(&mut fields);
        Ok(Self { text: text.to_owned(), expression, fields })
    }

    /// Returns the names of the top-level fields that the cut needs, each once.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Checks that the fields exist and that the cut is true or false for each entry.
    ///
    /// # Errors
    /// `NotFound` with the nearest names; `Unsupported` for fields that cannot be read; `InvalidArgument` for
    /// values that cannot be combined. All have their place in the cut.
    pub fn check(&self, items: &[ColumnInfo]) -> Result<()> {
        let mut arrays = Vec::with_capacity(self.fields.len());
        for name in &self.fields {
            let item = items.iter().find(|item| item.name == *name);
            let field = match item.map(|item| &item.field) {
                Some(Ok(field)) => Ok(field),
                Some(Err(reason)) => Err(Error::unsupported(format!("a cut needs {reason}"))),
                None => {
                    let error = Error::not_found(format!("there is no field {name:?}"));
                    Err(error.suggest(name, items.iter().map(|item| item.name.as_str())))
                }
            };
            let at = self.expression.position(name).unwrap_or(0);
            let field = field.map_err(|error| CutError { at, error }.show(&self.text))?;
            arrays.push(new_empty_array(field.data_type()));
        }
        self.mask(&arrays, 0).map(|_| ())
    }

    /// Returns the mask of the selected entries. `arrays` are the arrays of [`Cut::fields`], each of `length`
    /// entries.
    ///
    /// # Errors
    /// `InvalidArgument` for values that cannot be combined, with their place in the cut.
    pub fn mask(&self, arrays: &[ArrayRef], length: usize) -> Result<BooleanBuffer> {
        self.evaluate(arrays, length).map_err(|fault| fault.show(&self.text))
    }

    fn evaluate(&self, arrays: &[ArrayRef], length: usize) -> Checked<BooleanBuffer> {
        let fault = |message: &str| Err(CutError::new(self.expression.at, message));
        let value = self.expression.evaluate(&self.fields, arrays)?;
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
            return Ok(if taken {
                BooleanBuffer::new_set(length)
            } else {
                BooleanBuffer::new_unset(length)
            });
        }
        if bits.len() != length {
            return fault("a field has another number of entries");
        }
        Ok(BooleanBuffer::collect_bool(length, |index| bits[index] && present(index)))
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
