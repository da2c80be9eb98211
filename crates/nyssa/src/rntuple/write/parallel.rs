//! Lets many threads fill one RNTuple.
//!
//! Each thread has its own [`FillContext`], in which rows are buffered, encoded and compressed without a lock.
//! A complete cluster is committed under one short lock, while its sealed pages are written to the file.
//!
//! This is not the ordered pipeline of jobs: the callers use their own threads, no thread waits for another,
//! and which cluster is next is known only when it is complete.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema as ArrowSchema;

use super::cluster_builder::ClusterBuilder;
use super::cluster_queue::{ClusterQueue, QueuedCluster};
use super::cluster_target::{ClusterPage, ClusterTarget, SealedCluster};
use super::{RNTupleWriteOptions, SealSettings, SharedFile, WriteReport, Writer, choose_columns};
use crate::Context;
use crate::error::{Error, Result};
use crate::rntuple::page::SealedPage;
use crate::rntuple::schema::Schema;

/// The whole memory divided by this is the memory of queued clusters, in a fixed order.
const WAITING_DIVISOR: u64 = 8;

/// The order in which the clusters of fill contexts become entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The order in which they are completed. No cluster waits.
    #[default]
    Completion,
    /// One cluster of each context in turn, in the order in which the contexts were made. Finished contexts are
    /// skipped. The same rows in each context then make the same file, in whatever order the threads run. All
    /// contexts must be made before rows are added. A cluster that is complete before its turn waits in memory
    /// or in a temporary file. The thread that fills does not wait.
    RoundRobin,
}

impl FromStr for Order {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "completion" => Ok(Self::Completion),
            "round-robin" => Ok(Self::RoundRobin),
            _ => Err(Error::invalid_argument(format!(
                "order {text:?} is not known: use completion or round-robin"
            ))),
        }
    }
}

/// The writer of one RNTuple from many threads.
pub struct ParallelWriter {
    shared: Arc<Shared>,
}

/// The state that the contexts share.
struct Shared {
    schema: Arc<Schema>,
    settings: SealSettings,
    options: Arc<RNTupleWriteOptions>,
    order: Order,
    /// The maximum number of contexts.
    max_contexts: usize,
    context: Context,
    state: Mutex<State>,
}

struct State {
    /// The writer. `None` when the RNTuple is finished, and after an error.
    writer: Option<Writer>,
    /// The reason why the RNTuple cannot be completed.
    failed: Option<String>,
    contexts: Vec<ContextState>,
    /// The index of the context whose turn it is.
    turn: usize,
    /// The clusters that wait for their turn.
    queue: ClusterQueue,
    /// Whether a cluster was committed.
    begun: bool,
}

/// The state of one context that the writer knows.
#[derive(Default)]
struct ContextState {
    finished: bool,
    waiting: VecDeque<QueuedCluster>,
}

