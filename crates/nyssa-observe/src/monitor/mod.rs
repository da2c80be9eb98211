//! Records the resources of this process and its children, at regular times, in the two files of prmon.
//!
//! [HSF/prmon](https://github.com/HSF/prmon) runs beside a job; [`Monitor`] runs in the job itself. Names, units and
//! forms are prmon's, so that prmon's programs and batch systems can read the files. `docs/monitor.md` lists them.

mod columns;
mod files;
mod summary;
mod usage;

use std::borrow::Cow;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::columns::COLUMNS;
use self::files::Files;
pub use self::summary::Summary;
use self::usage::Usage;
pub use self::usage::{peak_memory, resident_bytes};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::recorder::emit;

/// The smallest time between two rows of the table in seconds. The kernel counts CPU time in steps of it.
const MIN_INTERVAL: f64 = 0.01;
/// The largest time between two rows of the table in seconds.
const MAX_INTERVAL: f64 = 86_400.0;

/// Returns the time between two rows of the table.
///
/// # Errors
/// `Invalid` if it is too short or too long.
pub fn interval(seconds: f64) -> Result<Duration> {
    if !(MIN_INTERVAL..=MAX_INTERVAL).contains(&seconds) {
        return Err(Error::Invalid(format!(
            "the interval of the monitor is {MIN_INTERVAL} to {MAX_INTERVAL} seconds, not {seconds}"
        )));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// A monitor that runs on a thread of its own until it is finished or dropped.
pub struct Monitor {
    /// The process that started the monitor. A fork does not have its thread.
    process: u32,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<Summary>>>,
}

impl Monitor {
    /// Starts a monitor that takes a row each [`interval`]. It writes the table to `path` and the summary
    /// beside it: `prmon.txt` and `prmon.json`. If `path` ends in `.json`, it names the summary. Files of an
    /// earlier monitor are replaced.
    ///
    /// # Errors
    /// `Unsupported` on other systems than Linux; `Invalid` if the file exists and no monitor wrote it; `File` if the
    /// files cannot be written.
    pub fn start(path: &Path, interval: Duration) -> Result<Self> {
        if !cfg!(target_os = "linux") {
            let why = "the monitor reads what the kernel of Linux counts in /proc; this system has no such folder";
            return Err(Error::Unsupported(why.to_owned()));
        }
        let rows = Rows::start(Files::create(path)?)?;
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("nyssa-monitor".to_owned())
            .spawn(move || rows.run(interval, &stopped))
            .map_err(|source| Error::Limit {
                what: "cannot start a thread for the monitor",
                source,
            })?;
        Ok(Self { process: std::process::id(), stop: Some(stop), thread: Some(thread) })
    }

    /// Takes the last row, and returns the summary.
    ///
    /// # Errors
    /// `Invalid` in a fork of the process that started it; `File` if the files could not be written.
    pub fn finish(mut self) -> Result<Summary> {
        self.end().unwrap_or_else(|| {
            let why =
                "the monitor belongs to the process that started it, and this is a fork of it";
            Err(Error::Invalid(why.to_owned()))
        })
    }

    /// Ends the thread. Returns `None` if this process does not have it.
    fn end(&mut self) -> Option<Result<Summary>> {
        drop(self.stop.take());
        let thread = self.thread.take()?;
        if self.process != std::process::id() {
            // No thread of this process would end.
            std::mem::forget(thread);
            return None;
        }
        let early = |_| {
            let source = std::io::ErrorKind::Other.into();
            Err(Error::Limit { what: "the thread of the monitor has ended early", source })
        };
        Some(thread.join().unwrap_or_else(early))
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // A caller who needs to know whether the files are complete calls `finish`.
        let _ = self.end();
    }
}

/// Takes the rows.
struct Rows {
    files: Files,
    begun: Instant,
    /// The values when the monitor started. Rows count from them.
    first: Usage,
    summary: Summary,
}

impl Rows {
    /// Takes the first row.
    fn start(files: Files) -> Result<Self> {
        let first = Usage::now()?;
        let now = first.clone();
        let mut rows = Self { files, begun: Instant::now(), first, summary: Summary::new() };
        rows.row(now, Duration::ZERO)?;
        Ok(rows)
    }

    /// Takes a row after each `interval`, and a last row when the other end of the channel closes.
    fn run(mut self, interval: Duration, stopped: &Receiver<()>) -> Result<Summary> {
        loop {
            let ended = stopped.recv_timeout(interval) != Err(RecvTimeoutError::Timeout);
            self.row(Usage::now()?, self.begun.elapsed())?;
            if ended {
                return Ok(self.summary);
            }
        }
    }

    /// Adds a row that was taken after this time.
    fn row(&mut self, mut usage: Usage, after: Duration) -> Result<()> {
        usage.count_from(&self.first, after);
        self.summary.add(&mut usage);
        self.files.row(&usage)?;
        let named = COLUMNS.iter().zip(usage.values());
        let values = named.map(|(column, value)| (Cow::Borrowed(column.name), *value));
        emit(|recorder| Event::Usage {
            at: recorder.time(self.begun + after),
            values: values.collect(),
        });
        self.files.summary(&self.summary)
    }
}
