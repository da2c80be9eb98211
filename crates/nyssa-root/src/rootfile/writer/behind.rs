//! Writes to a sink on a thread of its own, while the caller makes the next bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use nyssa_io::Sink;

use crate::error::{Error, Kind, Result};
use crate::heuristics::container;

/// Bytes and their place in the file.
struct Block {
    offset: u64,
    bytes: Vec<u8>,
}

/// A thread that writes blocks to a sink, in their order. It ends at the first error.
pub(super) struct Behind {
    /// `None` when no more blocks come.
    blocks: Option<SyncSender<Block>>,
    /// The memory of blocks that are written.
    free: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<Result<Box<dyn Sink>>>>,
    /// Whether the file is given up, so that waiting blocks are not written.
    given_up: Arc<AtomicBool>,
}

impl Behind {
    /// Starts the thread. Returns the sink if the system has no thread for it.
    pub(super) fn start(sink: Box<dyn Sink>) -> std::result::Result<Self, Box<dyn Sink>> {
        let (blocks, received) = sync_channel(container::WAITING);
        let (freed, free) = channel();
        // The sink waits here until the thread takes it.
        let (give, take) = channel::<Box<dyn Sink>>();
        let given_up = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&given_up);
        let work = move || match take.recv() {
            Ok(sink) => write(sink, &received, &freed, &is_over),
            Err(_) => Err(ended()),
        };
        match Builder::new().name("nyssa-write".to_owned()).spawn(work) {
            Ok(thread) => match give.send(sink) {
                Ok(()) => Ok(Self { blocks: Some(blocks), free, thread: Some(thread), given_up }),
                Err(refused) => Err(refused.0),
            },
            Err(_) => Err(sink),
        }
    }

    /// Hands over a block, and returns memory for the next block. Waits while too many blocks wait.
    ///
    /// # Errors
    /// Returns the error of the sink for an earlier block. The thread has ended then.
    pub(super) fn write(&mut self, offset: u64, bytes: Vec<u8>) -> Result<Vec<u8>> {
        let block = Block { offset, bytes };
        match self.blocks.as_ref().map(|blocks| blocks.send(block)) {
            Some(Ok(())) => {
                Ok(self.free.try_recv().unwrap_or_else(|_| Vec::with_capacity(container::BLOCK)))
            }
            _ => Err(self.end().err().unwrap_or_else(ended)),
        }
    }

    /// Writes all blocks, ends the thread, and returns the sink.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub(super) fn end(&mut self) -> Result<Box<dyn Sink>> {
        self.blocks = None;
        let thread = self.thread.take().ok_or_else(ended)?;
        thread.join().unwrap_or_else(|_| Err(ended()))
    }
}

/// The sink is dropped before this returns.
impl Drop for Behind {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
        // Nobody needs the error.
        let _ = self.end();
    }
}

/// Writes blocks until no more come, or until the file is given up.
fn write(
    mut sink: Box<dyn Sink>,
    blocks: &Receiver<Block>,
    freed: &Sender<Vec<u8>>,
    given_up: &AtomicBool,
) -> Result<Box<dyn Sink>> {
    let mut written = 0;
    for Block { offset, mut bytes } in blocks {
        if given_up.load(Ordering::Relaxed) {
            break;
        }
        write_at(sink.as_mut(), offset, &bytes)?;
        written += bytes.len();
        if written >= container::SYNCED {
            written = 0;
            let _stage = nyssa_observe::stage!("write");
            sink.sync_early()?;
        }
        bytes.clear();
        // The caller may have gone.
        let _ = freed.send(bytes);
    }
    Ok(sink)
}

/// Writes bytes on this thread.
pub(super) fn write_at(sink: &mut dyn Sink, offset: u64, bytes: &[u8]) -> Result<()> {
    let _stage = nyssa_observe::stage!("write", bytes_in = bytes.len() as u64);
    Ok(sink.write_at(offset, bytes)?)
}

fn ended() -> Error {
    Error::new(Kind::Io, "the thread that writes the file has ended after an error")
}