impl ParallelWriter {
    /// Starts the RNTuple `path` in `file` for rows of `arrow`. The contexts seal on the threads that fill
    /// them. `context` gives the default number of fill contexts, and can stop all of them.
    ///
    /// # Errors
    /// The errors of [`Schema::from_arrow`] and [`ParallelWriter::with_schema`].
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
    /// The errors of [`Writer::attach`]; `InvalidArgument` for unbuffered writing in a fixed order, which is
    /// not possible.
    pub fn with_schema(
        file: &SharedFile,
        path: &str,
        mut schema: Schema,
        options: RNTupleWriteOptions,
        order: Order,
        context: &Context,
    ) -> Result<Self> {
        choose_columns(&mut schema, &options.fields, options.compression, 0)?;
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
        let state = State {
            writer: Some(writer),
            failed: None,
            contexts: Vec::new(),
            turn: 0,
            queue: ClusterQueue::new(options.memory / WAITING_DIVISOR),
            begun: false,
        };
        let shared = Shared {
            settings,
            schema: Arc::new(schema),
            order,
            max_contexts: options.contexts.unwrap_or_else(|| context.threads()),
            options: Arc::new(options),
            context: context.clone(),
            state: Mutex::new(state),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the schema. Its column types are those before any was chosen from a sample.
    pub fn schema(&self) -> &Schema {
        &self.shared.schema
    }

    /// Makes a new context, for one thread.
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than [`RNTupleWriteOptions::contexts`], and in a fixed order after
    /// clusters were written; `LimitExceeded` when the memory of a context is too small.
    pub fn context(&self) -> Result<FillContext> {
        let shared = &self.shared;
        // In a fixed order, half of the memory is for queued clusters and for the one that leaves the queue.
        let builders = match shared.order {
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
        let mut state = shared.state();
        state.check()?;
        if state.contexts.iter().filter(|slot| !slot.finished).count() >= shared.max_contexts {
            return Err(Error::invalid_argument(format!(
                "there are {} fill contexts already, which share the memory: ask for more \
                 when the RNTuple is begun, or finish one",
                shared.max_contexts
            )));
        }
        if shared.order == Order::RoundRobin && state.begun {
            return Err(Error::invalid_argument(
                "in a fixed order all fill contexts have to be made before clusters are written",
            ));
        }
        state.contexts.push(ContextState::default());
        let slot = state.contexts.len() - 1;
        drop(state);
        Ok(FillContext {
            cluster_builder,
            port: ContextTarget { shared: Arc::clone(shared), slot },
            done: false,
        })
    }

    /// Returns the number of entries in committed clusters.
    pub fn entries(&self) -> u64 {
        self.shared.state().writer.as_ref().map_or(0, |writer| writer.report().entries)
    }

    /// Completes the RNTuple. The file must be finished separately.
    ///
    /// # Errors
    /// The errors of [`ParallelWriter::into_writer`] and [`Writer::finish`].
    pub fn finish(self) -> Result<WriteReport> {
        self.into_writer()?.finish()
    }

    /// Returns the writer, which has the clusters of all contexts.
    ///
    /// # Errors
    /// `InvalidArgument` when a context is not finished, was dropped with entries in it, or failed.
    pub fn into_writer(self) -> Result<Writer> {
        let mut state = self.shared.state();
        state.check()?;
        let open = state.contexts.iter().filter(|slot| !slot.finished).count();
        if open > 0 {
            let why = format!("{open} of {} fill contexts were not finished", state.contexts.len());
            state.fail(why);
            state.check()?;
        }
        state.writer.take().ok_or_else(ended)
    }
}

/// The receiver of the rows of one thread. The rows of a context keep their order.
///
/// If a context is dropped with entries of an open cluster, for example in a thread that panics,
/// [`ParallelWriter::finish`] refuses to complete the RNTuple. [`FillContext::discard`] drops these entries
/// without an error.
pub struct FillContext {
    cluster_builder: ClusterBuilder,
    port: ContextTarget,
    done: bool,
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
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls. Then no row of this call is
    /// added, and all contexts can continue. After any other error (`Cancelled`, those of the sink) all
    /// contexts refuse more rows, and [`ParallelWriter::finish`] fails.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.port.shared.state().check()?;
        let taken = self.cluster_builder.extend(arrays, &mut self.port);
        self.note(taken)
    }

    /// Appends the rows of a batch. Its columns are in the order of the schema.
    ///
    /// # Errors
    /// The same as [`FillContext::extend`].
    pub fn extend_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.extend(batch.columns())
    }

    /// Ends the open cluster and commits it.
    ///
    /// # Errors
    /// The same as [`FillContext::extend`].
    pub fn flush(&mut self) -> Result<()> {
        self.port.shared.state().check()?;
        let taken = self.cluster_builder.flush(&mut self.port);
        self.note(taken)
    }

    /// Commits the open cluster and ends the context.
    ///
    /// # Errors
    /// The same as [`FillContext::flush`].
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.end()
    }

    /// Ends the context and drops the entries of the open cluster. Returns their number.
    ///
    /// # Errors
    /// `InvalidArgument` after an error.
    pub fn discard(mut self) -> Result<u64> {
        let lost = self.cluster_builder.open_entries();
        self.port.shared.state().check()?;
        self.end().map(|()| lost)
    }

