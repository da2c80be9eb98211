//! A TTree that callers fill.

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use nyssa_root::shared_file::SharedFile;
use nyssa_root::{Context, Error, Result};
use nyssa_ttree::write::{Order, TreeColumns, TreeWriteOptions, TreeWriter};

use super::{Rows, Slot};
use crate::update::Update;

/// A TTree that is being written.
pub struct Tree {
    name: String,
    columns: TreeColumns,
    /// The callers that give its entries.
    pub rows: Rows<TreeWriter>,
}

impl Tree {
    /// Starts the TTree `name` for rows with the columns of `schema`.
    ///
    /// # Errors
    /// `InvalidArgument` for options and names that cannot be written, and when the file already has that path;
    /// `Unsupported` for types that a tree cannot hold.
    pub fn create(
        file: &SharedFile,
        name: &str,
        schema: &Schema,
        options: TreeWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        Ok(Self::over(name, TreeWriter::create(file, name, schema, options, context)?))
    }

    /// Goes on with the TTree of a writer.
    pub fn over(name: &str, writer: TreeWriter) -> Self {
        Self { name: name.to_owned(), columns: writer.columns(), rows: Rows::new(writer) }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the columns of the rows.
    pub fn columns(&self) -> &TreeColumns {
        &self.columns
    }

    /// Returns an error if the tree takes no entries.
    ///
    /// # Errors
    /// `Unsupported` with the first branch that cannot be filled.
    pub fn check_entries(&self) -> Result<()> {
        match &self.rows {
            Rows::One(writer) => writer.check_entries(),
            _ => Ok(()),
        }
    }

    /// Makes a fill context.
    ///
    /// # Errors
    /// `Unsupported` for a tree that takes no entries; the errors of [`Rows::context`].
    pub fn context(&mut self, order: Order, context: &Context) -> Result<Slot> {
        self.check_entries()?;
        self.rows.context(order, context)
    }

    /// Adds branches with the values of all entries so far. `update` is the change of the file that has the tree.
    ///
    /// # Errors
    /// The errors of [`TreeWriter::add_branches`]; `InvalidArgument` once there are fill contexts.
    pub fn add_branches(
        &mut self,
        update: Option<&Update>,
        schema: &Schema,
        arrays: &[ArrayRef],
        options: &TreeWriteOptions,
    ) -> Result<()> {
        let writer = self.rows.writer()?;
        match update {
            Some(update) => update.add_branches(writer, schema, arrays, options)?,
            None => {
                let mut counts = |counter: &str| {
                    let message =
                        format!("no file has the counter {counter:?} of a tree that is new");
                    Err(Error::not_found(message))
                };
                writer.add_branches(schema, arrays, options, &mut counts)?;
            }
        }
        self.columns = writer.columns();
        Ok(())
    }
}
