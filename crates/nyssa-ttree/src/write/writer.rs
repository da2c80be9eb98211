//! Writes a tree from rows that come one after the other.

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::Result;
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
    filler: Filler,
    tree: StoredTree,
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
        Self { filler, tree }
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
    /// `InvalidArgument` for arrays that do not fit; then no row of this call is written. `Cancelled`; an error if
    /// the sink cannot be written.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.take(arrays.to_vec())
    }

    /// Appends rows: one array of the same length for each column of the schema, in order. The last row is freed
    /// before its baskets are compressed, since it may be very large.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit; then no row of this call is written. `Cancelled`; an error if
    /// the sink cannot be written.
    pub fn take(&mut self, arrays: Vec<ArrayRef>) -> Result<()> {
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
    /// Returns an error if the sink cannot be written.
    pub fn into_parallel(mut self, order: Order, context: &Context) -> Result<ParallelWriter> {
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
