//! Does pieces of work in their order, on one thread of the pool at a time.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The work of all writers that must not overtake one another, such as the writers of one file.
///
/// A caller that has to wait while no thread of the pool works does the work itself, so that no threads can wait for one
/// another.
#[derive(Default)]
pub struct Line {
    queue: Mutex<Queue>,
    /// Tells that work is done.
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct Queue {
    work: VecDeque<Box<dyn FnOnce() + Send>>,
    /// Whether a piece of work is being done.
    running: bool,
    /// Whether a thread works.
    active: bool,
    /// Whether a thread of the pool was asked to work, and has not begun.
    requested: bool,
}

impl Line {
    /// Waits until all work is done.
    pub fn settle(&self) {
        self.wait(|queue| queue.work.is_empty() && !queue.running);
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work, which must not panic. Returns whether a thread of the pool must be asked to do it.
    pub(super) fn push(&self, work: Box<dyn FnOnce() + Send>, ask: bool) -> bool {
        let mut queue = self.queue();
        queue.work.push_back(work);
        let ask = ask && !queue.active && !queue.requested;
        queue.requested |= ask;
        ask
    }

    /// Does all work, in a thread of the pool that was asked to do so.
    pub(super) fn answer(&self) {
        self.queue().requested = false;
        self.work(|_| false);
    }

    /// Waits for another thread, or works itself, until `enough` is true. It may lock what work locks.
    pub(super) fn wait(&self, enough: impl Fn(&Queue) -> bool) {
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

    /// Does the work in its order, until there is none or `enough` is true. Does nothing if another thread works.
    fn work(&self, enough: impl Fn(&Queue) -> bool) {
        let mut queue = self.queue();
        if queue.active {
            return;
        }
        queue.active = true;
        while !enough(&queue) {
            let Some(work) = queue.work.pop_front() else { break };
            queue.running = true;
            drop(queue);
            work();
            queue = self.queue();
            queue.running = false;
            self.changed.notify_all();
        }
        queue.active = false;
        self.changed.notify_all();
    }
}
