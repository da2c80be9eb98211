//! The TTrees of a file that is being written.

use arrow_array::ArrayRef;
use arrow_schema::{Field, Schema};
use nyssa_jobs::filling::Tree;
use nyssa_root::{Error, Result};
use nyssa_ttree::write::TreeWriteOptions;

use super::{Given, OpenFile, given_column};
use crate::array::Array;

/// Returns columns in the order of the tree.
pub(super) fn in_order(tree: &Tree, given: &[Given]) -> Result<Vec<Array>> {
    tree.check_entries()?;
    let columns = tree.columns();
    let arrays = columns.rows(given)?.into_iter().zip(columns.fields());
    Ok(arrays.map(|(array, field)| given_column(field.name(), array)).collect())
}

impl OpenFile {
    pub(super) fn tree(&mut self, name: &str) -> Result<&mut Tree> {
        find(&mut self.trees, name)
    }

    /// Goes on with a tree of the file before its update.
    pub(super) fn append_tree(&mut self, name: &str) -> Result<(Vec<Array>, u64, Vec<String>)> {
        let compression = self.options.compression;
        let contexts = self.options.contexts;
        let options = TreeWriteOptions { compression, contexts, ..TreeWriteOptions::default() };
        let (writer, notes) = self.update(name)?.append_tree(name, options, &self.context)?;
        let column = |field: Field| {
            Array::new(arrow_array::new_empty_array(field.data_type()), field.into())
        };
        let columns = writer.columns().fields().into_iter().map(column).collect();
        let entries = writer.entries();
        self.trees.push(Tree::over(name, writer));
        Ok((columns, entries, notes))
    }

    pub(super) fn new_tree(
        &mut self,
        name: &str,
        schema: &Schema,
        options: TreeWriteOptions,
    ) -> Result<()> {
        self.trees.push(Tree::create(&self.file, name, schema, options, &self.context)?);
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
        tree.add_branches(self.update.as_ref(), schema, arrays, options)
    }
}

fn find<'a>(trees: &'a mut [Tree], name: &str) -> Result<&'a mut Tree> {
    let tree = trees.iter_mut().find(|tree| tree.name() == name);
    tree.ok_or_else(|| Error::not_found(format!("no TTree {name:?} is being written")))
}
