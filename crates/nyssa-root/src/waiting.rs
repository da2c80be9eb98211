//! Runs work that mostly waits for answers of a network, on more threads than there are cores.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};

use crate::error::{Error, Kind, Result};

/// The maximum number of threads that wait at the same time for one job.
pub const AT_ONCE: usize = 16;

/// Runs `work` for each item on up to [`AT_ONCE`] threads, and returns the results in the order of the items.
/// After an error no further item is begun. The threads must not be workers of a pool that `work` uses.
///
/// # Errors
/// Returns the error of the first item that failed.
pub fn wait_for_all<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let result = work(item);
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for number in 1..AT_ONCE.min(items.len()) {
            let thread = Builder::new().name(format!("nyssa-wait-{number}"));
            if thread.spawn_scoped(scope, run).is_err() {
                // The threads that have started do all the work.
                break;
            }
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Passes all items to `take`, in order and on this thread. For the current item and those after it, up to `at_once`
/// at a time, a thread runs `read` and sends the messages. Up to `waiting` messages of an item wait to be received.
/// When the receiver is gone, `read` ends.
///
/// # Errors
/// Returns the error of the first item that failed. An error of `read` comes before an error of `take`.
pub fn read_ahead<T: Sync, M: Send>(
    items: &[T],
    at_once: usize,
    waiting: usize,
    read: impl Fn(&T, &SyncSender<M>) -> Result<()> + Sync,
    mut take: impl FnMut(&T, &Receiver<M>) -> Result<()>,
) -> Result<()> {
    let read = &read;
    std::thread::scope(|scope| {
        let mut reading = VecDeque::new();
        let mut rest = items.iter();
        let mut next = || {
            while reading.len() < at_once.max(1)
                && let Some(item) = rest.next()
            {
                let (send, receive) = sync_channel(waiting);
                let thread = Builder::new()
                    .name("nyssa-read".to_owned())
                    .spawn_scoped(scope, move || read(item, &send))
                    .map_err(|error| Error::limit("cannot start a thread").with_source(error))?;
                reading.push_back((item, receive, thread));
            }
            let Some((item, receive, thread)) = reading.pop_front() else { return Ok(false) };
            let taken = take(item, &receive);
            // Without a receiver the thread ends, even if it waits.
            drop(receive);
            end(thread).and(taken).map(|()| true)
        };
        let result = loop {
            match next() {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        for (_, receive, thread) in reading {
            drop(receive);
            // The error of an earlier item is reported.
            let _ = end(thread);
        }
        result
    })
}

fn end(thread: ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    let died = |_| {
        Err(Error::new(
            Kind::Io,
            "a thread of nyssa ended unexpectedly; this is a bug \
                                             of nyssa, please report it",
        ))
    };
    thread.join().unwrap_or_else(died)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn items_are_read_ahead_and_used_in_order() {
        let items: Vec<usize> = (0..20).collect();
        let (open, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let read = |&item: &usize, send: &SyncSender<usize>| {
            most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // The later items are ready first.
            std::thread::sleep(std::time::Duration::from_millis(20 - item as u64));
            send.send(item).unwrap();
            Ok(())
        };
        let mut taken = Vec::new();
        read_ahead(&items, 4, 1, read, |_, receive| {
            taken.push(receive.recv().unwrap());
            open.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, items);
        assert_eq!(most.into_inner(), 4);
    }

    #[test]
    fn the_first_error_in_order_ends_the_work() {
        let failed = AtomicBool::new(false);
        let read = |&item: &usize, send: &SyncSender<usize>| match item {
            3 => {
                while !failed.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                Err(Error::invalid_argument("item 3"))
            }
            5 => {
                failed.store(true, Ordering::SeqCst);
                Err(Error::invalid_argument("item 5"))
            }
            _ => {
                // The thread ends although nobody receives the second message.
                let _ = send.send(item).and_then(|()| send.send(item));
                Ok(())
            }
        };
        let mut taken = Vec::new();
        let items: Vec<usize> = (0..20).collect();
        let error = read_ahead(&items, 8, 0, read, |_, receive| {
            taken.extend(receive.recv());
            Ok(())
        });
        assert_eq!(error.unwrap_err().message(), "item 3");
        assert_eq!(taken, [0, 1, 2]);
    }
}
