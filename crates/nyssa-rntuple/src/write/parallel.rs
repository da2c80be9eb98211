//! Lets many threads fill one RNTuple.
//!
//! Each thread has its own [`FillContext`], which takes rows without a lock. Threads of the pool encode and compress them
//! (`filler.rs`). A complete cluster gets its place under one short lock. After that its sealed pages are written to the file,
//! while other contexts write their pages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema as ArrowSchema;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::fill::{Order, Place, Turns, TurnsOptions, TurnsWriter};
use nyssa_root::rootfile::writer::Unwritten;

use super::cluster_builder::ClusterBuilder;
use super::cluster_target::{ClusterPage, ClusterTarget, SealedCluster};
use super::filler::{Filler, RowShredder};
use super::{RNTupleWriteOptions, SharedFile, WriteReport, Writer};
use crate::choose::set_requested_types;
use crate::heuristics::write;
use crate::page::SealedPage;
use crate::schema::{Schema, SchemaBuilder};
use crate::seal::SealSettings;

/// The writer of one RNTuple from many threads.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # use std::sync::Arc;
/// # use nyssa::arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// # use nyssa::arrow_schema::{DataType, Field, Schema};
/// # let folder = tempfile::tempdir().unwrap();
/// # let context = nyssa::Context::new(None)?;
/// # let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
/// # let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// # let file = nyssa::create(folder.path().join("out.root"), false)?;
/// # let options = nyssa::RNTupleWriteOptions::default();
/// let writer = file.parallel("Events", &schema, options, &context)?;
/// let mut rows = writer.context()?;
/// rows.extend(&[numbers])?;
/// rows.finish()?;
/// assert_eq!(writer.finish()?.entries, 3);
/// file.finish()?;
/// # Ok(())
/// # }
/// ```
pub struct ParallelWriter {
    shared: Arc<SharedWriter>,
}

/// The state that the contexts share.
struct SharedWriter {
    /// The schemas that rows may have: the first one, and one for each time that fields were added.
    schemas: Mutex<Vec<RowSchema>>,
    options: Arc<RNTupleWriteOptions>,
    context: Context,
    /// The maximum number of contexts.
    max_contexts: usize,
    turns: Arc<Turns<Writer>>,
}

/// A schema of rows.
#[derive(Clone)]
struct RowSchema {
    schema: Arc<Schema>,
    settings: SealSettings,
}

impl RowSchema {
    fn of(writer: &Writer) -> Self {
        let schema = Arc::new(writer.schema().clone());
        Self { schema, settings: writer.seal_settings(writer.options()) }
    }

    fn rows(&self) -> RowShredder {
        RowShredder::new(&self.schema, &self.settings)
    }
}

impl SharedWriter {
    fn schemas(&self) -> MutexGuard<'_, Vec<RowSchema>> {
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the newest schema for which `fits` is true.
    fn schema(&self, fits: impl Fn(&RowSchema) -> bool) -> Result<RowSchema> {
        let row_schema = self.schemas().iter().rev().find(|schema| fits(schema)).cloned();
        row_schema.ok_or_else(|| Error::invalid_argument("there is no such schema"))
    }

    /// Makes the builder of a context.
    fn builder(&self, RowSchema { schema, settings }: &RowSchema) -> Result<ClusterBuilder> {
        // In a fixed order, half of the memory is for queued clusters and for the cluster that leaves the queue.
        let builders = match self.turns.order() {
            Order::Completion => self.max_contexts,
            Order::RoundRobin => self.max_contexts.saturating_mul(2),
        };
        let (schema, options) = (Arc::clone(schema), Arc::clone(&self.options));
        ClusterBuilder::new(schema, settings.clone(), options, builders, &self.context, false)
    }
}

/// Refuses a fixed order of clusters whose pages are not buffered.
fn check_order(order: Order, options: &RNTupleWriteOptions) -> Result<()> {
    match order == Order::RoundRobin && !options.buffered {
        true => Err(Error::invalid_argument(
            "unbuffered pages are written as they come, so a fixed order of clusters needs \
             buffered writing",
        )),
        false => Ok(()),
    }
}

impl TurnsWriter for Writer {
    type Cluster = SealedCluster;

    const OBJECT: &'static str = "RNTuple";

    fn commit(&mut self, cluster: SealedCluster) -> Result<Unwritten> {
        let placed = self.placing(|writer| ClusterTarget::commit(writer, cluster));
        placed.map(|((), unwritten)| unwritten)
    }
}

impl ParallelWriter {
    /// Starts the RNTuple `path` in `file` for rows of `arrow`. Threads of `context` encode and compress them. It gives the
    /// default number of fill contexts, and can stop all of them.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that have no C++ type; `InvalidArgument` for options, names or a schema that
    /// cannot be written, and when the file already has that path.
    pub fn create(
        file: &SharedFile,
        path: &str,
        arrow: &ArrowSchema,
        options: RNTupleWriteOptions,
        order: Order,
        context: &Context,
    ) -> Result<Self> {
        let schema = Schema::from_arrow(arrow, options.compression)?;
        Self::with_schema(file, path, schema, options, order, context)
    }

