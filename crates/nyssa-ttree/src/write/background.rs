//! Compresses the baskets of a fill context on the threads of the pool, and commits its clusters in their order, so that
//! the thread that fills goes on at once.
//!
//! ```text
//! extend ── full baskets, ends of clusters ──► queue ──► compress ──► cluster ──► commit
//!            (waits if the queue is full)        (one thread of the pool at a time)
//! ```
//!
//! A caller that has to wait while no thread of the pool is free does the work itself, so that no threads can wait for
//! one another.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::fill::Place;

use super::compress::{CompressedPayload, Compressors};
use super::in_order::{self, Done, Full, Workers};
use super::stored::StoredTree;
use super::target::{BranchState, CompressedBasket, CompressedCluster};

/// The number of bytes of baskets that wait before compression. The queue takes one basket of any size.
const ROOM: usize = 64 << 20;

/// Work of a context, in its order.
pub(super) enum Work {
    /// Baskets to compress.
    Full(Vec<Full>),
    /// A compressed basket.
    Done(CompressedBasket),
    /// The end of a cluster, before this entry, and the state of each branch.
    End(u64, Vec<BranchState>),
}

impl Work {
    fn bytes(&self) -> usize {
        match self {
            Self::Full(baskets) => baskets.iter().map(|one| one.basket.len_with_offsets()).sum(),
            Self::Done(basket) => basket.payload.len(),
            Self::End(..) => 0,
        }
    }
}

/// The work of a context that other threads do.
pub(super) struct Background {
    shared: Arc<Shared>,
    context: Context,
    /// The time that the context waited for room in the queue.
    stalled: Duration,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Tells that the queue has changed.
    changed: Condvar,
    cluster: Mutex<OpenCluster>,
    compressors: Arc<Compressors>,
    context: Context,
}

#[derive(Default)]
struct Queue {
    work: VecDeque<Work>,
    bytes: usize,
    /// Whether a thread works.
    active: bool,
    /// Whether a thread of the pool was asked to work, and has not begun.
    asked: bool,
    failed: Option<Error>,
}

/// The cluster whose baskets are compressed.
struct OpenCluster {
    place: Place<StoredTree>,
    /// Its first entry, counted by the context.
    first: u64,
    baskets: Vec<CompressedBasket>,
}

impl Background {
    /// Starts without work. `place` takes the clusters.
    pub(super) fn new(
        place: Place<StoredTree>,
        compressors: &Arc<Compressors>,
        context: &Context,
    ) -> Self {
        let cluster = OpenCluster { place, first: 0, baskets: Vec::new() };
        let shared = Shared {
            queue: Mutex::default(),
            changed: Condvar::new(),
            cluster: Mutex::new(cluster),
            compressors: Arc::clone(compressors),
            context: context.clone(),
        };
        Self { shared: Arc::new(shared), context: context.clone(), stalled: Duration::ZERO }
    }

    /// Returns the time that the context waited until others had compressed enough.
    pub(super) fn stalled(&self) -> Duration {
        self.stalled
    }

    /// Hands over work. It waits if too much is in the queue.
    ///
    /// # Errors
    /// Returns the error of earlier work.
    pub(super) fn submit(&mut self, work: Work) -> Result<()> {
        let bytes = work.bytes();
        let room = |queue: &Queue| queue.work.is_empty() || queue.bytes + bytes <= ROOM;
        if !room(&self.shared.queue()) {
            let start = Instant::now();
            self.shared.wait(room);
            self.stalled += start.elapsed();
        }
        let mut queue = self.shared.queue();
        if let Some(error) = queue.failed.take() {
            return Err(error);
        }
        queue.bytes += bytes;
        queue.work.push_back(work);
        if !queue.active && !queue.asked {
            queue.asked = true;
            let shared = Arc::clone(&self.shared);
            self.context.pool().spawn(move || {
                shared.queue().asked = false;
                shared.work(|queue| queue.work.is_empty());
            });
        }
        Ok(())
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// Returns the error of earlier work.
    pub(super) fn drain(&self) -> Result<()> {
        self.shared.wait(|queue| queue.work.is_empty() && !queue.active);
        self.shared.queue().failed.take().map_or(Ok(()), Err)
    }

    /// Runs `work` on the place of the context, when no thread works.
    pub(super) fn with_place<T>(&self, work: impl FnOnce(&mut Place<StoredTree>) -> T) -> T {
        work(&mut self.shared.cluster().place)
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cluster(&self) -> MutexGuard<'_, OpenCluster> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for another thread, or works itself, until the queue is as `enough` asks.
    fn wait(&self, enough: impl Fn(&Queue) -> bool) {
        loop {
            let queue = self.queue();
            if enough(&queue) {
                return;
            }
            if queue.active {
                drop(self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner));
            } else {
                drop(queue);
                self.work(&enough);
            }
        }
    }

    /// Does the work in the queue in its order, until the queue is as `enough` asks. Does nothing if another thread works.
    fn work(&self, enough: impl Fn(&Queue) -> bool) {
        let mut queue = self.queue();
        if queue.active {
            return;
        }
        queue.active = true;
        while let Some(work) = queue.work.pop_front() {
            queue.bytes -= work.bytes();
            drop(queue);
            let done = catch_unwind(AssertUnwindSafe(|| self.take(work)));
            queue = self.queue();
            let panicked = |_| Err(Error::invalid_argument("a thread that compressed panicked"));
            if let Err(error) = done.unwrap_or_else(panicked) {
                queue.work.clear();
                queue.bytes = 0;
                self.cluster().place.turns().fail(error.to_string());
                queue.failed.get_or_insert(error);
            }
            self.changed.notify_all();
            if enough(&queue) {
                break;
            }
        }
        queue.active = false;
        self.changed.notify_all();
    }

    fn take(&self, work: Work) -> Result<()> {
        match work {
            Work::Full(full) => {
                let mut baskets = Vec::with_capacity(full.len());
                let workers = (Workers::Caller, &self.context);
                in_order::compress_all(full, workers, &self.compressors, |done| {
                    baskets.push(basket(done));
                    Ok(())
                })?;
                self.cluster().baskets.extend(baskets);
                Ok(())
            }
            Work::Done(basket) => {
                self.cluster().baskets.push(basket);
                Ok(())
            }
            Work::End(end, branches) => {
                let mut cluster = self.cluster();
                let (first, baskets) = (cluster.first, std::mem::take(&mut cluster.baskets));
                cluster.first = end;
                let entries = end - first;
                cluster.place.commit(CompressedCluster { first, entries, baskets, branches })
            }
        }
    }
}

/// Returns the stored form of a basket.
fn basket(done: Done) -> CompressedBasket {
    let Done { branch, basket, result } = done;
    let CompressedPayload { header, compressed, objlen } = result;
    let payload = compressed.unwrap_or(basket.data);
    CompressedBasket { branch, first: basket.first, header, payload, objlen }
}
