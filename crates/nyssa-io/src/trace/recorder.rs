//! Writes a trace while a process reads.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use nyssa_net::PerProcess;

use super::event::{Event, VERSION};
use crate::cpu_time;
use crate::location::local;
use crate::{Error, Result};

/// The longest time for which lines stay in memory.
const FLUSHED_AFTER: Duration = Duration::from_secs(1);

/// Whether a process of this family of processes records. It is checked first, because this costs almost
/// nothing.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// The recorder of this process. A child of `fork` has none.
static RECORDER: PerProcess<RwLock<Option<Arc<Recorder>>>> = PerProcess::new();
/// The number of the next file or plan.
static NEXT: AtomicU64 = AtomicU64::new(1);
/// The number of the next thread.
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The number of this thread in traces.
    static THREAD: u64 = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
    /// The plan that this thread makes a request for.
    static PLAN: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A recording of all opens and reads of this process. It ends with [`Recording::finish`], or when it is
/// dropped.
#[derive(Debug)]
pub struct Recording(Option<Arc<Recorder>>);

/// The recorder of a process.
#[derive(Debug)]
pub(super) struct Recorder {
    name: String,
    start: Instant,
    cpu: Option<Duration>,
    out: Mutex<Out>,
}

#[derive(Debug)]
struct Out {
    file: BufWriter<File>,
    flushed: Instant,
    /// The files whose lines were written.
    files: HashSet<u64>,
    failed: Option<io::Error>,
}

/// Begins to write a trace of all opens and reads of this process to a new file.
///
/// # Errors
/// `AlreadyExists` when another recording runs; the errors of the system.
pub fn record(path: impl AsRef<Path>) -> Result<Recording> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let place = RECORDER.get(RwLock::default);
    let mut place = place.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = place.as_ref() {
        let why =
            format!("this process already records to {}; end that recording first", running.name);
        return Err(Error::new(
            name,
            "record to",
            io::Error::new(io::ErrorKind::AlreadyExists, why),
        ));
    }
    let file =
        File::create(local(path, "create")?).map_err(|error| Error::new(&name, "create", error))?;
    let (file, flushed) = (BufWriter::new(file), Instant::now());
    let out = Mutex::new(Out { file, flushed, files: HashSet::new(), failed: None });
    let recorder = Arc::new(Recorder { name, start: Instant::now(), cpu: cpu_time(), out });
    recorder.write(&Event::Trace {
        version: VERSION,
        nyssa: env!("CARGO_PKG_VERSION").to_owned(),
        time: jiff::Timestamp::now().to_string(),
        process: std::process::id(),
    });
    *place = Some(Arc::clone(&recorder));
    ACTIVE.store(true, Ordering::Relaxed);
    Ok(Recording(Some(recorder)))
}

impl Recording {
    /// Ends the recording.
    ///
    /// # Errors
    /// The trace cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        let Some(recorder) = self.0.take() else { return Ok(()) };
        let place = RECORDER.get(RwLock::default);
        let mut place = place.write().unwrap_or_else(PoisonError::into_inner);
        // A child of `fork` has no part in the recording of its parent.
        if place.as_ref().is_some_and(|running| Arc::ptr_eq(running, &recorder)) {
            ACTIVE.store(false, Ordering::Relaxed);
            *place = None;
        } else {
            std::mem::forget(recorder);
            return Ok(());
        }
        recorder.write(&recorder.end());
        let mut out = recorder.out();
        let flushed = out.file.flush();
        let failed = out.failed.take().map_or(flushed, Err);
        failed.map_err(|error| Error::new(&recorder.name, "write", error))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl Recorder {
    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the seconds since the recording began, with microseconds.
    pub(super) fn time(&self, at: Instant) -> f64 {
        let seconds = at.saturating_duration_since(self.start).as_secs_f64();
        microseconds(seconds)
    }

    /// Returns whether the line of an open file was not written yet. It counts as written from now on.
    pub(super) fn begins(&self, file: u64) -> bool {
        self.out().files.insert(file)
    }

    /// Returns whether the line of an open file was written. It is needed again if the file is used after this.
    pub(super) fn ends(&self, file: u64) -> bool {
        self.out().files.remove(&file)
    }

    /// Returns the last line.
    fn end(&self) -> Event {
        let cpu = cpu_time().zip(self.cpu).map(|(now, begin)| now.saturating_sub(begin));
        let cpu = cpu.map(|cpu| microseconds(cpu.as_secs_f64()));
        Event::End { end: self.time(Instant::now()), cpu }
    }

    pub(super) fn write(&self, event: &Event) {
        let line = serde_json::to_string(event);
        self.out().write(line);
    }
}

fn microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

impl Out {
    fn write(&mut self, line: serde_json::Result<String>) {
        if self.failed.is_some() {
            return;
        }
        let written = line.map_err(io::Error::from).and_then(|line| {
            self.file.write_all((line + "\n").as_bytes())?;
            if self.flushed.elapsed() < FLUSHED_AFTER {
                return Ok(());
            }
            self.flushed = Instant::now();
            self.file.flush()
        });
        self.failed = written.err();
    }
}

/// Returns the recorder of this process, if one runs.
pub(super) fn recorder() -> Option<Arc<Recorder>> {
    if !ACTIVE.load(Ordering::Relaxed) {
        return None;
    }
    RECORDER.get(RwLock::default).read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the number of this thread.
pub(super) fn thread() -> u64 {
    THREAD.with(|thread| *thread)
}

/// Returns a new number for a file or plan.
pub(super) fn next_number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A plan that is recorded. A clone is the same plan.
#[derive(Clone)]
pub struct RecordedPlan {
    recorder: Arc<Recorder>,
    plan: u64,
}

impl RecordedPlan {
    /// Makes the plan with a number.
    pub(super) fn new(recorder: Arc<Recorder>, plan: u64) -> Self {
        Self { recorder, plan }
    }

    /// Returns the number of the plan that this thread makes a request for.
    pub(super) fn of_thread() -> Option<u64> {
        PLAN.get()
    }

    /// Makes a request for the plan by `request`.
    pub(crate) fn requesting<T>(&self, request: impl FnOnce() -> T) -> T {
        let before = PLAN.replace(Some(self.plan));
        let done = request();
        PLAN.set(before);
        done
    }

    /// Begins the record of a thread that waited for a unit since `start` and has it now.
    pub(crate) fn waited(&self, unit: usize, start: Instant) -> RecordedWait {
        RecordedWait { plan: self.clone(), unit, start, end: Instant::now(), thread: thread() }
    }
}

/// A unit that a thread uses. Its line is written when this is dropped.
pub(crate) struct RecordedWait {
    plan: RecordedPlan,
    unit: usize,
    start: Instant,
    end: Instant,
    thread: u64,
}

impl Drop for RecordedWait {
    fn drop(&mut self) {
        let RecordedPlan { recorder, plan } = &self.plan;
        recorder.write(&Event::Wait {
            plan: *plan,
            unit: self.unit,
            start: recorder.time(self.start),
            end: recorder.time(self.end),
            released: recorder.time(Instant::now()),
            thread: self.thread,
        });
    }
}
