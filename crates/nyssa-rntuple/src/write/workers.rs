//! Runs work on a limited number of threads. Each has its own buffers.

use std::sync::atomic::{AtomicUsize, Ordering};

use nyssa_root::Context;
use nyssa_root::error::Result;
use rayon::prelude::*;

use crate::seal::Scratch;

/// A limited number of threads, which limits the memory of their buffers. With one worker the thread of the
/// caller does the work.
pub(super) struct Workers {
    context: Context,
    scratches: Vec<Scratch>,
    pooled: bool,
}

impl Workers {
    /// Makes workers on `workers` threads of the pool of `context`, or on the thread of the caller when not
    /// `pooled`.
    pub(super) fn new(context: Context, workers: usize, pooled: bool) -> Self {
        let scratches = (0..workers.max(1)).map(|_| Scratch::new()).collect();
        Self { context, scratches, pooled }
    }

    /// Runs `run` for every task. The results are in the order of the tasks.
    ///
    /// # Errors
    /// `Cancelled`; the error of a failed task.
    pub(super) fn map<T: Sync, R: Send>(
        &mut self,
        tasks: &[T],
        run: impl Fn(&T, &mut Scratch) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let context = &self.context;
        let run = |task: &T, scratch: &mut Scratch| {
            context.check()?;
            run(task, scratch)
        };
        if self.scratches.len() < 2 || tasks.len() < 2 {
            let Some(scratch) = self.scratches.first_mut() else { return Ok(Vec::new()) };
            return tasks.iter().map(|task| run(task, scratch)).collect();
        }
        let next = AtomicUsize::new(0);
        let worker = |scratch: &mut Scratch| {
            let take = || {
                let index = next.fetch_add(1, Ordering::Relaxed);
                tasks.get(index).map(|task| (index, task))
            };
            std::iter::from_fn(take)
                .map(|(index, task)| Ok((index, run(task, scratch)?)))
                .collect::<Result<Vec<_>>>()
        };
        let scratches = &mut self.scratches;
        let workers = context.pool().install(|| {
            scratches.par_iter_mut().with_max_len(1).map(worker).collect::<Result<Vec<_>>>()
        })?;
        let mut done = workers.into_iter().flatten().collect::<Vec<_>>();
        done.sort_unstable_by_key(|(index, _)| *index);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// Runs `run` for every item.
    pub(super) fn each<T: Send>(&self, items: &mut [T], run: impl Fn(&mut T) + Sync + Send) {
        if self.pooled && self.context.threads() > 1 {
            self.context.pool().install(|| items.par_iter_mut().for_each(run));
        } else {
            items.iter_mut().for_each(run);
        }
    }
}
