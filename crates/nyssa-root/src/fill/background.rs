//! Does the work of a writer on the threads of the pool, in its order, so that the thread that fills continues at once.
//!
//! ```text
//! extend ── rows, full baskets, ends of clusters ──► line ──► compress ──► cluster ──► commit
//!            (waits if it has too much)                   (one thread of the pool at a time)
//! ```
//!
//! With one thread, and in a thread of the pool, the caller does all work at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::line::Line;
use crate::Context;
use crate::error::{Error, Result};
use crate::heuristics::fill;

/// The part of a writer that works in the background.
pub trait Worker: Send + 'static {
    /// A piece of work.
    type Work: Send + 'static;

    /// The name of the object that is written, for messages.
    const OBJECT: &'static str;

    /// Does a piece of work. After an error nothing more is done.
    ///
    /// # Errors
    /// Returns an error if compression or the sink fails.
    fn run(&mut self, work: Self::Work) -> Result<()>;

    /// Is called with the error that ended the work.
    fn failed(&mut self, _: &Error) {}

    /// Returns the number of bytes that the worker holds between pieces of work. They take room from work that waits.
    fn held(&self) -> u64 {
        0
    }
}

/// The memory of work that waits, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The limit of the waiting work and of the bytes that the worker holds, together.
    pub limit: u64,
    /// The limit of work that waits, whatever the worker holds.
    pub least: u64,
}

/// A worker with its work.
pub struct Background<W: Worker> {
    line: Arc<Line>,
    shared: Arc<SharedWorker<W>>,
    context: Context,
    room: Room,
    /// Whether the caller does all work.
    alone: bool,
    /// The time that the caller waited for other threads.
    stalled: Duration,
}

struct SharedWorker<W: Worker> {
    status: Mutex<Status>,
    worker: Mutex<Option<W>>,
}

#[derive(Default)]
struct Status {
    /// The number of pieces of work that are not done.
    pending: usize,
    /// The number of their bytes.
    bytes: u64,
    /// The number of bytes that the worker holds.
    held: u64,
    /// The error that ended the work.
    failed: Option<Error>,
    /// Whether a caller has received the error.
    told: bool,
    /// Whether the work is given up.
    dropped: bool,
}

impl Status {
    fn check(&mut self, object: &str) -> Result<()> {
        let Some(error) = &self.failed else { return Ok(()) };
        let told = std::mem::replace(&mut self.told, true);
        Err(if told { error.later(object) } else { error.clone() })
    }
}

impl<W: Worker> Background<W> {
    /// Starts without work, which threads of `context` do in the order of `line`. Without a line, the caller does it.
    pub fn new(worker: W, context: &Context, line: Option<&Arc<Line>>, room: Room) -> Self {
        let shared = SharedWorker { status: Mutex::default(), worker: Mutex::new(Some(worker)) };
        Self {
            line: line.cloned().unwrap_or_default(),
            shared: Arc::new(shared),
            context: context.clone(),
            room,
            alone: line.is_none(),
            stalled: Duration::ZERO,
        }
    }

    /// Returns the time that the caller waited until others had done enough of its work.
    pub fn stalled(&self) -> Duration {
        self.stalled
    }

    /// Returns whether an error ended the work.
    pub fn is_broken(&self) -> bool {
        self.shared.status().failed.is_some()
    }

    /// Checks that no error ended the work.
    ///
    /// # Errors
    /// The error of earlier work. After the first time it says that the object cannot be completed.
    pub fn check(&self) -> Result<()> {
        self.shared.status().check(W::OBJECT)
    }

    /// Waits until there is room for `bytes`, or all work is done. Returns whether there is room. There is never room if
    /// the caller does the work.
    pub fn has_room(&mut self, bytes: u64) -> bool {
        if self.is_inline() {
            return false;
        }
        let Room { limit, least } = self.room;
        let fits = |status: &Status| {
            status.bytes.saturating_add(bytes) <= limit.saturating_sub(status.held).max(least)
        };
        self.wait(|status| fits(status) || status.pending == 0);
        fits(&self.shared.status())
    }

