//! The RNTuples of a file that is being written.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{FieldRef, Schema};
use nyssa_rntuple::schema::{Classes, SchemaBuilder};
use nyssa_rntuple::write::{self, AttributeSetWriter, RNTupleWriteOptions, TableWriter};
use nyssa_root::{Error, Result};

use super::{Fields, Given, State, given_column};
use crate::array::Array;
use crate::field_form::row_fields;
use crate::new_fields::add_fields;
use crate::rows::Rows;

/// An RNTuple that is being written.
pub(super) struct Table {
    name: String,
    schema: Arc<nyssa_rntuple::schema::Schema>,
    pub(super) rows: Rows<TableWriter>,
    sets: Vec<(String, AttributeSetWriter)>,
}

impl Table {
    fn new(name: String, writer: TableWriter) -> Self {
        let schema = Arc::new(writer.schema().clone());
        Self { name, schema, rows: Rows::new(writer), sets: Vec::new() }
    }

    /// Returns columns in the order of the RNTuple.
    pub(super) fn in_order(&self, given: &[Given]) -> Result<Vec<Array>> {
        let arrays = write::rows(&self.schema, &self.name, given)?;
        let fields = self.schema.top_level().filter(|(_, field)| field.source.is_none());
        Ok(arrays
            .into_iter()
            .zip(fields)
            .map(|(array, (_, field))| given_column(&field.name, array))
            .collect())
    }

    /// Adds fields, with zeros or, if `filled`, the values of `arrays` for the entries so far.
    pub(super) fn add_fields(
        &mut self,
        fields: &[FieldRef],
        arrays: &[ArrayRef],
        filled: bool,
    ) -> Result<Fields> {
        let extend = |builder: &mut SchemaBuilder| add_fields(builder, fields, &Classes::default());
        self.schema = match (filled, self.rows.parallel()) {
            (false, Some(writer)) => {
                writer.extend_schema(extend)?;
                writer.schema()
            }
            _ => {
                let writer = self.rows.writer()?;
                match filled {
                    true => writer.fill_fields(extend, arrays)?,
                    false => writer.extend_schema(extend)?,
                }
                Arc::new(writer.schema().clone())
            }
        };
        Ok(row_fields(&self.schema))
    }

    pub(super) fn set(&mut self, set: &str) -> Result<&mut AttributeSetWriter> {
        let writer = self.sets.iter_mut().find(|(known, _)| known == set);
        let (_, writer) = writer.ok_or_else(|| {
            Error::not_found(format!("{:?} has no attribute set {set:?}", self.name))
        })?;
        Ok(writer)
    }

    /// Writes the remaining entries.
    pub(super) fn finish(self) -> Result<()> {
        let mut writer = self.rows.end()?;
        for (_, set) in self.sets {
            writer.link(set.finish()?)?;
        }
        writer.finish()?;
        Ok(())
    }
}

impl State {
    pub(super) fn table(&mut self, name: &str) -> Result<&mut Table> {
        let table = self.tables.iter_mut().find(|table| table.name == name);
        table.ok_or_else(|| Error::not_found(format!("no RNTuple {name:?} is being written")))
    }

    /// Goes on with an RNTuple of the file before its update.
    pub(super) fn append(&mut self, name: String) -> Result<(Fields, u64)> {
        let options = self.options.clone();
        let writer = self.update(&name)?.append(&name, options, &self.context)?;
        let fields = row_fields(writer.schema());
        let entries = writer.entries();
        self.tables.push(Table::new(name, writer));
        Ok((fields, entries))
    }

    pub(super) fn new_table(
        &mut self,
        name: String,
        fields: &[FieldRef],
        classes: &Classes,
        projections: Vec<(String, String)>,
        options: RNTupleWriteOptions,
    ) -> Result<Fields> {
        let options = RNTupleWriteOptions { classes: classes.clone(), ..options };
        let mut builder = SchemaBuilder::new(options.compression);
        add_fields(&mut builder, fields, classes)?;
        for (field, path) in projections {
            builder.project_path(&field, &path)?;
        }
        let schema = builder.finish();
        if schema.has_streamed_objects() && options.streamer_infos.is_empty() {
            return Err(Error::invalid_argument(
                "streamed objects need the streamer infos of their class, as in \
                 classes={\"Hit\": {\":streamed\": \"a file that has them.root\"}}",
            ));
        }
        let writer = TableWriter::with_schema(&self.file, &name, schema, options, &self.context)?;
        let fields = row_fields(writer.schema());
        self.tables.push(Table::new(name, writer));
        Ok(fields)
    }

    /// Begins an attribute set of the RNTuple `name`.
    pub(super) fn new_set(&mut self, name: &str, set: String, schema: &Schema) -> Result<()> {
        let (options, context) = (self.options.clone(), self.context.clone());
        let table = self.table(name)?;
        let writer = table.rows.writer()?.with_writer(|main| {
            AttributeSetWriter::create(main, &set, schema, options, &context)
        })?;
        table.sets.push((set, writer));
        Ok(())
    }
}
