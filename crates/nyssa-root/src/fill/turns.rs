//! Takes the clusters of all contexts, and gives them to the writer in their order.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use super::Order;
use super::queue::{Buffers, Queue, Queued};
use crate::error::{Error, Result};
use crate::rootfile::writer::Unwritten;

/// The writer that takes the clusters of the contexts.
pub trait TurnsWriter {
    /// A complete cluster, compressed.
    type Cluster: Buffers;

    /// The name of the object that is written, for messages.
    const OBJECT: &'static str;

    /// Gives a cluster its place after all earlier clusters. Returns the bytes that are not written yet: other clusters do not
    /// wait for them.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    fn commit(&mut self, cluster: Self::Cluster) -> Result<Unwritten>;
}

/// The options of [`Turns`].
pub struct TurnsOptions {
    /// The order of the clusters.
    pub order: Order,
    /// The maximum number of contexts at one time.
    pub max_contexts: usize,
    /// The number of bytes of clusters that may wait for their turn in memory.
    pub memory: u64,
}

/// The state that the contexts of one object share.
pub struct Turns<W: TurnsWriter> {
    order: Order,
    max_contexts: usize,
    state: Mutex<SharedWriter<W>>,
    /// Whether rows were added.
    begun: AtomicBool,
}

struct SharedWriter<W: TurnsWriter> {
    /// The writer. `None` when the object is finished, and after an error.
    writer: Option<W>,
    /// The reason why the object cannot be completed.
    failed: Option<Error>,
    contexts: Vec<ContextState<W::Cluster>>,
    /// The index of the context whose turn it is.
    turn: usize,
    /// The clusters that wait for their turn.
    queue: Queue,
}

/// The state of one context, as the writer knows it.
struct ContextState<C> {
    /// Whether it gives no more clusters.
    finished: bool,
    /// Whether its last call has ended, so that it writes nothing more.
    gone: bool,
    waiting: VecDeque<Queued<C>>,
}

impl<W: TurnsWriter> Turns<W> {
    /// Starts without contexts.
    pub fn new(writer: W, options: TurnsOptions) -> Self {
        let TurnsOptions { order, max_contexts, memory } = options;
        let state = SharedWriter {
            writer: Some(writer),
            failed: None,
            contexts: Vec::new(),
            turn: 0,
            queue: Queue::new(memory),
        };
        Self { order, max_contexts, state: Mutex::new(state), begun: AtomicBool::new(false) }
    }

    /// Returns the order of the clusters.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Adds a context.
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than allowed, and in a fixed order after rows were added.
    pub fn place(self: &Arc<Self>) -> Result<Place<W>> {
        let mut state = self.state();
        state.check()?;
        if state.contexts.iter().filter(|slot| !slot.finished).count() >= self.max_contexts {
            return Err(Error::invalid_argument(format!(
                "there are {} fill contexts already, which share the memory: finish one, or begin the {} with the \
                 option fill_contexts of a larger number",
                self.max_contexts,
                W::OBJECT
            )));
        }
        if self.order == Order::RoundRobin && self.begun.load(Ordering::Relaxed) {
            return Err(Error::invalid_argument(
                "in a fixed order all fill contexts have to be made before rows are added",
            ));
        }
        state.contexts.push(ContextState {
            finished: false,
            gone: false,
            waiting: VecDeque::new(),
        });
        let slot = state.contexts.len() - 1;
        drop(state);
        Ok(Place { turns: Arc::clone(self), slot, left: false })
    }

    /// Checks that the object can still be filled.
    ///
    /// # Errors
    /// The reason of an earlier error; `InvalidArgument` after the end.
    pub fn check(&self) -> Result<()> {
        self.state().check()
    }

