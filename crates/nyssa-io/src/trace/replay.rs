//! Repeats the reads of a trace by the fetcher of this program: on other files, or over a simulated link.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;

use super::event::{Event, Trace};
use super::link::{Link, Shared, sleep_until};
use super::schedule::{Action, Step, steps};
use super::simulated::Simulated;
use crate::fetch::{Fetched, Fetcher, read_all, with_ends};
use crate::for_people::is_shown;
use crate::source::same_resource;
use crate::{Error, IoCounts, Limits, OpenOptions, Result, Source, Stop, open_by, open_with};

/// The largest number of threads of a trace.
const MAX_THREADS: usize = 4096;

/// The options of a replay.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReplayOptions {
    /// The path or URL that is read in place of all files.
    pub url: Option<String>,
    /// The link over which files of zeros are read in place of all files.
    pub link: Option<Link>,
    /// The largest number of bytes that are fetched and not yet decoded, in place of the recorded one.
    pub ahead: Option<u64>,
    /// The largest gap between two ranges that is read over, in bytes, in place of what follows from the cost of
    /// requests.
    pub gap: Option<u64>,
    /// Whether the time in which threads computed is left out.
    pub fast: bool,
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Replayed {
    /// The time of the recorded run in seconds.
    pub recorded_seconds: f64,
    /// The time of this run in seconds.
    pub seconds: f64,
    /// The counts of what was read in this run.
    pub io: IoCounts,
}

/// The state that threads share.
struct Run<'r> {
    steps: &'r [Step],
    options: &'r ReplayOptions,
    open: OpenOptions,
    shared: Option<Arc<Shared>>,
    begin: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The ends of the steps that are done.
    done: HashMap<usize, Instant>,
    sources: HashMap<u64, Arc<dyn Source>>,
    plans: HashMap<u64, (Arc<Fetcher>, usize)>,
    failed: Option<Error>,
}

