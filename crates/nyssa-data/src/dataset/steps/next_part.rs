//! Opens the next parts while the current part is read, and reads their first windows.
//!
//! The next part is opened as soon as the current part is open. When the current part comes to its end, the first
//! window of the next part is read. If parts are small, further parts are opened and read, too.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use arrow_array::ArrayRef;
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::page_pool::PagePool;

use super::ahead::receive;
use super::window::{PlannedWindow, WindowPlan};
use super::{InputPart, Parts};
use crate::dataset::LeftOut;
use crate::heuristics::steps;

/// A part that was opened ahead.
pub(super) struct OpenedPart {
    pub part: InputPart,
    /// Its first window, if the window is small.
    pub first: Option<FirstWindow>,
}

/// The first window of a part.
pub(super) struct FirstWindow {
    /// The ends of its steps.
    pub ends: Vec<u64>,
    pub arrays: Vec<ArrayRef>,
    /// The pages and baskets of the part that the next window needs.
    pub page_pool: Arc<PagePool>,
}

/// The first windows that may be read ahead.
#[derive(Clone)]
pub(super) struct FirstWindows {
    pub names: Arc<[String]>,
    pub plan: WindowPlan,
    /// The maximum number of bytes of one window.
    pub most: f64,
}

impl FirstWindows {
    fn read(&self, part: &InputPart, context: &Context) -> Option<FirstWindow> {
        let clusters = part.dataset.clusters();
        let PlannedWindow { ends, opened } =
            self.plan.window_of(self.most, &part.entries, &clusters)?;
        let page_pool = Arc::new(PagePool::new(steps::OPENED_BYTES));
        if let Some(opened) = opened {
            page_pool.set_most(opened);
        }
        let context = context.clone().with_page_pool(Arc::clone(&page_pool));
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let entries = part.entries.start..ends.last().copied()?;
        // After an error, the window is read again in its turn, which reports the error.
        let arrays = part.dataset.read(&names, entries, &context).ok()?;
        Some(FirstWindow { ends, arrays, page_pool })
    }
}

/// A part that is being opened. The thread that opens it is left behind if the part is not wanted any more.
struct NextPart {
    number: usize,
    /// Tells the thread to read the first window. The thread ends when this is dropped.
    ask: Option<Sender<(FirstWindows, Context)>>,
    receiver: Receiver<Result<Option<OpenedPart>>>,
}

impl NextPart {
    /// Begins to open part number `number`. Returns `None` if no thread can be started.
    fn start(
        parts: &Parts,
        number: usize,
        without: &Arc<[LeftOut]>,
        context: &Context,
    ) -> Option<Self> {
        let (ask, requests) = channel::<(FirstWindows, Context)>();
        let (sender, receiver) = sync_channel(1);
        let (parts, left_out) = (Arc::clone(parts), Arc::clone(without));
        let context = context.quiet();
        let open = move || {
            let Some(part) = parts(number, &left_out, &context)? else { return Ok(None) };
            let first = requests.recv().ok();
            let first = first.and_then(|(windows, context)| windows.read(&part, &context));
            Ok(Some(OpenedPart { part, first }))
        };
        // The receiver is gone if the steps were dropped.
        let job = move || sender.send(open()).unwrap_or_default();
        std::thread::Builder::new().name("nyssa-next".to_owned()).spawn(job).ok()?;
        Some(Self { number, ask: Some(ask), receiver })
    }
}

/// The parts that are being opened, in order.
pub(super) struct NextParts {
    parts: VecDeque<NextPart>,
    /// The parts of columns that are left out when the parts are opened.
    without: Arc<[LeftOut]>,
    /// The process that started the threads. A forked process does not have these threads.
    process: u32,
}

impl NextParts {
    /// Makes an empty list.
    pub(super) fn new() -> Self {
        let (parts, without) = (VecDeque::new(), Arc::default());
        Self { parts, without, process: std::process::id() }
    }

    /// Returns how many parts of about `bytes` bytes are read ahead if their windows may take `budget` bytes.
    pub(super) fn count(bytes: f64, budget: f64) -> usize {
        // The other parts may be twice as large.
        (budget / (2.0 * bytes).max(1.0)).clamp(1.0, steps::MOST_PARTS) as usize
    }

    /// Begins to open the parts from number `number` on, until there are `count`.
    pub(super) fn open(
        &mut self,
        parts: &Parts,
        number: usize,
        count: usize,
        without: &Arc<[LeftOut]>,
        context: &Context,
    ) {
        if !Arc::ptr_eq(&self.without, without) || self.process != std::process::id() {
            *self = Self { without: Arc::clone(without), ..Self::new() };
        }
        while self.parts.len() < count {
            let number = self.parts.back().map_or(number, |last| last.number + 1);
            let Some(next) = NextPart::start(parts, number, without, context) else { return };
            self.parts.push_back(next);
        }
    }

    /// Begins to read the first windows of the parts.
    pub(super) fn read(&mut self, windows: &FirstWindows, context: &Context) {
        for ask in self.parts.iter_mut().filter_map(|part| part.ask.take()) {
            // The thread is gone if the part could not be opened.
            let _ = ask.send((windows.clone(), context.quiet()));
        }
    }

    /// Waits for part number `number` and returns it. Returns `None` if no thread opens it.
    ///
    /// # Errors
    /// `Cancelled`; an error if the part cannot be opened.
    pub(super) fn take(
        &mut self,
        number: usize,
        without: &Arc<[LeftOut]>,
        context: &Context,
    ) -> Result<Option<Option<OpenedPart>>> {
        if !Arc::ptr_eq(&self.without, without) || self.process != std::process::id() {
            *self = Self::new();
        }
        let Some(next) = self.parts.pop_front() else { return Ok(None) };
        if next.number != number {
            *self = Self::new();
            return Ok(None);
        }
        drop(next.ask);
        receive(&next.receiver, context)?.transpose()
    }
}
