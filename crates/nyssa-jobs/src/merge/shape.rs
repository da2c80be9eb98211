//! Defines the shapes of inputs. Inputs with equal schemas have one shape.

use nyssa_rntuple::format::ExtraType;
use nyssa_rntuple::schema::{FieldId, Schema};

/// A schema that some inputs have.
#[derive(PartialEq)]
pub(super) struct Shape {
    /// The schema of the files, with two changes: collections that projected fields show have names that suit all
    /// shapes; and if everything is decoded, fields that are not projected in all shapes have their own data.
    pub schema: Schema,
    /// The schema of the files without changes.
    pub file: Schema,
    /// The fields of `file` for the top-level fields of `schema`.
    pub origins: Vec<FieldId>,
    pub extra_types: Vec<ExtraType>,
    /// The number of the first input with this schema.
    pub first: usize,
}
