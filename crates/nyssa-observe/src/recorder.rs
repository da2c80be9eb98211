//! Writes the events of this process to a file, while a recording runs.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

use nyssa_net::PerProcess;

use crate::error::{Error, Result};
use crate::event::{Event, VERSION};
use crate::switch;
use crate::time::{cpu_since, cpu_time};

/// The longest time for which lines stay in memory.
const FLUSHED_AFTER: Duration = Duration::from_secs(1);

/// The recorder of this process. A child of `fork` has none.
static RECORDER: PerProcess<RwLock<Option<Arc<Recorder>>>> = PerProcess::new();
/// The number of the next file or plan.
static NEXT: AtomicU64 = AtomicU64::new(1);
/// The number of the next thread.
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The number of this thread in traces.
    static THREAD: u64 = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
}

/// A recording of all events of this process. It ends with [`Recording::finish`], or when it is
/// dropped.
#[derive(Debug)]
pub struct Recording(Option<Arc<Recorder>>);

/// The recorder of a process.
#[derive(Debug)]
pub(crate) struct Recorder {
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

/// Begins to record all opens and reads of this process in a new file: the lines of [`Event`]. While a profiler or a monitor
/// runs, its events are recorded, too.
///
/// # Errors
/// `File` when another recording runs, or if the file cannot be created.
pub fn record(path: &Path) -> Result<Recording> {
    let name = path.display().to_string();
    let mut place = place();
    if let Some(running) = place.as_ref() {
        let why =
            format!("this process already records to {}; end that recording first", running.name);
        let source = io::Error::new(io::ErrorKind::AlreadyExists, why);
        return Err(Error::File { name, action: "record to", source });
    }
    let file = File::create(path).map_err(|source| Error::File {
        name: name.clone(),
        action: "create",
        source,
    })?;
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
    switch::set_records(true);
    Ok(Recording(Some(recorder)))
}

fn place() -> RwLockWriteGuard<'static, Option<Arc<Recorder>>> {
    RECORDER.get(RwLock::default).write().unwrap_or_else(PoisonError::into_inner)
}

impl Recording {
    /// Ends the recording.
    ///
    /// # Errors
    /// `File` if the file could not be written.
    pub fn finish(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        let Some(recorder) = self.0.take() else { return Ok(()) };
        let mut place = place();
        // A child of `fork` has no part in the recording of its parent.
        if place.as_ref().is_some_and(|running| Arc::ptr_eq(running, &recorder)) {
            switch::set_records(false);
            *place = None;
        } else {
            std::mem::forget(recorder);
            return Ok(());
        }
        recorder.write(&recorder.end());
        let mut out = recorder.out();
        let flushed = out.file.flush();
        let failed = out.failed.take().map_or(flushed, Err);
        let name = recorder.name.clone();
        failed.map_err(|source| Error::File { name, action: "write", source })
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
    pub(crate) fn time(&self, at: Instant) -> f64 {
        let seconds = at.saturating_duration_since(self.start).as_secs_f64();
        microseconds(seconds)
    }

    /// Returns whether the line of an open file was not written yet. It counts as written from now on.
    pub(crate) fn begins(&self, file: u64) -> bool {
        self.out().files.insert(file)
    }

    /// Returns whether the line of an open file was written. It is needed again if the file is used after this.
    pub(crate) fn ends(&self, file: u64) -> bool {
        self.out().files.remove(&file)
    }

    /// Returns the last line.
    fn end(&self) -> Event {
        let cpu = cpu_since(self.cpu).map(|cpu| microseconds(cpu.as_secs_f64()));
        Event::End { end: self.time(Instant::now()), cpu }
    }

    pub(crate) fn write(&self, event: &Event) {
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
pub(crate) fn recorder() -> Option<Arc<Recorder>> {
    if !switch::records() {
        return None;
    }
    RECORDER.get(RwLock::default).read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the number of this thread.
pub(crate) fn thread() -> u64 {
    THREAD.with(|thread| *thread)
}

/// Returns a new number for a file or plan.
pub(crate) fn next_number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Records an event, if a recording runs.
pub(crate) fn emit(event: impl FnOnce(&Recorder) -> Event) {
    if let Some(recorder) = recorder() {
        recorder.write(&event(&recorder));
    }
}
