//! The ordered pipeline: many threads run tasks, and the results are written in the order of the tasks.
//!
//! Each thread takes the next task, runs it, and puts the result into a queue. The thread that completes the next
//! task in order writes its result and the complete results that follow it, while the other threads continue. A
//! thread waits before it starts a task if the bytes in flight would exceed the limit. It does not wait if its task
//! is the next to be written, so that at least one thread always continues.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::Context;
use crate::error::{Error, Result};

/// The source of the tasks of a pipeline. Only one thread calls it at a time.
pub trait Plan: Send {
    /// A task that a thread runs.
    type Task: Send;
    /// The result of writing a task.
    type Written;

    /// Returns the next task.
    fn next(&mut self) -> Next<Self::Task>;

    /// Receives the result of a task that is written. Tasks are written in their order.
    fn written(&mut self, task: &Self::Task, written: Self::Written);

    /// Receives the error of a task. It returns the error to end the pipeline, or `None` to run the other
    /// tasks, too. In both cases nothing more is written.
    fn failed(&mut self, _: &Self::Task, error: Error) -> Option<Error> {
        Some(error)
    }

    /// Stops the tasks that wait for other tasks. The pipeline calls this when nothing more is written.
    fn stopped(&self) {}
}

/// The answer of a plan to the request for a task.
pub enum Next<T> {
    /// A task, and the bytes of memory that it needs.
    Task(T, u64),
    /// No task yet: the plan knows the next task only when more tasks are written.
    Wait,
    /// No more tasks.
    End,
}

/// The threads that run tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// All threads of the pool, for tasks that use one thread each.
    Pool,
    /// This many threads that are not in the pool, for tasks that use the pool themselves.
    Beside(usize),
}

/// The settings of a pipeline.
pub struct Pipeline<'a> {
    /// The threads that run the tasks.
    pub threads: Threads,
    /// The limit in bytes for tasks that run and for results that are not written yet.
    pub bytes: u64,
    /// The context, which can cancel the pipeline.
    pub context: &'a Context,
}

impl Pipeline<'_> {
    /// Runs all tasks and returns the plan. `make` runs a task on any thread, and each thread has its own
    /// scratch. `size` returns the bytes of a result. `write` is called for one result at a time, in order.
    ///
    /// # Errors
    /// The first error of any task; `Cancelled`; `LimitExceeded` if threads cannot be started.
    pub fn run<P: Plan, M: Send, S: Default>(
        &self,
        plan: P,
        make: impl Fn(&P::Task, &mut S) -> Result<M> + Sync,
        size: impl Fn(&M) -> u64 + Sync,
        write: impl FnMut(&P::Task, M) -> Result<P::Written> + Send,
    ) -> Result<P> {
        let state = TaskQueue {
            plan,
            ended: false,
            next: 0,
            turn: 0,
            waiting: BTreeMap::new(),
            in_flight: 0,
            write: Some(write),
            error: None,
            failed: false,
            stop: false,
        };
        let shared =
            SharedQueue { state: Mutex::new(state), change: Condvar::new(), bytes: self.bytes };
        let work = || shared.work(self.context, &make, &size);
        match self.threads {
            Threads::Pool => self.context.pool().scope(|scope| {
                for _ in 0..self.context.threads() {
                    scope.spawn(|_| work());
                }
            }),
            Threads::Beside(count) => std::thread::scope(|scope| -> Result<()> {
                for number in 0..count {
                    let thread = std::thread::Builder::new().name(format!("nyssa-job-{number}"));
                    if let Err(error) = thread.spawn_scoped(scope, work) {
                        let error = Error::limit("cannot start a thread").with_source(error);
                        shared.fail(error);
                        break;
                    }
                }
                Ok(())
            })?,
        }
        let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.error.map_or(Ok(state.plan), Err)
    }
}

/// A complete task that waits to be written.
struct Finished<T, M> {
    task: T,
    output: M,
    bytes: u64,
}

/// The state that the threads share.
struct TaskQueue<P: Plan, M, W> {
    plan: P,
    /// Whether the plan has no more tasks.
    ended: bool,
    /// The number of the next task that is taken.
    next: u64,
    /// The number of the next task that is written.
    turn: u64,
    /// The finished tasks whose turn has not come.
    waiting: BTreeMap<u64, Finished<P::Task, M>>,
    /// The number of bytes of tasks that are taken and not written.
    in_flight: u64,
    /// The function that writes. It is `None` while a thread uses it.
    write: Option<W>,
    error: Option<Error>,
    /// Whether a task failed. The plan may go on to try the others.
    failed: bool,
    stop: bool,
}

struct SharedQueue<P: Plan, M, W> {
    state: Mutex<TaskQueue<P, M, W>>,
    change: Condvar,
    bytes: u64,
}

