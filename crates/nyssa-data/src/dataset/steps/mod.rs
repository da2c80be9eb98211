//! Reads a dataset in steps. A thread reads the next step while the caller works on the current step.
//!
//! Neighbouring steps share pages and baskets (`PagePool`), so each page is decompressed once if there
//! is memory to keep it. Small steps are cut out of larger windows, and a window is read at once.

mod ahead;
mod batches;
mod large_entries;
mod next_part;
mod open_part;
mod partition;
mod size;
mod window;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;

use self::ahead::Ahead;
pub use self::batches::{Batches, MakeBatch};
use self::next_part::{FirstWindow, NextParts};
use self::open_part::{Columns, Open};
pub use self::partition::partitions;
pub use self::size::StepSize;
use self::size::{MemoryPlan, MemoryTaken};
use self::window::WindowPlan;
use super::{AnyDataset, LeftOut};
use nyssa_root::Context;
use nyssa_root::arena::give_back;
use nyssa_root::arrow::{Cutter, memory};
use nyssa_root::error::{Kind, Result};
use nyssa_root::guard::to_usize;
use nyssa_root::page_pool::PagePool;

use crate::heuristics::steps;

/// A part of the input, such as a file. No step crosses the end of a part.
#[derive(Clone)]
pub struct InputPart {
    /// The dataset that holds the entries.
    pub dataset: AnyDataset,
    /// The entries of the dataset.
    pub entries: Range<u64>,
    /// The entry of the dataset that counts as entry 0 of the part.
    pub origin: u64,
    /// The name of the file.
    pub file: Arc<str>,
    /// The numbers of the entries that a step reports. `None`: entries are counted from `origin` on.
    pub shown: Option<Shown>,
}

impl InputPart {
    /// Makes the part that has some entries of a dataset.
    pub fn new(dataset: &AnyDataset, entries: Range<u64>) -> Self {
        let file = dataset.file().into();
        Self { dataset: Arc::clone(dataset), entries, origin: 0, file, shown: None }
    }

    /// Returns an input that has only this part.
    pub fn alone(self) -> Parts {
        Arc::new(move |number, _, _| Ok((number == 0).then(|| self.clone())))
    }
}

/// A function that returns the range of the file for a range of entries of a part's dataset, which has only some of
/// the entries of the file.
pub type Shown = Arc<dyn Fn(Range<u64>) -> Range<u64> + Send + Sync>;

/// A function that opens part number n without some parts of its columns
/// ([`Dataset::without`](super::Dataset::without)), and returns `None` after the last part. It can be called on
/// any thread, and again for a part after a fork.
pub type Parts =
    Arc<dyn Fn(usize, &[LeftOut], &Context) -> Result<Option<InputPart>> + Send + Sync>;

/// A function that turns the arrays of a step into the result for the caller, on the thread that reads. It also
/// returns how many bytes of memory the result takes besides the arrays.
pub type Finish<T> =
    Arc<dyn Fn(&[FieldRef], Vec<ArrayRef>, u64, &Context) -> Result<(T, u64)> + Send + Sync>;

/// The entries that are read together.
pub struct Step<T> {
    /// The name of the file.
    pub file: Arc<str>,
    /// Its entries, counted in the part.
    pub entries: Range<u64>,
    /// The number of its first entry, counted over all parts.
    pub first: u64,
    /// The result of [`Finish`] for the arrays of the step.
    pub data: T,
    /// The columns that are left out from this step on.
    pub left_out: Vec<LeftOut>,
    /// The bytes of the step, if it is a single entry that takes more than the memory of the iteration.
    pub excess: Option<u64>,
    /// The dataset from which the step was read, and its entries there.
    origin: (AnyDataset, Range<u64>),
}

/// The input of an iteration, with its options.
struct Input<T> {
    parts: Parts,
    size: StepSize,
    finish: Finish<T>,
}

/// The position at which reading goes on.
#[derive(Clone, Default)]
struct Position {
    columns: Columns,
    part: usize,
    /// The next entry of the dataset; `None` at the start of the part.
    entry: Option<u64>,
    /// The ends of the next steps of the part, if a large entry must be a step of its own.
    cuts: VecDeque<u64>,
    /// The number of entries in the earlier parts.
    before: u64,
    taken: Option<MemoryTaken>,
    /// The number of steps in the last window.
    steps: u64,
    /// Whether the last window was so small that three windows may be in memory.
    small: bool,
    /// Whether the last window was one entry that is so large that no other window may be in memory with it.
    large: bool,
}

/// The reader of windows, one after the other.
struct Worker<T> {
    input: Arc<Input<T>>,
    at: Position,
    open: Option<Open>,
    /// The next parts, which are opened while the current part is read.
    next: NextParts,
    page_pool: Arc<PagePool>,
}

