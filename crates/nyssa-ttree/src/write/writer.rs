//! Writes a tree from rows that come one after the other.

use std::time::Duration;

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result};
use nyssa_root::fill::Order;
use nyssa_root::shared_file::SharedFile;

use super::filler::Filler;
use super::filling::Filling;
use super::options::TreeWriteOptions;
use super::parallel::ParallelWriter;
use super::report::TreeReport;
use super::start::start;
use super::stored::StoredTree;
use super::tree_columns::TreeColumns;

/// Writes rows of Arrow arrays as one tree. Threads of its context compress and write, so that [`TreeWriter::extend`] goes
/// on at once; with one thread, the caller does.
pub struct TreeWriter {
    pub(super) filling: Filling<StoredTree>,
    /// The path in the file.
    path: String,
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
        Ok(Self::over(filler, tree, file))
    }

    /// Continues with a filler and its tree in `file`.
    pub(super) fn over(filler: Filler, tree: StoredTree, file: &SharedFile) -> Self {
        let path = tree.path().to_owned();
        let line = tree.options().background.then(|| file.line());
        Self { filling: Filling::new(filler, tree, line), path, refused: None }
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
        self.refused.as_ref().map_or(Ok(()), |refused| Err(refused.clone()))
    }

    /// Returns the path of the tree, with the cycle if it is a tree that exists.
    pub fn object(&self) -> String {
        match self.filling.baskets.at_rest(|tree| tree.cycle()).flatten() {
            Some(cycle) => format!("{};{cycle}", self.path()),
            None => self.path().to_owned(),
        }
    }

    /// Returns the path in the file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the number of entries so far.
    pub fn entries(&self) -> u64 {
        self.filling.filler().entries()
    }

    /// Returns the columns of the rows.
    pub fn columns(&self) -> TreeColumns {
        TreeColumns::new(&self.path, self.filling.filler().plan())
    }

    /// Returns the time that calls waited until other threads had compressed and written enough baskets.
    pub fn stalled(&self) -> Duration {
        self.filling.baskets.stalled()
    }

    /// Appends rows: one array of the same length for each column of the schema, in order. Other threads write full
    /// baskets. The call waits if they have too many.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit; then no row of this call is written. `Unsupported` for an existing
    /// tree with a branch that cannot be filled. `Cancelled`; an error if the sink cannot be written, which may come from
    /// earlier rows.
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
        self.filling.extend(arrays)
    }

    /// Ends the open cluster: other threads write all open baskets. Without this call, the options define where clusters end.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        self.filling.flush()
    }

    /// Compresses the next baskets of a branch in another way, with exactly this level.
    ///
    /// # Errors
    /// `NotFound` for a branch that the tree does not have; the error of earlier rows.
    pub fn set_compression(&mut self, branch: &str, compression: Compression) -> Result<()> {
        let (filler, baskets) = self.filling.settled()?;
        baskets.with(|tree| {
            filler.set_compression(branch, compression)?;
            tree.set_compression(branch, compression);
            Ok(())
        })
    }

    /// Ends the open cluster, and lets many threads continue, each with its own rows.
    ///
    /// # Errors
    /// `Unsupported` for an existing tree with a branch that cannot be filled; an error if the sink cannot be written.
    pub fn into_parallel(mut self, order: Order, context: &Context) -> Result<ParallelWriter> {
        self.check_entries()?;
        self.flush()?;
        let (filler, tree) = self.filling.finish()?;
        Ok(ParallelWriter::over(filler, tree, order, context))
    }

    /// Writes the open baskets and the tree itself. The file must be finished separately.
    ///
    /// # Errors
    /// `LimitExceeded` for a tree whose metadata have more than 1 GiB; an error if the sink cannot be written.
    pub fn finish(self) -> Result<TreeReport> {
        let (filler, mut tree) = self.filling.finish()?;
        tree.set_end(filler.entries(), filler.states());
        tree.finish(filler.nominal())
    }
}
