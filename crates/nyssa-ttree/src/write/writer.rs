//! Writes a tree from rows that come one after the other.

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result};
use nyssa_root::fill::Order;
use nyssa_root::shared_file::SharedFile;

use super::filler::Filler;
use super::options::TreeWriteOptions;
use super::parallel::ParallelWriter;
use super::report::TreeReport;
use super::start::start;
use super::stored::StoredTree;
use super::tree_columns::TreeColumns;

/// Writes rows of Arrow arrays as one tree.
pub struct TreeWriter {
    pub(super) filler: Filler,
    pub(super) tree: StoredTree,
    /// The reason why an existing tree takes no entries.
    refused: Option<Error>,
}

impl TreeWriter {
    /// Starts the tree `path` in `file` for rows with the columns of `schema`.
    ///
    /// # Errors
    /// `InvalidArgument` for options and names that cannot be written, and when the file already has that path;
    /// `Unsupported` for types that a tree cannot hold.
    pub fn create(
        file: &SharedFile,
        path: &str,
        schema: &Schema,
        options: TreeWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        let (filler, tree) = start(file, path, schema, options, context)?;
        Ok(Self::over(filler, tree))
    }

    /// Continues with a filler and its tree.
    pub(super) fn over(filler: Filler, tree: StoredTree) -> Self {
        Self { filler, tree, refused: None }
    }

    /// Sets the reason why the tree takes no entries.
    pub(super) fn refusing(self, refused: Option<Error>) -> Self {
        Self { refused, ..self }
    }

    /// Returns an error if the tree takes no entries, although branches can be added to it.
    ///
    /// # Errors
    /// `Unsupported` with the first branch that cannot be filled.
    pub fn check_entries(&self) -> Result<()> {
        let Some(refused) = &self.refused else { return Ok(()) };
        let again = Error::new(refused.kind(), refused.message());
        Err(again.at(|place| *place = refused.place().clone()))
    }

    /// Returns the path of the tree, with the cycle if it is a tree that exists.
    pub fn object(&self) -> String {
        match self.tree.cycle() {
            Some(cycle) => format!("{};{cycle}", self.path()),
            None => self.path().to_owned(),
        }
    }

    /// Returns the path in the file.
    pub fn path(&self) -> &str {
        self.tree.path()
    }

    /// Returns the number of entries so far.
    pub fn entries(&self) -> u64 {
        self.filler.entries()
    }

    /// Returns the columns of the rows.
    pub fn columns(&self) -> TreeColumns {
        TreeColumns::new(self.tree.path(), self.filler.plan())
    }

    /// Appends rows: one array of the same length for each column of the schema, in order. Full baskets are written.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit; then no row of this call is written. `Unsupported` for an existing
    /// tree with a branch that cannot be filled. `Cancelled`; an error if the sink cannot be written.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.take(arrays.to_vec())
    }

    /// Appends rows: one array of the same length for each column of the schema, in order. The last row is freed
    /// before its baskets are compressed, since it may be very large.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit; then no row of this call is written. `Unsupported` for an existing
    /// tree with a branch that cannot be filled. `Cancelled`; an error if the sink cannot be written.
    pub fn take(&mut self, arrays: Vec<ArrayRef>) -> Result<()> {
        self.check_entries()?;
        self.filler.extend(arrays, &mut self.tree)
    }

    /// Ends the open cluster: all open baskets are written. Without this call, the options define where clusters end.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        self.filler.flush(&mut self.tree)
    }

    /// Compresses the next baskets of a branch in another way, with exactly this level.
    ///
    /// # Errors
    /// `NotFound` for a branch that the tree does not have.
    pub fn set_compression(&mut self, branch: &str, compression: Compression) -> Result<()> {
        self.filler.set_compression(branch, compression)?;
        self.tree.set_compression(branch, compression);
        Ok(())
    }

    /// Ends the open cluster, and lets many threads continue, each with its own rows.
    ///
    /// # Errors
    /// `Unsupported` for an existing tree with a branch that cannot be filled; an error if the sink cannot be written.
    pub fn into_parallel(mut self, order: Order, context: &Context) -> Result<ParallelWriter> {
        self.check_entries()?;
        self.flush()?;
        Ok(ParallelWriter::over(self.filler, self.tree, order, context))
    }

    /// Writes the open baskets and the tree itself. The file must be finished separately.
    ///
    /// # Errors
    /// `LimitExceeded` for a tree whose metadata have more than 1 GiB; an error if the sink cannot be written.
    pub fn finish(mut self) -> Result<TreeReport> {
        self.filler.finish(&mut self.tree)?;
        self.tree.set_end(self.filler.entries(), self.filler.states());
        self.tree.finish(self.filler.nominal())
    }
}
