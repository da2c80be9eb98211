//! Runs the thread that reads the next window.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use super::{Position, Step, Worker};

/// The time between two checks whether the user has stopped the work.
const POLL: Duration = Duration::from_millis(20);

/// Waits for the value that a thread sends. Returns `None` if the thread ends without sending it.
///
/// # Errors
/// `Cancelled`.
pub(super) fn receive<T>(receiver: &Receiver<T>, context: &Context) -> Result<Option<T>> {
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(sent) => return Ok(Some(sent)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => context.check()?,
        }
    }
}

/// The worker and the window that it has read.
pub(super) type Read<T> = (Box<Worker<T>>, Result<Option<Vec<Step<T>>>>);

/// A window that is being read.
pub(super) struct Ahead<T> {
    receiver: Receiver<Read<T>>,
    /// The process that started the thread. A forked process does not have the thread.
    thread: ManuallyDrop<JoinHandle<()>>,
    process: u32,
    /// The position at which the window begins.
    from: Position,
}

impl<T: Send + 'static> Ahead<T> {
    /// Starts a thread in which `worker` reads its next window after `delay`.
    pub(super) fn start(
        mut worker: Box<Worker<T>>,
        wait: Duration,
        context: Context,
    ) -> Result<Self> {
        let from = worker.at.clone();
        let (sender, receiver) = sync_channel(1);
        let job = move || {
            std::thread::sleep(wait);
            let window = worker.window(&context);
            // The receiver is gone if the steps were dropped.
            let _ = sender.send((worker, window));
        };
        let thread = std::thread::Builder::new().name("nyssa-ahead".to_owned()).spawn(job);
        let thread =
            thread.map_err(|error| Error::limit("cannot start a thread").with_source(error))?;
        let thread = ManuallyDrop::new(thread);
        Ok(Self { receiver, thread, process: std::process::id(), from })
    }

    /// Returns whether this process started the thread.
    pub(super) fn is_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// Waits for the window and returns it. If the user stops the work, the thread is stopped.
    pub(super) fn wait(self, context: &Context, cancel: &Arc<AtomicBool>) -> Result<Read<T>> {
        let read = match receive(&self.receiver, context) {
            Ok(read) => read.ok_or_else(|| Error::out_of_spec("nyssa failed unexpectedly")),
            Err(stop) => {
                cancel.store(true, Ordering::Relaxed);
                Err(stop)
            }
        };
        self.stop();
        read
    }

    /// Waits for the end of the thread, if it is one of this process.
    pub(super) fn stop(self) {
        if self.is_here() {
            drop(self.receiver);
            let _ = ManuallyDrop::into_inner(self.thread).join();
        }
    }

    /// Abandons the thread and returns the position at which its window begins.
    pub(super) fn leave(self) -> Position {
        self.from
    }
}