    /// Adds work that has `bytes` bytes.
    ///
    /// # Errors
    /// The error of earlier work. If the caller does the work, the error of this work.
    pub fn submit(&mut self, work: W::Work, bytes: u64) -> Result<()> {
        let mut status = self.shared.status();
        status.check(W::OBJECT)?;
        status.pending += 1;
        status.bytes = status.bytes.saturating_add(bytes);
        // Little work waits for more, since it takes time to wake a thread.
        let enough = bytes == 0 || status.bytes >= fill::WAKE_BYTES;
        drop(status);
        let inline = self.is_inline();
        let shared = Arc::clone(&self.shared);
        let ask = self.line.push(Box::new(move || shared.run(work, bytes)), enough && !inline);
        if inline {
            self.rest();
            return self.check();
        }
        if ask {
            let line = Arc::clone(&self.line);
            self.context.pool().spawn(move || line.answer());
        }
        Ok(())
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// The error of earlier work.
    pub fn drain(&mut self) -> Result<()> {
        self.wait(|status| status.pending == 0);
        self.check()
    }

    /// Runs `access` on the worker when all work is done.
    ///
    /// # Errors
    /// The error of earlier work, and of `access`.
    pub fn with<T>(&mut self, access: impl FnOnce(&mut W) -> Result<T>) -> Result<T> {
        self.drain()?;
        self.at_rest(access).unwrap_or_else(|| Err(complete::<W>()))
    }

    /// Runs `access` on the worker when all work is done or has failed.
    pub fn at_rest<T>(&self, access: impl FnOnce(&mut W) -> T) -> Option<T> {
        self.rest();
        self.shared.worker().as_mut().map(access)
    }

    /// Ends the work because of an error of the caller, which is returned.
    pub fn fail(&self, error: Error) -> Error {
        let mut status = self.shared.status();
        status.failed.get_or_insert_with(|| error.clone());
        status.told = true;
        drop(status);
        self.at_rest(|worker| worker.failed(&error));
        error
    }

    /// Returns the worker when all work is done.
    ///
    /// # Errors
    /// The error of earlier work.
    pub fn finish(mut self) -> Result<W> {
        self.drain()?;
        let worker = self.shared.worker().take();
        worker.ok_or_else(complete::<W>)
    }

    /// Returns whether all work is done. It does not wait.
    pub fn is_idle(&self) -> bool {
        self.shared.status().pending == 0
    }

    /// Returns whether the caller does the work.
    pub fn is_inline(&self) -> bool {
        let pool = self.context.pool();
        self.alone || self.context.threads() < 2 || pool.current_thread_index().is_some()
    }

    /// Waits until all work is done.
    fn rest(&self) {
        self.line.wait(|_| self.shared.status().pending == 0);
    }

    /// Waits until `enough` accepts the state of the work, and counts the time.
    fn wait(&mut self, enough: impl Fn(&Status) -> bool) {
        if enough(&self.shared.status()) {
            return;
        }
        let start = Instant::now();
        self.line.wait(|_| enough(&self.shared.status()));
        self.stalled += start.elapsed();
    }
}

/// Work that waits is not done. The worker is dropped when no thread uses it any more.
impl<W: Worker> Drop for Background<W> {
    fn drop(&mut self) {
        self.shared.status().dropped = true;
        self.rest();
        let worker = self.shared.worker().take();
        drop(worker);
    }
}

impl<W: Worker> SharedWorker<W> {
    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn worker(&self) -> MutexGuard<'_, Option<W>> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a piece of work, unless an error ended the work.
    fn run(&self, work: W::Work, bytes: u64) {
        let status = self.status();
        let broken = status.dropped || status.failed.is_some();
        drop(status);
        let done = catch_unwind(AssertUnwindSafe(|| match self.worker().as_mut() {
            Some(worker) if !broken => {
                let done = worker.run(work);
                (done, worker.held())
            }
            _ => (Ok(()), 0),
        }));
        let panicked = || Err(Error::invalid_argument("a thread that compressed panicked"));
        let (done, held) = done.unwrap_or_else(|_| (panicked(), 0));
        if let Err(error) = &done
            && let Some(worker) = self.worker().as_mut()
        {
            worker.failed(error);
        }
        let mut status = self.status();
        status.pending -= 1;
        status.bytes = status.bytes.saturating_sub(bytes);
        status.held = held;
        if let Err(error) = done {
            status.failed.get_or_insert(error);
        }
    }
}

fn complete<W: Worker>() -> Error {
    Error::invalid_argument(format!("the {} is complete: it takes no more entries", W::OBJECT))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread::ThreadId;

    use super::*;
    use crate::error::Kind;

    /// Notes the numbers that come, and the thread that brings them. It fails at a number below zero.
    #[derive(Default)]
    struct Notes {
        seen: Arc<Mutex<Vec<(i64, ThreadId)>>>,
        gone: Option<Sender<()>>,
    }

    impl Worker for Notes {
        type Work = i64;

        const OBJECT: &'static str = "note";

        fn run(&mut self, number: i64) -> Result<()> {
            if number < 0 {
                return Err(Error::limit(format!("no room for {number}")));
            }
            self.seen.lock().unwrap().push((number, std::thread::current().id()));
            Ok(())
        }
    }

    impl Drop for Notes {
        fn drop(&mut self) {
            self.gone.take().map(|gone| gone.send(()));
        }
    }

    const ROOM: Room = Room { limit: 100, least: 0 };

    /// A background, and what its worker notes.
    type Noted = (Background<Notes>, Arc<Mutex<Vec<(i64, ThreadId)>>>);

    fn noted(context: &Context, line: &Arc<Line>) -> Noted {
        let notes = Notes::default();
        let seen = Arc::clone(&notes.seen);
        (Background::new(notes, context, Some(line), ROOM), seen)
    }

    fn numbers(seen: &Mutex<Vec<(i64, ThreadId)>>) -> Vec<i64> {
        seen.lock().unwrap().iter().map(|(number, _)| *number).collect()
    }

    /// Occupies all threads of a pool until the sender is dropped.
    fn occupied(context: &Context) -> Sender<()> {
        let (release, wait) = channel::<()>();
        let wait: Arc<Mutex<Receiver<()>>> = Arc::new(Mutex::new(wait));
        for _ in 0..context.threads() {
            let wait = Arc::clone(&wait);
            context.pool().spawn(move || {
                let _ended = wait.lock().unwrap().recv();
            });
        }
        release
    }

    #[test]
    fn the_caller_goes_on_while_the_pool_is_occupied() {
        let context = Context::new(Some(2)).unwrap();
        let (mut background, seen) = noted(&context, &Arc::default());
        let release = occupied(&context);
        for number in 0..10 {
            assert!(background.has_room(10));
            background.submit(number, 10).unwrap();
        }
        assert!(numbers(&seen).is_empty());
        assert_eq!(background.stalled(), Duration::ZERO);
        // There is no room and no thread is free: the caller does as much as it needs.
        assert!(background.has_room(20));
        assert_eq!(numbers(&seen), [0, 1]);
        assert!(background.stalled() > Duration::ZERO);
        drop(release);
        background.finish().unwrap();
        assert_eq!(numbers(&seen), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn large_work_waits_for_all_other_work() {
        let context = Context::new(Some(2)).unwrap();
        let (mut background, seen) = noted(&context, &Arc::default());
        background.submit(1, 100).unwrap();
        assert!(!background.has_room(101));
        assert_eq!(numbers(&seen), [1]);
    }

    #[test]
    fn writers_of_one_line_do_not_overtake_one_another() {
        let context = Context::new(Some(2)).unwrap();
        let line = Arc::default();
        let notes = [Notes::default(), Notes::default()];
        let seen = Arc::clone(&notes[0].seen);
        let mut writers = notes.map(|notes| {
            let notes = Notes { seen: Arc::clone(&seen), gone: notes.gone.clone() };
            Background::new(notes, &context, Some(&line), ROOM)
        });
        for number in 0..100 {
            writers[usize::from(number % 3 == 0)].submit(number, 1).unwrap();
        }
        line.settle();
        assert_eq!(numbers(&seen), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn one_thread_and_threads_of_the_pool_do_their_work_themselves() {
        let here = |seen: &Mutex<Vec<(i64, ThreadId)>>| {
            let here = std::thread::current().id();
            let seen = seen.lock().unwrap();
            !seen.is_empty() && seen.iter().all(|(_, thread)| *thread == here)
        };
        let single = Context::new(Some(1)).unwrap();
        let (mut background, seen) = noted(&single, &Arc::default());
        assert!(!background.has_room(0));
        background.submit(1, 0).unwrap();
        assert!(here(&seen));
        assert_eq!(background.submit(-1, 0).unwrap_err().message(), "no room for -1");
        let two = Context::new(Some(2)).unwrap();
        let within = two.pool().install(|| {
            let (mut background, seen) = noted(&two, &Arc::default());
            (0..100).try_for_each(|number| background.submit(number, 0)).unwrap();
            here(&seen)
        });
        assert!(within);
    }

    #[test]
    fn an_error_ends_the_work_and_later_calls_have_its_reason() {
        let context = Context::new(Some(2)).unwrap();
        let (mut background, seen) = noted(&context, &Arc::default());
        let release = occupied(&context);
        for number in [1, -2, 3] {
            background.submit(number, 1).unwrap();
        }
        drop(release);
        background.rest();
        assert_eq!(numbers(&seen), [1]);
        assert_eq!(background.submit(4, 1).unwrap_err().message(), "no room for -2");
        for error in [background.submit(4, 1).unwrap_err(), background.finish().err().unwrap()] {
            assert_eq!(error.message(), "the note cannot be completed: no room for -2");
            assert_eq!(error.kind(), Kind::LimitExceeded);
        }
    }

    #[test]
    fn dropping_leaves_nothing_behind() {
        let context = Context::new(Some(2)).unwrap();
        let (gone, told) = channel();
        let notes = Notes { gone: Some(gone), seen: Arc::default() };
        let seen = Arc::clone(&notes.seen);
        let mut background = Background::new(notes, &context, Some(&Arc::default()), ROOM);
        let release = occupied(&context);
        background.submit(1, 1).unwrap();
        drop(background);
        told.recv().unwrap();
        assert!(numbers(&seen).is_empty());
        drop(release);
    }
}