    /// Checks that the object can still be filled, and notes that rows are added.
    ///
    /// # Errors
    /// The reason of an earlier error; `InvalidArgument` after the end.
    pub fn begin_rows(&self) -> Result<()> {
        self.begun.store(true, Ordering::Relaxed);
        match self.state.try_lock() {
            Ok(state) => state.check(),
            Err(TryLockError::Poisoned(state)) => state.into_inner().check(),
            // Another context writes a cluster. Rows do not wait for that: if it fails, the next call says so.
            Err(TryLockError::WouldBlock) => Ok(()),
        }
    }

    /// Stops all contexts with an error.
    pub fn fail(&self, error: &Error) {
        self.state().fail(error);
    }

    /// Runs `work` on the writer, while no cluster gets its place.
    ///
    /// # Errors
    /// The reason of an earlier error; `InvalidArgument` after the end; an error if `work` fails.
    pub fn with<T>(&self, work: impl FnOnce(&mut W) -> Result<T>) -> Result<T> {
        let mut state = self.state();
        state.check()?;
        work(state.writer.as_mut().ok_or_else(ended::<W>)?)
    }

    /// Returns the writer, which has received the clusters of all contexts.
    ///
    /// # Errors
    /// `InvalidArgument` when a context is not finished, was dropped with entries in it, or failed.
    pub fn take_writer(&self) -> Result<W> {
        let mut state = self.state();
        state.check()?;
        let open = state.contexts.iter().filter(|slot| !slot.gone).count();
        if open > 0 {
            let why = format!("{open} of {} fill contexts were not finished", state.contexts.len());
            state.fail(&Error::invalid_argument(why));
            state.check()?;
        }
        state.writer.take().ok_or_else(ended::<W>)
    }

    /// Writes bytes that have their places. An error stops all contexts.
    ///
    /// # Errors
    /// The sink cannot be written.
    pub fn write(&self, unwritten: Unwritten) -> Result<()> {
        unwritten.write().inspect_err(|error| self.fail(error))
    }

    /// Writes the clusters whose turn it is.
    fn take_turns(&self) -> Result<()> {
        loop {
            let next = self.state().take_turn()?;
            let Some(unwritten) = next else { return Ok(()) };
            self.write(unwritten)?;
        }
    }

    fn state(&self) -> MutexGuard<'_, SharedWriter<W>> {
        // A panic while a cluster is written leaves no writer (see `State::write`), so the next caller gets
        // an error.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one context among all contexts.
pub struct Place<W: TurnsWriter> {
    turns: Arc<Turns<W>>,
    slot: usize,
    left: bool,
}

impl<W: TurnsWriter> Place<W> {
    /// Returns the state that all contexts share.
    pub fn turns(&self) -> &Turns<W> {
        &self.turns
    }

    /// Hands over a complete cluster. It is written now, or when its turn comes.
    ///
    /// # Errors
    /// The reason of an earlier error; `InvalidArgument` after the end; an error if the sink cannot be written.
    pub fn commit(&mut self, cluster: W::Cluster) -> Result<()> {
        let mut state = self.turns.state();
        state.check()?;
        if self.turns.order == Order::Completion {
            let unwritten = state.write(cluster)?;
            drop(state);
            return self.turns.write(unwritten);
        }
        let waiting = state.queue.push(cluster).inspect_err(|error| state.fail(error))?;
        if let Some(slot) = state.contexts.get_mut(self.slot) {
            slot.waiting.push_back(waiting);
        }
        drop(state);
        self.turns.take_turns()
    }

    /// Ends the context. It must have no entries left.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written. Clusters that waited for this context are written now.
    pub fn leave(&mut self) -> Result<()> {
        self.left = true;
        let mut state = self.turns.state();
        if let Some(slot) = state.contexts.get_mut(self.slot) {
            slot.finished = true;
        }
        let goes_on = self.turns.order == Order::RoundRobin && state.failed.is_none();
        drop(state);
        // It may write clusters of other contexts now, which are finished.
        if goes_on {
            self.turns.take_turns()?;
        }
        if let Some(slot) = self.turns.state().contexts.get_mut(self.slot) {
            slot.gone = true;
        }
        Ok(())
    }

