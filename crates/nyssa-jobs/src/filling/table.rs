//! An RNTuple that callers fill, with its attribute sets.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{FieldRef, Schema as ArrowSchema};
use nyssa_rntuple::schema::{Classes, Schema, SchemaBuilder};
use nyssa_rntuple::write::{
    self, AttributeSetWriter, RNTupleWriteOptions, SharedFile, TableWriter, WriteReport,
};
use nyssa_root::{Context, Error, Result};

use super::Rows;

/// An RNTuple that is being written.
pub struct Table {
    name: String,
    schema: Arc<Schema>,
    /// The callers that give its entries.
    pub rows: Rows<TableWriter>,
    sets: Vec<(String, AttributeSetWriter)>,
}

impl Table {
    /// Starts the RNTuple `name`, whose types may use `classes`. These are described in the file as ROOT does it.
    ///
    /// # Errors
    /// `InvalidArgument` for options, names or a schema that cannot be written, and when the file already has that
    /// path; `LimitExceeded` when there is not enough memory.
    pub fn create(
        file: &SharedFile,
        name: &str,
        schema: Schema,
        classes: &Classes,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        let options = RNTupleWriteOptions { classes: classes.clone(), ..options };
        let writer = TableWriter::with_schema(file, name, schema, options, context)?;
        Ok(Self::over(name, writer))
    }

    /// Goes on with the RNTuple of a writer.
    pub fn over(name: &str, writer: TableWriter) -> Self {
        let schema = Arc::new(writer.schema().clone());
        Self { name: name.to_owned(), schema, rows: Rows::new(writer), sets: Vec::new() }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the schema of the rows.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns columns in the order of the RNTuple. Columns of projected fields become the columns of the fields that
    /// they show. Fields after the first `needed` ones came late: they may be left out, with all fields after them.
    ///
    /// # Errors
    /// `InvalidArgument` with missing and unknown fields.
    pub fn in_order(&self, given: &[(String, ArrayRef)], needed: usize) -> Result<Vec<ArrayRef>> {
        write::rows(&self.schema, &self.name, given, needed)
    }

    /// Adds fields. Earlier entries have zeros there, or, if there are `arrays`, their values.
    ///
    /// # Errors
    /// `InvalidArgument` for a name that is taken, for arrays that do not fit, and for values while contexts fill;
    /// `Unsupported` for members of records while contexts fill; the error of earlier rows.
    pub fn add_fields(
        &mut self,
        add: impl FnOnce(&mut SchemaBuilder) -> Result<()>,
        arrays: Option<&[ArrayRef]>,
    ) -> Result<()> {
        self.schema = match (arrays, self.rows.parallel()) {
            (None, Some(writer)) => {
                writer.extend_schema(|builder| {
                    let known = builder.schema().fields.len();
                    add(builder)?;
                    without_members(builder.schema(), known)
                })?;
                writer.schema()
            }
            _ => {
                let writer = self.rows.writer()?;
                match arrays {
                    Some(arrays) => writer.fill_fields(add, arrays)?,
                    None => writer.extend_schema(add)?,
                }
                Arc::new(writer.schema().clone())
            }
        };
        Ok(())
    }

    /// Adds fields with the types of Arrow fields. A name with dots is the path of a new member of a record.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that have no C++ type; the errors of [`Table::add_fields`].
    pub fn add_arrow_fields(
        &mut self,
        fields: &[FieldRef],
        arrays: Option<&[ArrayRef]>,
    ) -> Result<()> {
        self.add_fields(|builder| builder.arrow_fields(fields, &Classes::default()), arrays)
    }

    /// Begins an attribute set for rows of `schema`.
    ///
    /// # Errors
    /// `InvalidArgument` for a name or a schema that cannot be written, and once there are fill contexts.
    pub fn new_set(
        &mut self,
        set: &str,
        schema: &ArrowSchema,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<()> {
        let writer = self
            .rows
            .writer()?
            .with_writer(|main| AttributeSetWriter::create(main, set, schema, options, context))?;
        self.sets.push((set.to_owned(), writer));
        Ok(())
    }

    /// Returns the writer of an attribute set.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn set(&mut self, set: &str) -> Result<&mut AttributeSetWriter> {
        let writer = self.sets.iter_mut().find(|(known, _)| known == set);
        let (_, writer) = writer.ok_or_else(|| {
            Error::not_found(format!("{:?} has no attribute set {set:?}", self.name))
        })?;
        Ok(writer)
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// `InvalidArgument` when an attribute has a range that is not in the RNTuple; `Cancelled`; an error if the sink
    /// cannot be written.
    pub fn finish(self) -> Result<WriteReport> {
        let mut writer = self.rows.end()?;
        for (_, set) in self.sets {
            writer.link(set.finish()?)?;
        }
        writer.finish()
    }
}

/// Checks that the fields after the first `known` ones are no members of these. Contexts see new fields when they get their
/// arrays, which they cannot tell for members.
fn without_members(schema: &Schema, known: usize) -> Result<()> {
    let new = schema.fields.iter().skip(known);
    let mut above = new.filter_map(|field| field.parent.filter(|id| (id.0 as usize) < known));
    above.next().map_or(Ok(()), |record| {
        Err(Error::unsupported(format!(
            "the record {:?} gets no members while fill contexts write: add members before the first context",
            schema.path(record)
        )))
    })
}