    /// Starts the RNTuple `path` in `file` with the given schema.
    ///
    /// # Errors
    /// `InvalidArgument` for options, names or a schema that cannot be written, when the file already has that path,
    /// and for unbuffered writing in a fixed order.
    pub fn with_schema(
        file: &SharedFile,
        path: &str,
        mut schema: Schema,
        options: RNTupleWriteOptions,
        order: Order,
        context: &Context,
    ) -> Result<Self> {
        set_requested_types(&mut schema, &options.fields, options.compression, 0)?;
        // Before the path is taken.
        check_order(order, &options)?;
        Self::over(Writer::attach(file, path, schema, options)?, order, context)
    }

    /// Continues with a writer that has no open cluster.
    pub(super) fn over(writer: Writer, order: Order, context: &Context) -> Result<Self> {
        let (schema, options) = (RowSchema::of(&writer), writer.options().clone());
        check_order(order, &options)?;
        let max_contexts = options.contexts.unwrap_or_else(|| context.threads());
        let memory = options.memory / write::WAITING_DIVISOR;
        let turns = Turns::new(writer, TurnsOptions { order, max_contexts, memory });
        let shared = SharedWriter {
            schemas: Mutex::new(vec![schema]),
            options: Arc::new(options),
            context: context.clone(),
            max_contexts,
            turns: Arc::new(turns),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the newest schema, with its column types before any sample has chosen other types.
    pub fn schema(&self) -> Arc<Schema> {
        let schemas = self.shared.schemas();
        schemas.last().map(|newest| Arc::clone(&newest.schema)).unwrap_or_default()
    }

    /// Adds fields while contexts fill. A context sees them from the first call of [`FillContext::extend`] on that has
    /// arrays for them; its open cluster ends there. Its rows before, and the rows of contexts that never have such a call,
    /// have zeros, empty collections and invalid variants in these fields. New contexts see all fields.
    ///
    /// In clusters that are written before this call, the new columns are deferred columns (specification, "Column
    /// Description"). In clusters that come later without the fields, they have pages of zeros.
    ///
    /// # Errors
    /// `InvalidArgument` when a written field or column has changed, for new members of fields other than top-level
    /// untyped records, and for a schema that cannot be written; `Unsupported` for column types without a zero.
    pub fn extend_schema<T>(
        &self,
        extend: impl FnOnce(&mut SchemaBuilder) -> Result<T>,
    ) -> Result<T> {
        let mut schemas = self.shared.schemas();
        let (value, schema) = self.shared.turns.with(|writer| {
            let value = writer.extend_for_rows(extend, Writer::check_defaults)?;
            Ok((value, RowSchema::of(writer)))
        })?;
        schemas.push(schema);
        Ok(value)
    }

    /// Makes a new context, for one thread.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// # use std::sync::Arc;
    /// # use nyssa::arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use nyssa::arrow_schema::{DataType, Field, Schema};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let context = nyssa::Context::new(None)?;
    /// # let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    /// # let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    /// # let file = nyssa::create(folder.path().join("out.root"), false)?;
    /// # let options = nyssa::RNTupleWriteOptions::default();
    /// let writer = file.parallel("Events", &schema, options, &context)?;
    /// std::thread::scope(|scope| {
    ///     let thread = scope.spawn(|| {
    ///         let mut rows = writer.context()?;
    ///         rows.extend(&[numbers])?;
    ///         rows.finish()
    ///     });
    ///     thread.join().unwrap()
    /// })?;
    /// assert_eq!(writer.entries(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than [`RNTupleWriteOptions::contexts`], and in a fixed order after rows
    /// were added; `LimitExceeded` when the memory of a context is too small.
    pub fn context(&self) -> Result<FillContext> {
        let shared = &self.shared;
        let schema = shared.schema(|_| true)?;
        let cluster_builder = shared.builder(&schema)?;
        let place = shared.turns.place()?;
        let target = ContextTarget { place };
        // Contexts work beside one another.
        let line = Some(&Arc::default());
        let filler =
            Filler::new(schema.rows(), (cluster_builder, 0), target, &shared.context, line);
        Ok(FillContext { filler, shared: Arc::clone(shared) })
    }

    /// Returns the number of entries in committed clusters.
    pub fn entries(&self) -> u64 {
        self.shared.turns.with(|writer| Ok(writer.report().entries)).unwrap_or(0)
    }

    /// Completes the RNTuple. The file must be finished separately.
    ///
    /// # Errors
    /// `InvalidArgument` when a context is not finished, was dropped with entries in it, or failed; an error if the
    /// sink cannot be written.
    pub fn finish(self) -> Result<WriteReport> {
        self.into_writer()?.finish()
    }

    /// Returns the writer, which has received the clusters of all contexts.
    ///
    /// # Errors
    /// `InvalidArgument` when a context is not finished, was dropped with entries in it, or failed.
    pub fn into_writer(self) -> Result<Writer> {
        self.shared.turns.take_writer()
    }
}

/// The receiver of the rows of one thread. The rows of a context keep their order.
///
/// If a context is dropped with entries of an open cluster, for example in a thread that panics,
/// [`ParallelWriter::finish`] refuses to complete the RNTuple. [`FillContext::discard`] drops these entries
/// without an error.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # use std::sync::Arc;
/// # use nyssa::arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// # use nyssa::arrow_schema::{DataType, Field, Schema};
/// # let folder = tempfile::tempdir().unwrap();
/// # let context = nyssa::Context::new(None)?;
/// # let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
/// # let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// # let file = nyssa::create(folder.path().join("out.root"), false)?;
/// # let options = nyssa::RNTupleWriteOptions::default();
/// let writer = file.parallel("Events", &schema, options, &context)?;
/// let mut rows = writer.context()?;
/// rows.extend(&[numbers])?;
/// rows.finish()?;
/// # Ok(())
/// # }
/// ```
pub struct FillContext {
    filler: Filler<ContextTarget>,
    shared: Arc<SharedWriter>,
}

impl FillContext {
    /// Returns the schema of the rows.
    pub fn schema(&self) -> &Schema {
        self.filler.rows().schema()
    }

    /// Returns the number of entries that were added to this context.
    pub fn entries(&self) -> u64 {
        self.filler.entries()
    }

    /// Appends rows: one array of the same length for each top-level field that is not projected, in order. Fields that were
    /// added since an earlier call may be left out, until a call has them.
    ///
    /// Rows that are not written yet are copied, so the arrays may change after the call. Other threads encode, compress
    /// and write them. The call waits if they have no memory for more rows.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls. Then no row of this call is added, and
    /// all contexts can continue. After any other error (`Cancelled`, a failed sink), which may come from earlier rows, all
    /// contexts refuse more rows, and [`ParallelWriter::finish`] fails.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.begin()?;
        if arrays.len() > self.filler.rows().fields() {
            let fits = |schema: &RowSchema| schema.rows().fields() == arrays.len();
            if let Ok(schema) = self.shared.schema(fits) {
                self.follow(&schema)?;
            }
        }
        self.filler.extend(arrays)
    }

    /// Sees all fields that were added until now ([`ParallelWriter::extend_schema`]): later rows must have them. The open
    /// cluster ends. Only new members of records need this call; for new top-level fields, [`FillContext::extend`] does it.
    ///
    /// # Errors
    /// The error of earlier rows; `LimitExceeded` when the memory of a context is too small.
    pub fn see_new_fields(&mut self) -> Result<()> {
        self.begin()?;
        let schema = self.shared.schema(|_| true)?;
        self.follow(&schema)
    }

    fn follow(&mut self, schema: &RowSchema) -> Result<()> {
        self.filler.follow(schema.rows(), self.shared.builder(schema)?)
    }

    /// Appends the rows of a batch. Its columns are in the order of the schema.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls. Then no row of this call is added, and
    /// all contexts can continue. Any other error stops all contexts.
    pub fn extend_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.extend(batch.columns())
    }

