//! Opens the next part while the one before it is read.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use super::ahead::receive;
use super::{Part, Parts};
use crate::Context;
use crate::dataset::LeftOut;
use crate::error::Result;

/// A part that is being opened. The thread that opens it is left behind if the part is not wanted any more.
pub(super) struct NextPart {
    number: usize,
    /// The parts of columns that it is opened without.
    without: Arc<[LeftOut]>,
    receiver: Receiver<Result<Option<Part>>>,
    /// The process that started the thread. A forked process does not have the thread.
    process: u32,
}

impl NextPart {
    /// Begins to open part number `number` in a new thread. Returns `None` if no thread can be started.
    pub fn start(
        parts: &Parts,
        number: usize,
        without: &Arc<[LeftOut]>,
        context: &Context,
    ) -> Option<Self> {
        let (sender, receiver) = sync_channel(1);
        let (parts, left_out) = (Arc::clone(parts), Arc::clone(without));
        let context = context.quiet();
        let job = move || {
            // The receiver is gone if the steps were dropped.
            let _ = sender.send(parts(number, &left_out, &context));
        };
        std::thread::Builder::new().name("nyssa-next".to_owned()).spawn(job).ok()?;
        let process = std::process::id();
        Some(Self { number, without: Arc::clone(without), receiver, process })
    }

    /// Returns the part, or `None` if this is another part.
    ///
    /// # Errors
    /// `Cancelled`, and the errors of opening.
    pub fn take(
        self,
        number: usize,
        without: &Arc<[LeftOut]>,
        context: &Context,
    ) -> Result<Option<Option<Part>>> {
        let is_same = self.number == number && Arc::ptr_eq(&self.without, without);
        if !is_same || self.process != std::process::id() {
            return Ok(None);
        }
        receive(&self.receiver, context)?.transpose()
    }
}