    /// Ends a context that is dropped with `lost` entries, if it did not end before. If entries are lost, or it is
    /// `broken`, the object cannot be completed.
    pub fn abandon(&mut self, lost: u64, broken: bool) {
        if self.left {
            return;
        }
        if lost > 0 || broken {
            let why = format!("a fill context was dropped with {lost} entries in it");
            self.turns.fail(&Error::invalid_argument(why));
        }
        // The state stores an error, which `finish` returns later.
        let _ = self.leave();
    }
}

impl<W: TurnsWriter> SharedWriter<W> {
    fn check(&self) -> Result<()> {
        match (&self.failed, &self.writer) {
            (Some(error), _) => Err(error.later(W::OBJECT)),
            (None, None) => Err(ended::<W>()),
            (None, Some(_)) => Ok(()),
        }
    }

    fn fail(&mut self, error: &Error) {
        self.failed.get_or_insert_with(|| error.clone());
    }

    /// Gives a cluster its place. Meanwhile the writer is not in the state. It is not put back after an error or a panic.
    fn write(&mut self, cluster: W::Cluster) -> Result<Unwritten> {
        let mut writer = self.writer.take().ok_or_else(ended::<W>)?;
        let placed = writer.commit(cluster);
        match &placed {
            Ok(_) => self.writer = Some(writer),
            Err(error) => self.fail(error),
        }
        placed
    }

    /// Gives the cluster whose turn it is its place. Returns `None` if the turn is of a context that has no cluster yet.
    fn take_turn(&mut self) -> Result<Option<Unwritten>> {
        while self.contexts.iter().any(|slot| !slot.finished || !slot.waiting.is_empty()) {
            let turn = self.turn;
            let Some(slot) = self.contexts.get_mut(turn) else { return Ok(None) };
            let (waiting, finished) = (slot.waiting.pop_front(), slot.finished);
            if waiting.is_none() && !finished {
                return Ok(None);
            }
            self.turn = (turn + 1) % self.contexts.len();
            if let Some(waiting) = waiting {
                let cluster = self.queue.pop(waiting);
                let cluster = cluster.inspect_err(|error| self.fail(error))?;
                return self.write(cluster).map(Some);
            }
        }
        Ok(None)
    }
}

fn ended<W: TurnsWriter>() -> Error {
    Error::invalid_argument(format!("the {} is complete: it takes no more entries", W::OBJECT))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use super::*;

    struct Cluster;

    impl Buffers for Cluster {
        fn bytes(&self) -> u64 {
            0
        }

        fn buffers(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
            std::iter::empty()
        }
    }

    /// Says when it writes a cluster, and then waits until it may end.
    struct SlowWriter {
        writes: Sender<()>,
        may_end: Receiver<()>,
    }

    impl TurnsWriter for SlowWriter {
        type Cluster = Cluster;

        const OBJECT: &'static str = "table";

        fn commit(&mut self, _: Cluster) -> Result<Unwritten> {
            self.writes.send(()).unwrap();
            // Without an end it fails in time, so that no test waits for ever.
            let _ = self.may_end.recv_timeout(Duration::from_secs(10));
            Err(Error::invalid_argument("the disk is full"))
        }
    }

    #[test]
    fn rows_do_not_wait_for_the_cluster_of_another_context() {
        let (writes, written) = channel();
        let (end, may_end) = channel();
        let options = TurnsOptions { order: Order::Completion, max_contexts: 1, memory: 0 };
        let turns = Arc::new(Turns::new(SlowWriter { writes, may_end }, options));
        let mut place = turns.place().unwrap();
        std::thread::scope(|scope| {
            let commit = scope.spawn(move || place.commit(Cluster));
            written.recv().unwrap();
            turns.begin_rows().unwrap();
            end.send(()).unwrap();
            assert!(commit.join().unwrap().is_err());
        });
        let error = turns.begin_rows().unwrap_err();
        assert!(error.to_string().contains("disk"), "{error}");
    }
}
