//! Repeats the reads of a trace by the fetcher of this program: on other files, or over a simulated link.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use nyssa_observe::Event;
use serde::Serialize;

use super::link::{Link, SharedLink, sleep_until};
use super::recorded::Trace;
use super::schedule::{Action, Schedule, Step, schedule};
use super::simulated::Simulated;
use crate::fetch::{Fetched, Fetcher, read_all, with_ends};
use crate::for_people::{is_shown, shown};
use crate::source::same_resource;
use crate::{
    Error, IoCounts, Limits, OpenOptions, Result, Source, Stop, is_remote, open_by, open_with,
};

/// The largest number of threads of a trace.
const MAX_THREADS: usize = 4096;

/// The number of the next replay of the process.
static REPLAYS: AtomicU64 = AtomicU64::new(0);

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
    /// The time of the recorded job in seconds, see [`Trace::seconds`].
    pub recorded_seconds: f64,
    /// The time of the job in this run in seconds.
    pub seconds: f64,
    /// The counts of what was read in this run.
    pub io: IoCounts,
    /// The reasons why the time of the job may be another one.
    pub warnings: Vec<String>,
}

/// The state that threads share.
struct Run<'r> {
    schedule: &'r Schedule,
    options: &'r ReplayOptions,
    /// The number of this replay in the process.
    number: u64,
    open: OpenOptions,
    shared: Option<Arc<SharedLink>>,
    begin: Instant,
    state: Mutex<ReplayProgress>,
    changed: Condvar,
}

#[derive(Default)]
struct ReplayProgress {
    /// The ends and the releases of the steps that are done.
    done: HashMap<usize, (Instant, Instant)>,
    sources: HashMap<u64, Arc<dyn Source>>,
    plans: HashMap<u64, (Arc<Fetcher>, usize)>,
    failed: Option<Error>,
}

/// Repeats a trace, with the time in which its threads computed before, between and after reads.
///
/// # Errors
/// A file cannot be opened or read; `InvalidInput` for a trace with too many threads, and for a trace with files
/// that cannot be opened by their names.
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
    let schedule = schedule(trace);
    let mut threads: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, step) in schedule.steps.iter().enumerate() {
        threads.entry(step.thread).or_default().push(index);
    }
    if threads.len() > MAX_THREADS {
        let why = format!("it has more than {MAX_THREADS} threads");
        let error = io::Error::new(io::ErrorKind::InvalidInput, why);
        return Err(Error::new("the trace", "replay", error));
    }
    let run = Run {
        schedule: &schedule,
        options,
        number: REPLAYS.fetch_add(1, Ordering::Relaxed),
        open: OpenOptions::default(),
        shared: options.link.map(SharedLink::new),
        begin: Instant::now(),
        state: Mutex::default(),
        changed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for own in threads.values() {
            scope.spawn(|| run.thread(own));
        }
    });
    if let Some(error) = run.state().failed.take() {
        return Err(error);
    }
    std::thread::sleep(run.computing(schedule.rest));
    let seconds = run.begin.elapsed().as_secs_f64();
    let (recorded_seconds, io) = (trace.seconds(), run.open.stats.counts());
    Ok(Replayed {
        recorded_seconds,
        seconds,
        io,
        warnings: warnings(trace, &schedule.steps, options),
    })
}