    fn end(&mut self) -> Result<()> {
        self.done = true;
        self.port.shared.end(self.port.slot)
    }

    fn note(&mut self, taken: Result<()>) -> Result<()> {
        if let Err(error) = &taken
            && self.cluster_builder.is_broken()
        {
            self.port.shared.state().fail(error.to_string());
        }
        taken
    }
}

impl Drop for FillContext {
    fn drop(&mut self) {
        let lost = self.cluster_builder.open_entries();
        let mut state = self.port.shared.state();
        if self.done {
            return;
        }
        if lost > 0 || self.cluster_builder.is_broken() {
            state.fail(format!("a fill context was dropped with {lost} entries in it"));
        }
        drop(state);
        // The state keeps an error, which `finish` then returns.
        let _ = self.end();
    }
}

/// The target of the clusters of one context.
struct ContextTarget {
    shared: Arc<Shared>,
    slot: usize,
}

impl ClusterTarget for ContextTarget {
    fn commit(&mut self, cluster: SealedCluster) -> Result<()> {
        let shared = &self.shared;
        let mut state = shared.state();
        state.check()?;
        state.begun = true;
        if shared.order == Order::Completion {
            return state.write(cluster);
        }
        let waiting =
            state.queue.push(cluster).inspect_err(|error| state.fail(error.to_string()))?;
        if let Some(slot) = state.contexts.get_mut(self.slot) {
            slot.waiting.push_back(waiting);
        }
        state.take_turns()
    }

    fn store(&mut self, pages: Vec<SealedPage>) -> Result<Vec<ClusterPage>> {
        // In a fixed order a context may not write to the file before its turn.
        if self.shared.order == Order::RoundRobin {
            return Ok(pages.into_iter().map(ClusterPage::Sealed).collect());
        }
        let mut state = self.shared.state();
        state.check()?;
        state.writer.as_mut().ok_or_else(ended)?.store(pages)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while a cluster is written leaves no writer (see `State::write`), so the next caller gets
        // an error.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a context as finished.
    fn end(&self, slot: usize) -> Result<()> {
        let mut state = self.state();
        if let Some(slot) = state.contexts.get_mut(slot) {
            slot.finished = true;
        }
        if self.order == Order::RoundRobin && state.failed.is_none() {
            state.take_turns()?;
        }
        Ok(())
    }
}

impl State {
    /// Fails after an error, and after the end.
    fn check(&self) -> Result<()> {
        match (&self.failed, &self.writer) {
            (Some(why), _) => {
                Err(Error::invalid_argument(format!("the RNTuple cannot be completed: {why}")))
            }
            (None, None) => Err(ended()),
            (None, Some(_)) => Ok(()),
        }
    }

    fn fail(&mut self, why: String) {
        self.failed.get_or_insert(why);
    }

    /// Writes a cluster. The writer is taken out of the state meanwhile. It is not put back after an error or a
    /// panic.
    fn write(&mut self, cluster: SealedCluster) -> Result<()> {
        let mut writer = self.writer.take().ok_or_else(ended)?;
        let written = writer.commit(cluster);
        match &written {
            Ok(()) => self.writer = Some(writer),
            Err(error) => self.fail(error.to_string()),
        }
        written
    }

    /// Writes the clusters whose turn it is.
    fn take_turns(&mut self) -> Result<()> {
        while self.contexts.iter().any(|slot| !slot.finished || !slot.waiting.is_empty()) {
            let turn = self.turn;
            let Some(slot) = self.contexts.get_mut(turn) else { return Ok(()) };
            match (slot.waiting.pop_front(), slot.finished) {
                (Some(waiting), _) => {
                    let cluster = self.queue.pop(waiting);
                    let cluster = cluster.inspect_err(|error| self.fail(error.to_string()))?;
                    self.write(cluster)?;
                }
                (None, true) => {}
                (None, false) => return Ok(()),
            }
            self.turn = (turn + 1) % self.contexts.len();
        }
        Ok(())
    }
}

fn ended() -> Error {
    Error::invalid_argument("the RNTuple is complete: it takes no more entries")
}
