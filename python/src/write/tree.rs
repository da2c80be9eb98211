//! The TTrees of a file that is being written.

use arrow_array::ArrayRef;
use arrow_schema::{Field, Schema};
use nyssa_jobs::filling::Rows;
use nyssa_root::{Error, Result};
use nyssa_ttree::write::{TreeColumns, TreeWriteOptions, TreeWriter};

use super::{Given, OpenFile, given_column};
use crate::array::Array;

/// A TTree that is being written.
pub(super) struct Tree {
    pub(super) name: String,
    columns: TreeColumns,
    pub(super) rows: Rows<TreeWriter>,
}

impl Tree {
    pub(super) fn new(name: String, writer: TreeWriter) -> Self {
        Self { name, columns: writer.columns(), rows: Rows::new(writer) }
    }

    /// Returns an error if the tree takes no entries.
    pub(super) fn check_entries(&self) -> Result<()> {
        match &self.rows {
            Rows::One(writer) => writer.check_entries(),
            _ => Ok(()),
        }
    }

    /// Returns columns in the order of the tree.
    pub(super) fn in_order(&self, given: &[Given]) -> Result<Vec<Array>> {
        self.check_entries()?;
        let arrays = self.columns.rows(given)?.into_iter().zip(self.columns.fields());
        Ok(arrays.map(|(array, field)| given_column(field.name(), array)).collect())
    }
}

impl OpenFile {
    pub(super) fn tree(&mut self, name: &str) -> Result<&mut Tree> {
        find(&mut self.trees, name)
    }

    /// Goes on with a tree of the file before its update.
    pub(super) fn append_tree(&mut self, name: String) -> Result<(Vec<Array>, u64, Vec<String>)> {
        let compression = self.options.compression;
        let contexts = self.options.contexts;
        let options = TreeWriteOptions { compression, contexts, ..TreeWriteOptions::default() };
        let (writer, notes) = self.update(&name)?.append_tree(&name, options, &self.context)?;
        let column = |field: Field| {
            Array::new(arrow_array::new_empty_array(field.data_type()), field.into())
        };
        let columns = writer.columns().fields().into_iter().map(column).collect();
        let entries = writer.entries();
        self.trees.push(Tree::new(name, writer));
        Ok((columns, entries, notes))
    }

    pub(super) fn new_tree(
        &mut self,
        name: String,
        schema: &Schema,
        options: TreeWriteOptions,
    ) -> Result<()> {
        let options = TreeWriteOptions { contexts: self.options.contexts, ..options };
        let writer = TreeWriter::create(&self.file, &name, schema, options, &self.context)?;
        self.trees.push(Tree::new(name, writer));
        Ok(())
    }

    /// Adds branches with the values of all entries so far.
    pub(super) fn add_branches(
        &mut self,
        name: &str,
        schema: &Schema,
        arrays: &[ArrayRef],
        options: &TreeWriteOptions,
    ) -> Result<()> {
        let tree = find(&mut self.trees, name)?;
        let writer = tree.rows.writer()?;
        match &self.update {
            Some(update) => update.add_branches(writer, schema, arrays, options)?,
            None => {
                let mut counts = |counter: &str| Err(no_tree(counter));
                writer.add_branches(schema, arrays, options, &mut counts)?;
            }
        }
        tree.columns = writer.columns();
        Ok(())
    }
}

fn find<'a>(trees: &'a mut [Tree], name: &str) -> Result<&'a mut Tree> {
    trees.iter_mut().find(|tree| tree.name == name).ok_or_else(|| no_tree(name))
}

fn no_tree(name: &str) -> Error {
    Error::not_found(format!("no TTree {name:?} is being written"))
}
