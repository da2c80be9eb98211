//! Lets many threads fill one RNTuple.
//!
//! Each thread has its own [`FillContext`], in which rows are buffered, encoded and compressed without a lock.
//! A complete cluster is committed under one short lock, while its sealed pages are written to the file.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema as ArrowSchema;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::fill::{Order, Place, Turns, TurnsOptions, TurnsWriter};

use super::cluster_builder::ClusterBuilder;
use super::cluster_target::{ClusterPage, ClusterTarget, SealedCluster};
use super::{RNTupleWriteOptions, SharedFile, WriteReport, Writer};
use crate::choose::set_requested_types;
use crate::heuristics::write;
use crate::page::SealedPage;
use crate::schema::Schema;
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
    shared: Arc<Shared>,
}

/// The state that the contexts share.
struct Shared {
    schema: Arc<Schema>,
    settings: SealSettings,
    options: Arc<RNTupleWriteOptions>,
    context: Context,
    /// The maximum number of contexts.
    max_contexts: usize,
    turns: Arc<Turns<Writer>>,
}

impl TurnsWriter for Writer {
    type Cluster = SealedCluster;

    const OBJECT: &'static str = "RNTuple";

    fn commit(&mut self, cluster: SealedCluster) -> Result<()> {
        ClusterTarget::commit(self, cluster)
    }
}

impl ParallelWriter {
    /// Starts the RNTuple `path` in `file` for rows of `arrow`. The contexts seal on the threads that fill
    /// them. `context` gives the default number of fill contexts, and can stop all of them.
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
        Self::over(Writer::attach(file, path, schema, options)?, order, context)
    }

    /// Continues with a writer that has no open cluster.
    pub(super) fn over(writer: Writer, order: Order, context: &Context) -> Result<Self> {
        let (schema, options) = (writer.schema().clone(), writer.options().clone());
        if order == Order::RoundRobin && !options.buffered {
            return Err(Error::invalid_argument(
                "unbuffered pages are written as they come, so a fixed order of clusters needs \
                 buffered writing",
            ));
        }
        let settings = writer.seal_settings(&options);
        let max_contexts = options.contexts.unwrap_or_else(|| context.threads());
        let memory = options.memory / write::WAITING_DIVISOR;
        let turns = Turns::new(writer, TurnsOptions { order, max_contexts, memory });
        let shared = Shared {
            settings,
            schema: Arc::new(schema),
            options: Arc::new(options),
            context: context.clone(),
            max_contexts,
            turns: Arc::new(turns),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the schema, with its column types before any sample has chosen other types.
    pub fn schema(&self) -> &Schema {
        &self.shared.schema
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
    /// `InvalidArgument` for more contexts than [`RNTupleWriteOptions::contexts`], and in a fixed order after
    /// clusters were written; `LimitExceeded` when the memory of a context is too small.
    pub fn context(&self) -> Result<FillContext> {
        let shared = &self.shared;
        // In a fixed order, half of the memory is for queued clusters and for the cluster that leaves the queue.
        let builders = match shared.turns.order() {
            Order::Completion => shared.max_contexts,
            Order::RoundRobin => 2 * shared.max_contexts,
        };
        let cluster_builder = ClusterBuilder::new(
            Arc::clone(&shared.schema),
            shared.settings.clone(),
            Arc::clone(&shared.options),
            builders,
            &shared.context,
            false,
        )?;
        let place = shared.turns.place()?;
        Ok(FillContext {
            cluster_builder,
            port: ContextTarget { shared: Arc::clone(shared), place, stalled: Duration::ZERO },
        })
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
    cluster_builder: ClusterBuilder,
    port: ContextTarget,
}

impl FillContext {
    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.port.shared.schema
    }

    /// Returns the number of entries that were added to this context.
    pub fn entries(&self) -> u64 {
        self.cluster_builder.entries()
    }

    /// Appends rows: one array of the same length for each top-level field that is not projected, in order.
    /// Rows that are not written yet are copied, so the arrays may change after the call.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls. Then no row of this call is added, and
    /// all contexts can continue. After any other error (`Cancelled`, a failed sink) all contexts refuse more rows,
    /// and [`ParallelWriter::finish`] fails.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.port.shared.turns.check()?;
        let taken = self.cluster_builder.extend(arrays, &mut self.port);
        self.note(taken)
    }

    /// Appends the rows of a batch. Its columns are in the order of the schema.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls. Then no row of this call is added, and
    /// all contexts can continue. Any other error stops all contexts.
    pub fn extend_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.extend(batch.columns())
    }

    /// Returns the time that this context waited while complete clusters were written, of others and its own.
    pub fn stalled(&self) -> Duration {
        self.port.stalled
    }

    /// Ends the open cluster and commits it.
    ///
    /// # Errors
    /// Returns an error if sealing fails or the sink cannot be written. The error stops all contexts.
    pub fn flush(&mut self) -> Result<()> {
        self.port.shared.turns.check()?;
        let taken = self.cluster_builder.flush(&mut self.port);
        self.note(taken)
    }

    /// Commits the open cluster and ends the context.
    ///
    /// # Errors
    /// Returns an error if sealing fails or the sink cannot be written. The error stops all contexts.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.port.place.leave()
    }

    /// Ends the context and drops the entries of the open cluster. Returns their number.
    ///
    /// # Errors
    /// `InvalidArgument` after an error.
    pub fn discard(mut self) -> Result<u64> {
        let lost = self.cluster_builder.open_entries();
        self.port.shared.turns.check()?;
        self.port.place.leave().map(|()| lost)
    }

    fn note(&mut self, taken: Result<()>) -> Result<()> {
        if let Err(error) = &taken
            && self.cluster_builder.is_broken()
        {
            self.port.shared.turns.fail(error.to_string());
        }
        taken
    }
}

impl Drop for FillContext {
    fn drop(&mut self) {
        let (lost, broken) =
            (self.cluster_builder.open_entries(), self.cluster_builder.is_broken());
        self.port.place.abandon(lost, broken);
    }
}

/// The target of the clusters of one context.
struct ContextTarget {
    shared: Arc<Shared>,
    place: Place<Writer>,
    /// The time that the context waited for its turn to write, and wrote.
    stalled: Duration,
}

impl ClusterTarget for ContextTarget {
    fn commit(&mut self, cluster: SealedCluster) -> Result<()> {
        let start = Instant::now();
        let committed = self.place.commit(cluster);
        self.stalled += start.elapsed();
        committed
    }

    fn store(&mut self, pages: Vec<SealedPage>) -> Result<Vec<ClusterPage>> {
        // In a fixed order a context may not write to the file before its turn.
        if self.place.turns().order() == Order::RoundRobin {
            return Ok(pages.into_iter().map(ClusterPage::Sealed).collect());
        }
        self.place.turns().with(|writer| writer.store(pages))
    }
}