    /// Returns the time that this context waited until other threads had compressed and written enough of its rows.
    pub fn stalled(&self) -> Duration {
        self.filler.stalled()
    }

    /// Ends the open cluster. Other threads commit it.
    ///
    /// # Errors
    /// The error of earlier rows, which stops all contexts.
    pub fn flush(&mut self) -> Result<()> {
        self.begin()?;
        self.filler.flush()
    }

    /// Commits the open cluster and ends the context.
    ///
    /// # Errors
    /// Returns an error if sealing fails or the sink cannot be written. The error stops all contexts.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.filler.with(|_, target| target.place.leave())
    }

    /// Ends the context and drops the entries of the open cluster. Returns their number.
    ///
    /// # Errors
    /// The reason of an earlier error.
    pub fn discard(mut self) -> Result<u64> {
        self.begin()?;
        self.filler.with(|builder, target| {
            target.place.leave()?;
            Ok(builder.open_entries())
        })
    }

    /// Checks that neither this context nor another has failed.
    fn begin(&self) -> Result<()> {
        self.filler.check()?;
        self.shared.turns.begin_rows()
    }
}

impl Drop for FillContext {
    fn drop(&mut self) {
        let broken = self.filler.is_broken();
        self.filler.at_rest(|builder, target| target.place.abandon(builder.open_entries(), broken));
    }
}

/// The target of the clusters of one context.
struct ContextTarget {
    place: Place<Writer>,
}

impl ClusterTarget for ContextTarget {
    fn failed(&mut self, error: &Error) {
        self.place.turns().fail(error);
    }

    fn commit(&mut self, cluster: SealedCluster) -> Result<()> {
        self.place.commit(cluster)
    }

    fn store(&mut self, pages: Vec<SealedPage>) -> Result<Vec<ClusterPage>> {
        // In a fixed order a context may not write to the file before its turn.
        if self.place.turns().order() == Order::RoundRobin {
            return Ok(pages.into_iter().map(ClusterPage::Sealed).collect());
        }
        let turns = self.place.turns();
        let (pages, unwritten) =
            turns.with(|writer| writer.placing(|writer| writer.store(pages)))?;
        turns.write(unwritten)?;
        Ok(pages)
    }
}
