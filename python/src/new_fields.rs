//! Makes fields of an RNTuple of Arrow fields.

use std::sync::Arc;

use arrow_schema::Field;
use nyssa_rntuple::schema::{Classes, FieldType, Nullable, SchemaBuilder};
use nyssa_root::Result;

/// Adds fields with the types of Arrow fields. Nullable fields become optional.
pub fn add_fields(
    builder: &mut SchemaBuilder,
    fields: &[Arc<Field>],
    classes: &Classes,
) -> Result<()> {
    fields.iter().try_for_each(|field| {
        let field_type = FieldType::from_arrow_with(field, classes, Nullable::Optional)?;
        builder.field(None, field.name(), &field_type).map(drop)
    })
}
