//! Many threads fill one RNTuple.
//!
//! Each thread has a [`FillContext`] of its own: rows are buffered, encoded and compressed there,
//! without a lock. A complete cluster is committed under one short lock, in which its sealed pages go
//! to the file.
//!
//! This is not the ordered pipeline of jobs: callers bring the rows on threads of their own, nobody waits for
//! anybody, and which cluster comes next is not known before it is complete.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema as ArrowSchema;

use super::cluster_builder::ClusterBuilder;
use super::cluster_queue::{ClusterQueue, QueuedCluster};
use super::cluster_target::{ClusterTarget, Page, SealedCluster};
use super::{Options, Report, SealSettings, SharedFile, Writer, choose_columns};
use crate::Context;
use crate::error::{Error, Result};
use crate::rntuple::page::SealedPage;
use crate::rntuple::schema::Schema;

/// In a fixed order, one part in so many of the memory is for clusters that wait.
const WAITING_DIVISOR: u64 = 8;

/// The order in which the clusters of fill contexts become entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are complete: nobody waits.
    #[default]
    Completion,
    /// One cluster of each context in turn, in the order in which the contexts were made; those that
    /// are finished are left out. The same rows in each context then give the same file, whatever
    /// the threads do. All contexts have to be made before the first one is filled. Clusters that
    /// come before their turn wait, in a part of the memory or else in a temporary file; who fills
    /// never waits.
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

/// Writes one RNTuple from many threads.
pub struct ParallelWriter {
    shared: Arc<Shared>,
}

/// What all contexts share.
struct Shared {
    schema: Arc<Schema>,
    settings: SealSettings,
    options: Arc<Options>,
    order: Order,
    /// Contexts there may be.
    most: usize,
    context: Context,
    state: Mutex<State>,
}

struct State {
    /// `None` once finished or after an error.
    writer: Option<Writer>,
    /// Why there will be no RNTuple.
    failed: Option<String>,
    slots: Vec<Slot>,
    /// The slot whose turn it is.
    turn: usize,
    /// Where clusters wait for their turn.
    room: ClusterQueue,
    /// Something has been committed.
    begun: bool,
}

/// One context, as the writer sees it.
#[derive(Default)]
struct Slot {
    finished: bool,
    waiting: VecDeque<QueuedCluster>,
}

impl ParallelWriter {
    /// Begins the RNTuple `path` in `file` for rows of `arrow`. The contexts seal on the threads
    /// that fill them; `context` says how many there may be by default, and stops them all.
    ///
    /// # Errors
    /// As [`Schema::from_arrow`] and [`ParallelWriter::with_schema`].
    pub fn create(
        file: &SharedFile,
        path: &str,
        arrow: &ArrowSchema,
        options: Options,
        order: Order,
        context: &Context,
    ) -> Result<Self> {
        let schema = Schema::from_arrow(arrow, options.compression)?;
        Self::with_schema(file, path, schema, options, order, context)
    }

    /// Begins the RNTuple `path` in `file` with a schema of one's own.
    ///
    /// # Errors
    /// As [`Writer::attach`]; `InvalidArgument` for unbuffered writing in a fixed order, which
    /// contradict each other.
    pub fn with_schema(
        file: &SharedFile,
        path: &str,
        mut schema: Schema,
        options: Options,
        order: Order,
        context: &Context,
    ) -> Result<Self> {
        choose_columns(&mut schema, &options.fields, options.compression, 0)?;
        Self::over(Writer::attach(file, path, schema, options)?, order, context)
    }