impl Run<'_> {
    fn state(&self) -> MutexGuard<'_, ReplayProgress> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time of `seconds` in which a thread computed, or no time if that is left out.
    fn computing(&self, seconds: f64) -> Duration {
        let seconds = if self.options.fast { 0.0 } else { seconds };
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }

    /// Does the steps of one thread.
    fn thread(&self, own: &[usize]) {
        let mut held: Vec<Held> = Vec::new();
        for &index in own {
            let step = &self.schedule.steps[index];
            // A thread that waits for others has released what it had released in the recorded job.
            release(&mut held, step.start);
            let Some(ready) = self.ready(step) else { return };
            sleep_until(ready + self.computing(step.delay));
            let done = self.act(&step.action);
            let end = Instant::now();
            let released = end + self.computing(step.held);
            let mut state = self.state();
            match done {
                Ok(fetched) => {
                    let recorded = step.release();
                    held.extend(fetched.map(|fetched| Held { recorded, released, fetched }));
                    state.done.insert(index, (end, released));
                }
                Err(error) => drop(state.failed.get_or_insert(error)),
            }
            self.changed.notify_all();
        }
        release(&mut held, f64::INFINITY);
    }

    /// Waits for all that a step follows. Returns the time of the last of it, or `None` if a step has failed.
    fn ready(&self, step: &Step) -> Option<Instant> {
        let mut ready = self.begin;
        let mut state = self.state();
        for after in &step.after {
            let (end, released) = loop {
                if state.failed.is_some() {
                    return None;
                }
                if let Some(done) = state.done.get(after) {
                    break *done;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            let is_own =
                self.schedule.steps.get(*after).is_some_and(|item| item.thread == step.thread);
            ready = ready.max(if is_own { end } else { released });
        }
        Some(ready)
    }

    /// Does what a step does. Returns the bytes that its thread holds.
    fn act(&self, action: &Action) -> Result<Option<Fetched>> {
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
            Action::Wait { plan, unit } => {
                let Some(fetcher) = self.fetcher(*plan) else { return Ok(None) };
                let taken = fetcher.take(*unit, &|| self.state().failed.is_some());
                return taken.transpose().map_err(|failed| failed.error);
            }
        }
        Ok(None)
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
        let source = self.state().sources.get(&file).cloned();
        source.ok_or_else(|| {
            let error =
                io::Error::new(io::ErrorKind::InvalidData, "it reads a file that is not open");
            Error::new("the trace", "replay", error)
        })
    }

    fn open(&self, file: u64, name: &str, size: u64) -> Result<Arc<dyn Source>> {
        let source = match &self.shared {
            None => match &self.options.url {
                Some(url) => open_with(url, &self.open)?,
                None => open_with(name, &self.open).map_err(|error| or_gone(name, error))?,
            },
            Some(shared) => open_by(&self.open, || {
                let server = usize::try_from(file).unwrap_or_default() % shared.link.servers.max(1);
                // The process may know other servers. Its knowledge of them does not count for this server.
                let name = format!("simulated://{}-{server}/{name}", self.number);
                let file = Simulated::open(name, size, server, shared, &self.open);
                Ok(Arc::new(file) as Arc<dyn Source>)
            })?,
        };
        // The reader of a remote file gets its ends when it is opened, even if the recorded file was near.
        let source = with_ends(source)?;
        Ok(match self.options.gap {
            Some(gap) => Arc::new(WithGap { source, gap }),
            None => source,
        })
    }
}

/// Says what to do if a recorded file is gone, such as the output that a job with `--verify` read back.
fn or_gone(name: &str, error: Error) -> Error {
    if error.source.kind() != io::ErrorKind::NotFound {
        return error;
    }
    let why = "it is gone: the recorded job read it, and perhaps wrote it before, under this name; record the job \
               without --verify, or replay it over a link (--link-latency)";
    Error::new(name, "replay", io::Error::new(io::ErrorKind::NotFound, why))
}

/// Bytes that a thread holds.
struct Held {
    /// The time of their release in the recorded job.
    recorded: f64,
    /// The time of their release in this run.
    released: Instant,
    fetched: Fetched,
}

/// Releases the bytes, each at its time, that were released until `end` in the recorded job.
fn release(held: &mut Vec<Held>, end: f64) {
    held.sort_by(|a, b| a.recorded.total_cmp(&b.recorded));
    let due = held.partition_point(|item| item.recorded <= end);
    for Held { released, fetched, .. } in held.drain(..due) {
        sleep_until(released);
        drop(fetched);
    }
}

/// Returns the reasons why the time of a replayed job may be another one.
fn warnings(trace: &Trace, steps: &[Step], options: &ReplayOptions) -> Vec<String> {
    let mut warnings = Vec::new();
    if !trace.has_end() {
        warnings.push(
            "the end of the job is not recorded: its work after the last event is not known, and is \
             in neither time"
                .to_owned(),
        );
    }
    let is_far = options.link.is_some() || options.url.as_ref().is_some_and(is_remote);
    let opened: Vec<&str> = trace.events.iter().filter_map(Event::opened).collect();
    let local = opened.iter().filter(|name| !is_remote(name)).count();
    if is_far && local > 0 {
        let reads = |step: &&Step| matches!(step.action, Action::Plan { .. } | Action::Read { .. });
        warnings.push(format!(
            "{local} of {} opened files were local in the recorded job, which read in {} steps: a job \
             that converts, or reads many files, takes fewer steps with remote files, and may be much \
             faster than said here; record it with remote files, for which `nyssa serve` on this \
             machine is enough",
            opened.len(),
            steps.iter().filter(reads).count()
        ));
    }
    let files: BTreeSet<_> = opened.iter().collect();
    if let Some(url) = &options.url
        && files.len() > 1
    {
        let url = shown(url);
        warnings.push(format!(
            "the recorded job read {} files, and {url} was read in place of each of them",
            files.len()
        ));
    }
    warnings
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