/// The steps of a dataset, or of several files.
pub struct Steps<T: Send + 'static> {
    input: Arc<Input<T>>,
    ready: VecDeque<Step<T>>,
    state: Reading<T>,
    cancel: Arc<AtomicBool>,
}

enum Reading<T> {
    /// No thread is reading.
    Idle(Box<Worker<T>>),
    /// A thread is reading the next window.
    Ahead(Ahead<T>),
    /// All steps were read, or an error ended the iteration.
    Done,
}

impl<T: Send + 'static> Steps<T> {
    /// Makes the steps of the columns `names` of `parts`. Nothing is read yet. With `skip_unreadable`, a
    /// column is left out from the first step in which it cannot be read. When `cancel` is set, reading ahead
    /// ends.
    pub fn new(
        parts: Parts,
        names: Vec<String>,
        skip_unreadable: bool,
        size: StepSize,
        finish: Finish<T>,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        let input = Arc::new(Input { parts, size, finish });
        let at = Position { columns: Columns::new(names, skip_unreadable), ..Position::default() };
        let state = Reading::Idle(Box::new(Worker::new(&input, at)));
        Self { input, ready: VecDeque::new(), state, cancel }
    }

    /// Returns the next step. Returns `None` after the last step and after an error.
    ///
    /// # Errors
    /// `Cancelled`; an error if a file cannot be opened or read. A step of a closed file is an error, even if it has
    /// been read already.
    pub fn next(&mut self, context: &Context) -> Result<Option<Step<T>>> {
        loop {
            if let Some(step) = self.ready.pop_front() {
                let (dataset, entries) = &step.origin;
                if let Err(closed) = dataset.check_open(entries) {
                    self.stop();
                    return Err(closed);
                }
                return Ok(Some(step));
            }
            let (worker, window) = match std::mem::replace(&mut self.state, Reading::Done) {
                Reading::Done => return Ok(None),
                Reading::Idle(mut worker) => {
                    let window = worker.window(context);
                    (worker, window)
                }
                Reading::Ahead(ahead) if ahead.is_here() => ahead.wait(context, &self.cancel)?,
                // A forked process does not have the threads of its parent.
                Reading::Ahead(ahead) => {
                    let mut worker = Box::new(Worker::new(&self.input, ahead.leave()));
                    let window = worker.window(context);
                    (worker, window)
                }
            };
            let Some(steps) = window? else { return Ok(None) };
            self.ready.extend(steps);
            let small = worker.at.small;
            self.state = Reading::Idle(worker);
            if small {
                self.start(context, Duration::ZERO)?;
            }
        }
    }

    /// Begins to read the next window in a new thread, unless the last window was one entry so large that two windows
    /// do not fit into the memory.
    ///
    /// # Errors
    /// `LimitExceeded` when no thread can be started.
    pub fn prepare(&mut self, context: &Context) -> Result<()> {
        if matches!(&self.state, Reading::Idle(worker) if worker.at.large) {
            return Ok(());
        }
        self.start(context, steps::HANDOVER)
    }

    /// Begins to read the next window after the time `wait`.
    fn start(&mut self, context: &Context, wait: Duration) -> Result<()> {
        self.state = match std::mem::replace(&mut self.state, Reading::Done) {
            Reading::Idle(worker) => {
                let context = context.quiet().with_cancel(Arc::clone(&self.cancel));
                Reading::Ahead(Ahead::start(worker, wait, context)?)
            }
            other => other,
        };
        Ok(())
    }
}

impl<T: Send + 'static> Steps<T> {
    /// Ends the iteration.
    fn stop(&mut self) {
        self.ready.clear();
        if let Reading::Ahead(ahead) = std::mem::replace(&mut self.state, Reading::Done) {
            self.cancel.store(true, Ordering::Relaxed);
            ahead.stop();
        }
    }
}