impl<P, M, W> SharedQueue<P, M, W>
where
    P: Plan,
    W: FnMut(&P::Task, M) -> Result<P::Written>,
{
    fn lock(&self) -> MutexGuard<'_, TaskQueue<P, M, W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(
        &self,
        state: MutexGuard<'s, TaskQueue<P, M, W>>,
    ) -> MutexGuard<'s, TaskQueue<P, M, W>> {
        self.change.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes and runs tasks until no task is left. Each thread runs this function.
    fn work<S: Default>(
        &self,
        context: &Context,
        make: &impl Fn(&P::Task, &mut S) -> Result<M>,
        size: &impl Fn(&M) -> u64,
    ) {
        // A panic below must not leave the others waiting for a task that never comes.
        let guard = StopOnDrop(self);
        let mut scratch = S::default();
        while let Some((number, task, reserved)) = self.take() {
            match context.check().and_then(|()| make(&task, &mut scratch)) {
                Ok(output) => {
                    let bytes = size(&output);
                    self.put(number, reserved, Finished { task, output, bytes });
                }
                Err(error) => self.leave_out(&task, reserved, error),
            }
        }
        std::mem::forget(guard);
    }

    /// Returns the next task with its number and the bytes that are reserved for it.
    fn take(&self) -> Option<(u64, P::Task, u64)> {
        let mut state = self.lock();
        let (task, reserved) = loop {
            if state.stop || state.ended {
                return None;
            }
            match state.plan.next() {
                Next::Task(task, bytes) => break (task, bytes),
                Next::Wait => state = self.wait(state),
                Next::End => {
                    state.ended = true;
                    self.change.notify_all();
                }
            }
        };
        let number = state.next;
        state.next += 1;
        while !state.stop
            && !state.failed
            && state.turn != number
            && state.in_flight.saturating_add(reserved) > self.bytes
        {
            state = self.wait(state);
        }
        if state.stop {
            return None;
        }
        state.in_flight = state.in_flight.saturating_add(reserved);
        Some((number, task, reserved))
    }

    /// Stores a finished task. If the task is the next to be written, writes it and the tasks that follow, unless
    /// another thread does so.
    fn put(&self, number: u64, reserved: u64, finished: Finished<P::Task, M>) {
        let mut state = self.lock();
        state.in_flight = state.in_flight.saturating_sub(reserved);
        if state.failed {
            return;
        }
        state.in_flight = state.in_flight.saturating_add(finished.bytes);
        state.waiting.insert(number, finished);
        self.change.notify_all();
        while !state.stop {
            let turn = state.turn;
            if !state.waiting.contains_key(&turn) {
                return;
            }
            let Some(mut write) = state.write.take() else { return };
            let Some(Finished { task, output, bytes }) = state.waiting.remove(&turn) else {
                return;
            };
            drop(state);
            let written = write(&task, output);
            state = self.lock();
            state.write = Some(write);
            state.turn += 1;
            state.in_flight = state.in_flight.saturating_sub(bytes);
            match written {
                Ok(written) => state.plan.written(&task, written),
                Err(error) => {
                    drop(state);
                    return self.fail(error);
                }
            }
            self.change.notify_all();
        }
    }

    /// Passes the error of a task to the plan, which decides whether the pipeline ends.
    fn leave_out(&self, task: &P::Task, reserved: u64, error: Error) {
        let mut state = self.lock();
        if let Some(error) = state.plan.failed(task, error) {
            drop(state);
            return self.fail(error);
        }
        state.failed = true;
        state.in_flight = state.in_flight.saturating_sub(reserved);
        state.waiting.clear();
        state.plan.stopped();
        self.change.notify_all();
    }

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.error.get_or_insert(error);
        self.stop(state);
    }

    fn stop(&self, mut state: MutexGuard<'_, TaskQueue<P, M, W>>) {
        state.stop = true;
        state.plan.stopped();
        drop(state);
        self.change.notify_all();
    }
}

/// A guard that stops the pipeline when a thread panics.
struct StopOnDrop<'a, P, M, W>(&'a SharedQueue<P, M, W>)
where
    P: Plan,
    W: FnMut(&P::Task, M) -> Result<P::Written>;

