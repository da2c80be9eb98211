//! Defines [`Formula`], an expression of columns.

use std::fmt;

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::{DataType, Field};
use nyssa_root::error::{Error, Result};

use super::expression::{Expression, Kind, Known, Scope};
use super::value::Value;
use super::{CutError, parse, result};
use crate::dataset::ColumnInfo;

/// A parsed expression of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    pub(super) text: String,
    pub(super) expression: Expression,
    fields: Vec<String>,
}

impl Formula {
    /// Parses an expression.
    ///
    /// # Errors
    /// `InvalidArgument` with the place of the error.
    pub fn parse(text: &str) -> Result<Self> {
        let expression = parse::parse(text).map_err(|fault| fault.show(text))?;
        Ok(Self::of(text.to_owned(), expression))
    }

    pub(super) fn of(text: String, expression: Expression) -> Self {
        let mut fields = Vec::new();
        expression.fields(&mut fields);
        Self { text, expression, fields }
    }

    /// Returns the names of the columns that the expression needs, each once. Members are not included.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Returns whether the expression is only a name, possibly with members.
    pub fn is_name(&self) -> bool {
        matches!(self.expression.kind, Kind::Field(_))
    }

    /// Returns the field of the result.
    ///
    /// # Errors
    /// `NotFound` for unknown columns; `Unsupported` for columns that cannot be read; `InvalidArgument` for values
    /// that cannot be combined.
    pub fn field(&self, columns: &[ColumnInfo]) -> Result<Field> {
        let value = self.value(&self.empty(columns)?)?;
        let named = |name: &String| columns.iter().find(|column| column.name == *name);
        let fields =
            self.fields.iter().filter_map(named).filter_map(|item| item.field.as_ref().ok());
        let missing = value.valid.is_some() || fields.into_iter().any(has_missing);
        Ok(result::field(&value, missing).with_name(&self.text))
    }

    /// Computes the result for `length` entries from the arrays of [`Formula::fields`]. `field` comes from
    /// [`Formula::field`].
    ///
    /// # Errors
    /// `InvalidArgument` for values that cannot be combined, with their place in the expression.
    pub fn compute(&self, arrays: &[ArrayRef], length: usize, field: &Field) -> Result<ArrayRef> {
        self.compute_with(arrays, length, field, &Known::default())
    }

    /// Computes the result as [`Formula::compute`] does. It uses and adds to the values of aliases that are `known`.
    ///
    /// # Errors
    /// As for [`Formula::compute`].
    pub fn compute_with(
        &self,
        arrays: &[ArrayRef],
        length: usize,
        field: &Field,
        known: &Known,
    ) -> Result<ArrayRef> {
        let value = self.value_with(arrays, known)?;
        result::array(value, length, field).map_err(|message| self.fault(&message))
    }

    /// Returns empty arrays of the columns.
    pub(super) fn empty(&self, columns: &[ColumnInfo]) -> Result<Vec<ArrayRef>> {
        let empty = |name: &String| {
            let item = columns.iter().find(|item| item.name == *name);
            let field = match item.map(|item| &item.field) {
                Some(Ok(field)) => Ok(field),
                Some(Err(reason)) => Err(Error::unsupported(format!("this needs {reason}"))),
                None => {
                    let error = Error::not_found(format!("there is no field {name:?}"));
                    Err(error.suggest(name, columns.iter().map(|item| item.name.as_str())))
                }
            };
            let at = self.expression.position(name).unwrap_or(0);
            let field = field.map_err(|error| CutError { at, error }.show(&self.text))?;
            Ok(new_empty_array(field.data_type()))
        };
        self.fields.iter().map(empty).collect()
    }

    /// Returns the value for the arrays of the columns.
    pub(super) fn value(&self, arrays: &[ArrayRef]) -> Result<Value> {
        self.value_with(arrays, &Known::default())
    }

    fn value_with(&self, arrays: &[ArrayRef], known: &Known) -> Result<Value> {
        let value = self.expression.evaluate(&Scope { names: &self.fields, arrays, known });
        value.map_err(|fault| fault.show(&self.text))
    }

    /// Returns an error about the whole expression.
    pub(super) fn fault(&self, message: &str) -> Error {
        CutError::new(self.expression.at, message).show(&self.text)
    }
}

/// Returns whether values of a field may be missing.
fn has_missing(field: &Field) -> bool {
    let below = match field.data_type() {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => has_missing(item),
        DataType::Struct(members) => members.iter().any(|member| has_missing(member)),
        _ => false,
    };
    field.is_nullable() || below
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
