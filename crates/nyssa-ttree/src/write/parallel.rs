//! Lets many threads fill one tree.
//!
//! Each thread has its own [`FillContext`], which fills baskets without a lock. Threads of the pool compress them, and hold
//! the baskets of the open cluster in memory. A complete cluster gets its place under one short lock. After that its baskets
//! are written to the file, while other contexts write their baskets.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::fill::{Order, Place, Turns, TurnsOptions};
use nyssa_root::shared_file::SharedFile;

use super::filler::Filler;
use super::filling::Filling;
use super::options::TreeWriteOptions;
use super::report::TreeReport;
use super::start::start;
use super::stored::StoredTree;
use super::target::{BasketTarget, BranchState, CompressedBasket, CompressedCluster};
use crate::heuristics::write;

/// The writer of one tree from many threads.
pub struct ParallelWriter {
    /// The branches without entries. Each context has its own copy.
    filler: Filler,
    turns: Arc<Turns<StoredTree>>,
}

impl ParallelWriter {
    /// Starts the tree `path` in `file` for rows with the columns of `schema`. Threads of `context` compress. It gives the
    /// default number of fill contexts, and can stop all of them.
    ///
    /// # Errors
    /// `InvalidArgument` for options and names that cannot be written, and when the file already has that path;
    /// `Unsupported` for types that a tree cannot hold.
    pub fn create(
        file: &SharedFile,
        path: &str,
        schema: &Schema,
        options: TreeWriteOptions,
        order: Order,
        context: &Context,
    ) -> Result<Self> {
        let (filler, tree) = start(file, path, schema, options, context)?;
        Ok(Self::over(filler, tree, order, context))
    }

    /// Continues a tree that has no open cluster.
    pub(super) fn over(filler: Filler, tree: StoredTree, order: Order, context: &Context) -> Self {
        let max_contexts = tree.options().contexts.unwrap_or_else(|| context.threads());
        let options = TurnsOptions { order, max_contexts, memory: write::WAITING };
        Self { filler, turns: Arc::new(Turns::new(tree, options)) }
    }

    /// Makes a new context, for one thread.
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than [`TreeWriteOptions::contexts`], and in a fixed order after rows were
    /// added.
    pub fn context(&self) -> Result<FillContext> {
        let place = self.turns.place()?;
        let filler = self.filler.fork();
        let target = OpenCluster { place, first: 0, baskets: Vec::new() };
        // Contexts work beside one another.
        let filling = Filling::new(filler, target, Some(&Arc::default()));
        Ok(FillContext { filling, turns: Arc::clone(&self.turns) })
    }

    /// Returns the number of entries in committed clusters.
    pub fn entries(&self) -> u64 {
        self.turns.with(|tree| Ok(tree.entries())).unwrap_or(0)
    }

    /// Completes the tree. The file must be finished separately.
    ///
    /// # Errors
    /// `InvalidArgument` when a context is not finished, was dropped with entries in it, or failed; an error if the
    /// sink cannot be written.
    pub fn finish(self) -> Result<TreeReport> {
        self.turns.take_writer()?.finish(self.filler.nominal())
    }
}

/// The receiver of the rows of one thread. The rows of a context keep their order.
///
/// If a context is dropped with entries of an open cluster, for example in a thread that panics,
/// [`ParallelWriter::finish`] refuses to complete the tree. [`FillContext::discard`] drops these entries without an
/// error.
pub struct FillContext {
    filling: Filling<OpenCluster>,
    turns: Arc<Turns<StoredTree>>,
}

impl FillContext {
    /// Returns the number of entries that were added to this context.
    pub fn entries(&self) -> u64 {
        self.filling.filler().entries()
    }

    /// Returns the time that this context waited until other threads had compressed and written enough of its baskets.
    pub fn stalled(&self) -> Duration {
        self.filling.baskets.stalled()
    }

    /// Appends rows: one array of the same length for each column of the schema, in order. Rows that are not written
    /// yet are copied, so the arrays may change after the call.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit. Then no row of this call is added, and all contexts can
    /// continue. After any other error (`Cancelled`, a failed sink), which may come from earlier rows, all
    /// contexts refuse more rows, and [`ParallelWriter::finish`] fails.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.begin()?;
        let taken = self.filling.extend(arrays.to_vec());
        self.note(taken)
    }

    /// Appends the rows of a batch. Its columns are in the order of the schema.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit. Then no row of this call is added, and all contexts can
    /// continue. Any other error stops all contexts.
    pub fn extend_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.extend(batch.columns())
    }

    /// Ends the open cluster. Other threads commit it.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written. The error stops all contexts.
    pub fn flush(&mut self) -> Result<()> {
        self.begin()?;
        let taken = self.filling.flush();
        self.note(taken)
    }

    /// Commits the open cluster and ends the context.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written. The error stops all contexts.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.filling.baskets.with(|cluster| cluster.place.leave())
    }

    /// Ends the context and drops the entries of the open cluster. Returns their number.
    ///
    /// # Errors
    /// The reason of an earlier error.
    pub fn discard(mut self) -> Result<u64> {
        self.begin()?;
        let (filler, baskets) = self.filling.settled()?;
        let lost = filler.open_entries();
        baskets.with(|cluster| cluster.place.leave()).map(|()| lost)
    }

    /// Checks that neither this context nor another has failed.
    fn begin(&self) -> Result<()> {
        self.filling.baskets.check()?;
        self.turns.begin_rows()
    }

    fn note(&mut self, taken: Result<()>) -> Result<()> {
        if let Err(error) = &taken
            && self.filling.filler().is_broken()
        {
            self.turns.fail(error);
        }
        taken
    }
}

impl Drop for FillContext {
    fn drop(&mut self) {
        let filling = &mut self.filling;
        let settled = filling.settled().is_ok();
        let broken = !settled || filling.filler().is_broken() || filling.baskets.is_broken();
        let lost = filling.filler().open_entries();
        // The turns hold an error, which `finish` of the tree returns.
        filling.baskets.at_rest(|cluster| cluster.place.abandon(lost, broken));
    }
}

/// The open cluster of one context.
struct OpenCluster {
    place: Place<StoredTree>,
    /// Its first entry, counted by the context.
    first: u64,
    baskets: Vec<CompressedBasket>,
}

impl BasketTarget for OpenCluster {
    fn store(&mut self, basket: CompressedBasket) -> Result<Option<Vec<u8>>> {
        self.baskets.push(basket);
        Ok(None)
    }

    fn failed(&mut self, error: &Error) {
        self.place.turns().fail(error);
    }

    fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()> {
        let (first, baskets) = (self.first, std::mem::take(&mut self.baskets));
        self.first = end;
        self.place.commit(CompressedCluster { first, entries: end - first, baskets, branches })
    }
}