impl<P, M, W> Drop for StopOnDrop<'_, P, M, W>
where
    P: Plan,
    W: FnMut(&P::Task, M) -> Result<P::Written>,
{
    fn drop(&mut self) {
        self.0.stop(self.0.lock());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::error::Kind;

    /// Counts up to a number. The plan knows a task when all tasks before it are written, except a few.
    struct Count {
        next: u64,
        end: u64,
        ahead: u64,
        written: Vec<u64>,
        left_out: Vec<u64>,
        leave_out: bool,
    }

    impl Count {
        fn to(end: u64) -> Self {
            let (written, left_out) = (Vec::new(), Vec::new());
            Self { next: 0, end, ahead: u64::MAX, written, left_out, leave_out: false }
        }
    }

    impl Plan for Count {
        type Task = u64;
        type Written = u64;

        fn next(&mut self) -> Next<u64> {
            if self.next == self.end {
                return Next::End;
            }
            let known = self.left_out.is_empty()
                && self.next >= self.written.len() as u64 + self.ahead.min(self.end);
            if known {
                return Next::Wait;
            }
            self.next += 1;
            Next::Task(self.next - 1, 10)
        }

        fn written(&mut self, task: &u64, written: u64) {
            assert_eq!(*task * 2, written);
            self.written.push(written);
        }

        fn failed(&mut self, task: &u64, error: Error) -> Option<Error> {
            self.left_out.push(*task);
            (!self.leave_out).then_some(error)
        }
    }

    fn contexts() -> [(Context, Threads); 3] {
        let context = |threads| Context::new(Some(threads)).unwrap();
        [(context(1), Threads::Pool), (context(4), Threads::Pool), (context(2), Threads::Beside(3))]
    }

    /// Later tasks finish first.
    fn slow_first(task: &u64, (): &mut ()) -> Result<u64> {
        std::thread::sleep(Duration::from_micros(if task.is_multiple_of(4) { 500 } else { 10 }));
        Ok(task * 2)
    }

    #[test]
    fn tasks_are_written_in_order() {
        for (context, threads) in contexts() {
            for (bytes, ahead) in [(u64::MAX, u64::MAX), (25, 2), (0, 1)] {
                let mut seen = Vec::new();
                let pipeline = Pipeline { threads, bytes, context: &context };
                let plan = Count { ahead, ..Count::to(50) };
                let write = |_: &u64, made| {
                    seen.push(made);
                    Ok(made)
                };
                let plan = pipeline.run(plan, slow_first, |_| 10, write).unwrap();
                assert_eq!(seen, (0..50).map(|task| task * 2).collect::<Vec<_>>());
                assert_eq!(plan.written, seen);
            }
        }
    }

    #[test]
    fn bytes_in_flight_stay_within_the_limit() {
        let (context, threads) = (Context::new(Some(4)).unwrap(), Threads::Pool);
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let make = |task: &u64, scratch: &mut ()| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            slow_first(task, scratch)
        };
        let write = |_: &u64, made| {
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(made)
        };
        let pipeline = Pipeline { threads, bytes: 20, context: &context };
        pipeline.run(Count::to(100), make, |_| 10, write).unwrap();
        // Two tasks fit within the limit, and the next task to be written is always allowed.
        assert!(most.into_inner() <= 3);
    }

    #[test]
    fn the_first_error_ends_it() {
        for (context, threads) in contexts() {
            let pipeline = Pipeline { threads, bytes: 100, context: &context };
            let make = |task: &u64, (): &mut ()| match task {
                7 => Err(Error::out_of_spec("seven")),
                task => Ok(task * 2),
            };
            let mut seen = 0;
            let write = |_: &u64, made| {
                seen += 1;
                Ok(made)
            };
            let error = pipeline.run(Count::to(1000), make, |_| 10, write).err().unwrap();
            assert_eq!((error.kind(), error.message()), (Kind::OutOfSpecification, "seven"));
            assert!(seen <= 7);
            let write = |task: &u64, made| match task {
                3 => Err(Error::limit("full")),
                _ => Ok(made),
            };
            let error = pipeline.run(Count::to(1000), slow_first, |_| 10, write).err().unwrap();
            assert_eq!(error.message(), "full");
        }
    }

    #[test]
    fn tasks_that_are_left_out_end_the_writing_only() {
        for (context, threads) in contexts() {
            let pipeline = Pipeline { threads, bytes: 20, context: &context };
            let make = |task: &u64, (): &mut ()| match task % 10 {
                9 => Err(Error::unsupported("nine")),
                _ => Ok(task * 2),
            };
            let plan = Count { leave_out: true, ahead: 3, ..Count::to(40) };
            let mut plan = pipeline.run(plan, make, |_| 10, |_: &u64, made| Ok(made)).unwrap();
            plan.left_out.sort_unstable();
            assert_eq!(plan.left_out, [9, 19, 29, 39]);
            assert!(plan.written.len() <= 9);
        }
    }

    #[test]
    fn cancellation_ends_it() {
        let cancel = Arc::new(AtomicBool::new(false));
        for (context, threads) in contexts() {
            cancel.store(false, Ordering::Relaxed);
            let context = context.with_cancel(Arc::clone(&cancel));
            let pipeline = Pipeline { threads, bytes: 100, context: &context };
            let write = |task: &u64, made| {
                cancel.fetch_or(*task == 5, Ordering::Relaxed);
                Ok(made)
            };
            let error = pipeline.run(Count::to(100_000), slow_first, |_| 10, write).err().unwrap();
            assert_eq!(error.kind(), Kind::Cancelled);
        }
    }

    #[test]
    fn a_panic_leaves_nobody_waiting() {
        let context = Context::new(Some(2)).unwrap();
        let pipeline = Pipeline { threads: Threads::Beside(3), bytes: 10, context: &context };
        let make = |task: &u64, (): &mut ()| -> Result<u64> {
            assert!(*task != 4, "four");
            Ok(task * 2)
        };
        let run = || pipeline.run(Count::to(100), make, |_| 10, |_: &u64, made| Ok(made)).map(drop);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}