impl<T: Send + 'static> Drop for Steps<T> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<T> Worker<T> {
    fn new(input: &Arc<Input<T>>, at: Position) -> Self {
        let page_pool = Arc::new(PagePool::new(steps::OPENED_BYTES));
        Self { input: Arc::clone(input), at, open: None, next: NextParts::new(), page_pool }
    }

    /// Reads the steps of the next window. Returns `None` after the last window.
    fn window(&mut self, context: &Context) -> Result<Option<Vec<Step<T>>>> {
        let mut context = context.clone();
        if let StepSize::Memory(memory) = self.input.size {
            context = context.with_fetch_bytes(MemoryPlan::fetched(memory));
        }
        let Some(mut open) = self.open(&context)? else { return Ok(None) };
        let from = self.at.entry.unwrap_or(open.part.entries.start);
        let (read_ends, read) = self.first_window(&mut open, from);
        context = context.with_page_pool(Arc::clone(&self.page_pool));
        let mut ends = match read_ends {
            Some(ends) => ends,
            None => self.ends(&mut open, from, &context)?,
        };
        if matches!(self.input.size, StepSize::Memory(_)) && !self.at.small {
            // Memory that was freed since the previous step still counts until it is given back to the
            // system.
            give_back();
        }
        let end = ends.last().copied().unwrap_or(open.part.entries.end);
        let mut entries = from..end;
        context = self.start_next(&open, end, context);
        let here = match read {
            Some(arrays) => self.at.columns.take(&mut open, arrays),
            None => self.at.columns.read(&mut open, &entries, ends.len() == 1, &context),
        };
        let arrays = match here {
            // The steps before the error are correct.
            Err(error) if ends.len() > 1 && error.kind() != Kind::Cancelled => {
                ends.truncate(1);
                entries.end = ends[0];
                self.at.columns.read(&mut open, &entries, true, &context)?
            }
            read => read?,
        };
        let arrays = self.apart(&mut open, (&mut entries, &mut ends), arrays, &context)?;
        let end = entries.end;
        let opened = self.page_pool.wanted();
        self.page_pool.turn();
        let mut bytes = memory(&arrays);
        let mut steps = Vec::with_capacity(ends.len());
        let mut cutter = Cutter::default();
        let mut start = from;
        for &end in &ends {
            let (row, rows) = (to_usize(start - from, "entry")?, end - start);
            let length = to_usize(rows, "entry")?;
            let cut = |array| cutter.cut(array, row, length);
            let piece = arrays.iter().map(cut).collect::<Result<Vec<_>>>()?;
            let (data, more) = match (self.input.finish)(&open.fields, piece, rows, &context) {
                Err(error) if start > from && error.kind() != Kind::Cancelled => break,
                finished => finished?,
            };
            bytes = bytes.saturating_add(more);
            let InputPart { origin, file, dataset, shown, .. } = &open.part;
            steps.push(Step {
                file: Arc::clone(file),
                entries: shown
                    .as_ref()
                    .map_or(start - origin..end - origin, |shown| shown(start..end)),
                first: self.at.before + (start - origin),
                data,
                left_out: std::mem::take(&mut open.left_out),
                excess: None,
                origin: (Arc::clone(dataset), start..end),
            });
            start = end;
        }
        // If the later steps could not be read together, the first step is read again alone.
        let steps_end = start;
        let between = end == open.part.entries.end || open.clusters.iter().any(|c| c.end == end);
        let mut taken = self.at.taken.unwrap_or_default();
        taken.entry = bytes as f64 / (end - from).max(1) as f64;
        let most = if between { &mut taken.between } else { &mut taken.inside };
        *most = opened.max(*most);
        self.at.taken = Some(taken);
        self.at.small = bytes as f64 <= WindowPlan::small_bytes(self.input.size);
        self.at.large = false;
        if let (StepSize::Memory(memory), [step]) = (self.input.size, &mut steps[..])
            && end - from == 1
        {
            self.at.large = bytes > memory / 2;
            step.excess = (bytes > memory).then_some(bytes);
        }
        self.at.steps = if steps_end < end { 0 } else { ends.len() as u64 };
        self.at.entry = Some(steps_end);
        self.open = Some(open);
        Ok(Some(steps))
    }

    /// Returns the part with the next entry.
    fn open(&mut self, context: &Context) -> Result<Option<Open>> {
        loop {
            let open = match self.open.take() {
                Some(open) => Some(open),
                None => {
                    let (parts, number) = (&self.input.parts, self.at.part);
                    self.at.columns.open(parts, number, &mut self.next, context)?
                }
            };
            let Some(open) = open else { return Ok(None) };
            if self.at.entry.unwrap_or(open.part.entries.start) < open.part.entries.end {
                return Ok(Some(open));
            }
            self.at.before += open.part.entries.end.saturating_sub(open.part.origin);
            self.at.part += 1;
            self.at.entry = None;
            self.at.cuts.clear();
        }
    }

    /// Returns the first window of a part, if it was read ahead and `from` is its first entry: the ends of its steps,
    /// and its arrays.
    fn first_window(
        &mut self,
        open: &mut Open,
        from: u64,
    ) -> (Option<Vec<u64>>, Option<Vec<ArrayRef>>) {
        let first = open.first.take().filter(|_| from == open.part.entries.start);
        let Some(FirstWindow { ends, arrays, page_pool }) = first else { return (None, None) };
        // No page or basket of the previous part is needed any more.
        self.page_pool = page_pool;
        (Some(ends), Some(arrays))
    }

    fn plan(&self, context: &Context) -> WindowPlan {
        WindowPlan {
            size: self.input.size,
            columns: self.at.columns.len(),
            taken: self.at.taken,
            steps: self.at.steps,
            threads: context.threads(),
            largest: self.page_pool.largest(),
        }
    }

    /// Begins to open the next part if it is remote. If this window, which ends at entry `end`, is near the end of
    /// its part, begins to read the first windows of the next parts. Returns the context of this window: all windows
    /// share the bytes that may be fetched ahead.
    fn start_next(&mut self, open: &Open, end: u64, context: Context) -> Context {
        if !nyssa_io::is_remote(&*open.part.file) {
            return context;
        }
        let (entries, plan) = (&open.part.entries, self.plan(&context));
        let budget = WindowPlan::small_bytes(self.input.size);
        // A cut is evaluated for a whole part when the part is opened.
        let whole = plan.bytes(entries.end - entries.start).filter(|_| open.part.shown.is_none());
        let is_last =
            plan.bytes(entries.end.saturating_sub(end)).is_some_and(|rest| rest <= budget);
        let count = whole.filter(|_| is_last).map_or(1, |whole| NextParts::count(whole, budget));
        let (parts, next) = (&self.input.parts, self.at.part + 1);
        self.next.open(parts, next, count, self.at.columns.without(), &context);
        let most = budget / count as f64;
        match self.at.columns.first_windows(plan, most).filter(|_| is_last) {
            Some(windows) => {
                let share = context.ahead_bytes() / (count as u64 + 1);
                let context = context.with_fetch_bytes(share.max(most as u64));
                self.next.read(&windows, &context);
                context
            }
            None => context,
        }
    }

    /// Reads the first step of a window alone, if an entry of the window is so large that the window takes more than the
    /// memory. The window then ends with this step, and the large entry will be a step of its own. Otherwise returns the
    /// arrays of the window as they are.
    fn apart(
        &mut self,
        open: &mut Open,
        (entries, ends): (&mut Range<u64>, &mut Vec<u64>),
        arrays: Vec<ArrayRef>,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let StepSize::Memory(most) = self.input.size else { return Ok(arrays) };
        if entries.end - entries.start < 2 || memory(&arrays) <= most {
            return Ok(arrays);
        }
        let Some(cuts) = large_entries::ends(&arrays, entries.start, most / 2)? else {
            return Ok(arrays);
        };
        drop(arrays);
        self.at.cuts = cuts.into();
        entries.end = self.at.cuts.front().map_or(entries.end, |&cut| cut.min(entries.end));
        *ends = vec![entries.end];
        self.at.columns.read(open, entries, true, context)
    }

    /// Finds the ends of the steps of the next window, which begins at entry `from`.
    fn ends(&mut self, open: &mut Open, from: u64, context: &Context) -> Result<Vec<u64>> {
        while let Some(cut) = self.at.cuts.pop_front() {
            if cut > from {
                return Ok(vec![cut]);
            }
        }
        if let (StepSize::Memory(memory), None) = (self.input.size, self.at.taken) {
            let plan = MemoryPlan::new(memory, self.at.columns.len());
            self.sample(open, from, plan, context)?;
        }
        let window = self.plan(context).window(from, open.part.entries.end, &open.clusters);
        if let Some(opened) = window.opened {
            self.page_pool.set_most(opened);
        }
        Ok(window.ends)
    }

    /// Reads a few entries to measure their size. The first step uses the pages and baskets that this opens.
    fn sample(
        &mut self,
        open: &mut Open,
        from: u64,
        plan: MemoryPlan,
        context: &Context,
    ) -> Result<()> {
        let rest = open.part.entries.end - from;
        let enough = plan.sample().min(steps::SAMPLE_BYTES);
        self.page_pool.set_most(plan.opened());
        self.page_pool.keep_all(true);
        let mut entries = 1;
        let bytes = loop {
            let arrays = self.at.columns.read(open, &(from..from + entries), true, context)?;
            let bytes = memory(&arrays);
            let (_, more) = (self.input.finish)(&open.fields, arrays, entries, context)?;
            let bytes = bytes.saturating_add(more);
            if entries == rest || bytes >= enough {
                break bytes;
            }
            entries = entries.saturating_mul(steps::SAMPLE_GROWTH).min(rest);
        };
        self.page_pool.keep_all(false);
        let inside = self.page_pool.wanted();
        let taken = MemoryTaken { entry: bytes as f64 / entries as f64, inside, between: 0 };
        self.at.taken = Some(taken);
        Ok(())
    }
}
