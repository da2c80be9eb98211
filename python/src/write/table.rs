//! The RNTuples of a file that is being written.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use arrow_schema::{FieldRef, Schema};
use nyssa_jobs::filling::Table;
use nyssa_rntuple::schema::{Classes, FieldId, Schema as Described, SchemaBuilder};
use nyssa_rntuple::write::RNTupleWriteOptions;
use nyssa_root::{Error, Result};

use super::{Fields, Given, OpenFile, given_column};
use crate::array::Array;
use crate::field_form::row_fields;

/// Returns columns in the order of the RNTuple.
pub(super) fn in_order(table: &Table, given: &[Given], needed: usize) -> Result<Vec<Array>> {
    let arrays = table.in_order(given, needed)?;
    let fields = table.schema().top_level().filter(|(_, field)| field.source.is_none());
    let columns = arrays.into_iter().zip(fields);
    Ok(columns.map(|(array, (_, field))| given_column(&field.name, array)).collect())
}

/// Adds fields, with zeros or, if `filled`, the values of `arrays` for the entries so far.
pub(super) fn add_fields(
    table: &mut Table,
    fields: &[FieldRef],
    arrays: &[ArrayRef],
    filled: bool,
) -> Result<Fields> {
    table.add_arrow_fields(fields, filled.then_some(arrays))?;
    Ok(row_fields(table.schema()))
}

/// Sets the descriptions of fields, by their paths.
///
/// # Errors
/// `InvalidArgument` for a path that is of no field.
fn describe(schema: &mut Described, descriptions: &HashMap<String, String>) -> Result<()> {
    if descriptions.is_empty() {
        return Ok(());
    }
    let paths: HashMap<String, usize> = (0_u32..)
        .zip(0..schema.fields.len())
        .map(|(id, index)| (schema.path(FieldId(id)), index))
        .collect();
    for (path, text) in descriptions {
        match paths.get(path).and_then(|&index| schema.fields.get_mut(index)) {
            Some(field) => field.description.clone_from(text),
            None => {
                let message = format!("{path:?} is described, but there is no such field");
                return Err(Error::invalid_argument(message));
            }
        }
    }
    Ok(())
}

impl OpenFile {
    pub(super) fn table(&mut self, name: &str) -> Result<&mut Table> {
        let table = self.tables.iter_mut().find(|table| table.name() == name);
        table.ok_or_else(|| Error::not_found(format!("no RNTuple {name:?} is being written")))
    }

    /// Goes on with an RNTuple of the file before its update.
    pub(super) fn append(&mut self, name: &str) -> Result<(Fields, u64)> {
        let options = self.options.clone();
        let writer = self.update(name)?.append(name, options, &self.context)?;
        let fields = row_fields(writer.schema());
        let entries = writer.entries();
        self.tables.push(Table::over(name, writer));
        Ok((fields, entries))
    }

    pub(super) fn new_table(
        &mut self,
        name: &str,
        fields: &[FieldRef],
        classes: &Classes,
        projections: Vec<(String, String)>,
        descriptions: &HashMap<String, String>,
        options: RNTupleWriteOptions,
    ) -> Result<Fields> {
        let mut builder = SchemaBuilder::new(options.compression);
        builder.arrow_fields(fields, classes)?;
        for (field, path) in projections {
            builder.project_path(&field, &path)?;
        }
        let mut schema = builder.finish();
        describe(&mut schema, descriptions)?;
        if schema.has_streamed_objects() && options.streamer_infos.is_empty() {
            return Err(Error::invalid_argument(
                "streamed objects need the streamer infos of their class, as in \
                 classes={\"Hit\": {\":streamed\": \"a file that has them.root\"}}",
            ));
        }
        let table = Table::create(&self.file, name, schema, classes, options, &self.context)?;
        let fields = row_fields(table.schema());
        self.tables.push(table);
        Ok(fields)
    }

    /// Begins an attribute set of the RNTuple `name`.
    pub(super) fn new_set(&mut self, name: &str, set: &str, schema: &Schema) -> Result<()> {
        let (options, context) = (self.options.clone(), self.context.clone());
        self.table(name)?.new_set(set, schema, options, &context)
    }
}
