//! The schemas of inputs; equal ones are one shape.

use crate::rntuple::format::ExtraType;
use crate::rntuple::schema::{FieldId, Schema};

/// A schema that some inputs have.
#[derive(PartialEq)]
pub(super) struct Shape {
    /// As in the files, but collections that projected fields show have names that suit all shapes, and
    /// where all is decoded, fields that are not projected in all shapes have data of their own.
    pub schema: Schema,
    /// The schema as the files have it.
    pub file: Schema,
    /// Names the fields there, by the top-level fields of `schema`.
    pub origins: Vec<FieldId>,
    pub extra_types: Vec<ExtraType>,
    /// The number of the first input that has it.
    pub first: usize,
}