    /// Goes on with a writer between clusters.
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
            slots: Vec::new(),
            turn: 0,
            room: ClusterQueue::new(options.memory / WAITING_DIVISOR),
            begun: false,
        };
        let shared = Shared {
            settings,
            schema: Arc::new(schema),
            order,
            most: options.contexts.unwrap_or_else(|| context.threads()),
            options: Arc::new(options),
            context: context.clone(),
            state: Mutex::new(state),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The schema, with column types as they were before any were chosen by looking.
    pub fn schema(&self) -> &Schema {
        &self.shared.schema
    }

    /// A new context, for one thread.
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than [`Options::contexts`], or when in a fixed order one
    /// has begun to be filled; `LimitExceeded` when a context's share of the memory is too little.
    pub fn context(&self) -> Result<FillContext> {
        let shared = &self.shared;
        // In a fixed order, half of the memory is for clusters that wait and the one that leaves.
        let builders = match shared.order {
            Order::Completion => shared.most,
            Order::RoundRobin => 2 * shared.most,
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
        if state.slots.iter().filter(|slot| !slot.finished).count() >= shared.most {
            return Err(Error::invalid_argument(format!(
                "there are {} fill contexts already, among whom the memory is shared: ask for more \
                 when the RNTuple is begun, or finish one",
                shared.most
            )));
        }
        if shared.order == Order::RoundRobin && state.begun {
            return Err(Error::invalid_argument(
                "in a fixed order all fill contexts have to be made before clusters are written",
            ));
        }
        state.slots.push(Slot::default());
        let slot = state.slots.len() - 1;
        drop(state);
        Ok(FillContext {
            cluster_builder,
            port: Port { shared: Arc::clone(shared), slot },
            done: false,
        })
    }

    /// Entries in committed clusters.
    pub fn entries(&self) -> u64 {
        self.shared.state().writer.as_ref().map_or(0, |writer| writer.report().entries)
    }

    /// Completes the RNTuple; the file is finished on its own.
    ///
    /// # Errors
    /// As [`ParallelWriter::into_writer`] and [`Writer::finish`].
    pub fn finish(self) -> Result<Report> {
        self.into_writer()?.finish()
    }

    /// The writer with the clusters of all contexts.
    ///
    /// # Errors
    /// `InvalidArgument` when a context is not finished, or was lost with entries in it, or failed.
    pub fn into_writer(self) -> Result<Writer> {
        let mut state = self.shared.state();
        state.check()?;
        let open = state.slots.iter().filter(|slot| !slot.finished).count();
        if open > 0 {
            let why = format!("{open} of {} fill contexts were not finished", state.slots.len());
            state.fail(why);
            state.check()?;
        }
        state.writer.take().ok_or_else(ended)
    }
}

/// Takes the rows of one thread. Rows keep their order within a context.
///
/// A context that is dropped with entries that are in no cluster yet, as in a thread that panics,
/// spoils the RNTuple: [`ParallelWriter::finish`] refuses to complete it. [`FillContext::discard`]
/// gives these entries up instead.
pub struct FillContext {
    cluster_builder: ClusterBuilder,
    port: Port,
    done: bool,
}

impl FillContext {
    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.port.shared.schema
    }

    /// Entries given to this context so far.
    pub fn entries(&self) -> u64 {
        self.cluster_builder.entries()
    }

    /// Appends rows: one array for each top-level field that is not projected, in order, all of one
    /// length. What is not written yet is copied: the arrays may change after the call.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls: nothing of this call
    /// is taken, and the context and all others go on. Any other error (`Cancelled`, those of the
    /// sink) ends the writing: all contexts refuse what follows, and so does
    /// [`ParallelWriter::finish`].
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.port.shared.state().check()?;
        let taken = self.cluster_builder.extend(arrays, &mut self.port);
        self.note(taken)
    }

    /// Appends the rows of a batch; columns in the order of the schema.
    ///
    /// # Errors
    /// As [`FillContext::extend`].
    pub fn extend_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.extend(batch.columns())
    }

    /// Commits what is buffered as a cluster of its own.
    ///
    /// # Errors
    /// As [`FillContext::extend`].
    pub fn flush(&mut self) -> Result<()> {
        self.port.shared.state().check()?;
        let taken = self.cluster_builder.flush(&mut self.port);
        self.note(taken)
    }

    /// Commits what is left and ends the context.
    ///
    /// # Errors
    /// As [`FillContext::flush`].
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.end()
    }

    /// Ends the context without the entries that are in no cluster yet; their number.
    ///
    /// # Errors
    /// `InvalidArgument` after an error, which cannot be undone.
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
        // An error here is kept for `finish`.
        let _ = self.end();
    }
}

/// Where the clusters of one context go.
struct Port {
    shared: Arc<Shared>,
    slot: usize,
}

impl ClusterTarget for Port {
    fn commit(&mut self, cluster: SealedCluster) -> Result<()> {
        let shared = &self.shared;
        let mut state = shared.state();
        state.check()?;
        state.begun = true;
        if shared.order == Order::Completion {
            return state.write(cluster);
        }
        let waiting =
            state.room.enter(cluster).inspect_err(|error| state.fail(error.to_string()))?;
        if let Some(slot) = state.slots.get_mut(self.slot) {
            slot.waiting.push_back(waiting);
        }
        state.take_turns()
    }

    fn store(&mut self, pages: Vec<SealedPage>) -> Result<Vec<Page>> {
        // In a fixed order nothing may go to the file before its turn.
        if self.shared.order == Order::RoundRobin {
            return Ok(pages.into_iter().map(Page::Sealed).collect());
        }
        let mut state = self.shared.state();
        state.check()?;
        state.writer.as_mut().ok_or_else(ended)?.store(pages)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while a cluster is written leaves no writer behind (see `State::write`), so
        // whoever comes next is told.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A context is finished.
    fn end(&self, slot: usize) -> Result<()> {
        let mut state = self.state();
        if let Some(slot) = state.slots.get_mut(slot) {
            slot.finished = true;
        }
        if self.order == Order::RoundRobin && state.failed.is_none() {
            state.take_turns()?;
        }
        Ok(())
    }
}

impl State {
    /// Refuses to go on after an error or the end.
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

    /// Writes a cluster. The writer is away meanwhile: when this panics or fails, it stays away.
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
        while self.slots.iter().any(|slot| !slot.finished || !slot.waiting.is_empty()) {
            let turn = self.turn;
            let Some(slot) = self.slots.get_mut(turn) else { return Ok(()) };
            match (slot.waiting.pop_front(), slot.finished) {
                (Some(waiting), _) => {
                    let cluster = self.room.leave(waiting);
                    let cluster = cluster.inspect_err(|error| self.fail(error.to_string()))?;
                    self.write(cluster)?;
                }
                (None, true) => {}
                (None, false) => return Ok(()),
            }
            self.turn = (turn + 1) % self.slots.len();
        }
        Ok(())
    }
}

fn ended() -> Error {
    Error::invalid_argument("the RNTuple is complete: it takes no more entries")
}