/// Repeats a trace, with the time in which its threads computed between reads.
///
/// # Errors
/// The errors of opening and reading; `InvalidInput` for a trace with too many threads, and for one whose files cannot be
/// opened by their names.
pub fn replay(trace: &Trace, options: &ReplayOptions) -> Result<Replayed> {
    let hidden = |event: &Event| match event {
        Event::Open { name, .. } if is_shown(name) => Some(name.clone()),
        _ => None,
    };
    let is_opened = options.url.is_none() && options.link.is_none();
    if let Some(name) = trace.events.iter().find_map(hidden).filter(|_| is_opened) {
        let why = "a recording has no queries of URLs, because they may be secrets: give the \
                   whole URL with --url";
        return Err(Error::new(name, "replay", io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    let steps = steps(trace);
    let mut threads: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, step) in steps.iter().enumerate() {
        threads.entry(step.thread).or_default().push(index);
    }
    if threads.len() > MAX_THREADS {
        let why = format!("it has more than {MAX_THREADS} threads");
        let error = io::Error::new(io::ErrorKind::InvalidInput, why);
        return Err(Error::new("the trace", "replay", error));
    }
    let run = Run {
        steps: &steps,
        options,
        open: OpenOptions::default(),
        shared: options.link.map(Shared::new),
        begin: Instant::now(),
        state: Mutex::default(),
        changed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for own in threads.values() {
            scope.spawn(|| run.thread(own));
        }
    });
    let seconds = run.begin.elapsed().as_secs_f64();
    if let Some(error) = run.state().failed.take() {
        return Err(error);
    }
    let io = run.open.stats.counts();
    Ok(Replayed { recorded_seconds: trace.summary().runtime, seconds, io })
}

impl Run<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the steps of one thread.
    fn thread(&self, own: &[usize]) {
        let mut held: Vec<(Instant, Fetched)> = Vec::new();
        for &index in own {
            let step = &self.steps[index];
            let Some(ready) = self.ended(step.after) else { return };
            let delay = if self.options.fast { 0.0 } else { step.delay };
            let start = ready + Duration::try_from_secs_f64(delay).unwrap_or_default();
            held.sort_by_key(|(until, _)| *until);
            while held.first().is_some_and(|(until, _)| *until <= start) {
                let (until, fetched) = held.remove(0);
                sleep_until(until);
                drop(fetched);
            }
            sleep_until(start);
            let done = self.act(&step.action, &mut held);
            let mut state = self.state();
            match done {
                Ok(()) => drop(state.done.insert(index, Instant::now())),
                Err(error) => drop(state.failed.get_or_insert(error)),
            }
            self.changed.notify_all();
        }
    }

    /// Waits for the end of a step. Returns `None` if a step has failed.
    fn ended(&self, step: Option<usize>) -> Option<Instant> {
        let Some(step) = step else { return Some(self.begin) };
        let mut state = self.state();
        loop {
            if state.failed.is_some() {
                return None;
            }
            if let Some(end) = state.done.get(&step) {
                return Some(*end);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn act(&self, action: &Action, held: &mut Vec<(Instant, Fetched)>) -> Result<()> {
        match action {
            Action::Open { file, name, size } => {
                let source = self.open(*file, name, *size)?;
                self.state().sources.insert(*file, source);
            }
            Action::Read { file, ranges } => drop(read_all(&self.source(*file)?, ranges)?),
            Action::Plan { plan, file, units, ahead } => {
                let ahead = self.options.ahead.unwrap_or(*ahead);
                let fetcher = Fetcher::new(&self.source(*file)?, units.clone(), ahead);
                self.state().plans.insert(*plan, (Arc::new(fetcher), units.len()));
            }
            Action::Wait { plan, unit, held: seconds } => {
                let Some(fetcher) = self.fetcher(*plan) else { return Ok(()) };
                if let Some(fetched) = fetcher.take(*unit, &|| self.state().failed.is_some()) {
                    let fetched = fetched.map_err(|failed| failed.error)?;
                    let seconds = if self.options.fast { 0.0 } else { *seconds };
                    let until = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                    held.push((Instant::now() + until, fetched));
                }
            }
        }
        Ok(())
    }

    /// Returns the fetcher of a plan, and forgets it with its last unit.
    fn fetcher(&self, plan: u64) -> Option<Arc<Fetcher>> {
        let mut state = self.state();
        let (fetcher, left) = state.plans.get_mut(&plan)?;
        let fetcher = Arc::clone(fetcher);
        *left = left.saturating_sub(1);
        if *left == 0 {
            state.plans.remove(&plan);
        }
        Some(fetcher)
    }

    fn source(&self, file: u64) -> Result<Arc<dyn Source>> {
        let found = self.state().sources.get(&file).cloned();
        found.ok_or_else(|| {
            let error =
                io::Error::new(io::ErrorKind::InvalidData, "it reads a file that is not open");
            Error::new("the trace", "replay", error)
        })
    }

    fn open(&self, file: u64, name: &str, size: u64) -> Result<Arc<dyn Source>> {
        let server = usize::try_from(file).unwrap_or_default();
        let source = match &self.shared {
            None => open_with(self.options.url.as_deref().unwrap_or(name), &self.open)?,
            Some(shared) => open_by(&self.open, || {
                Ok(Arc::new(Simulated::open(name, size, server, shared)) as Arc<dyn Source>)
            })?,
        };
        // The reader of a far file gets its ends when it is opened, even if the recorded file was near.
        let source = with_ends(source)?;
        Ok(match self.options.gap {
            Some(gap) => Arc::new(WithGap { source, gap }),
            None => source,
        })
    }
}

/// A source that reads over other gaps.
struct WithGap {
    source: Arc<dyn Source>,
    gap: u64,
}

impl Source for WithGap {
    same_resource!(source);

    fn limits(&self) -> Limits {
        Limits { gap: Some(self.gap), over_read: None, ..self.source.limits() }
    }

    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        Limits { gap: Some(self.gap), over_read: None, ..self.source.limits_of(units) }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.source.read_ranges(ranges)
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        self.source.read_ranges_until(ranges, stop)
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.source.read_ranges_again(ranges)
    }
}
