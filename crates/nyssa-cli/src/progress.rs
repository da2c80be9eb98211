//! Draws the progress bar. Without a terminal, a line each minute says that the work goes on.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nyssa_io::{printable, without_secrets};
use nyssa_root::context::Progress;

const TEMPLATE: &str = "{msg} [{bar:32}] {percent}%, {elapsed} of about {duration}";
const TICK: Duration = Duration::from_millis(200);

/// The time between two lines without a terminal.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// The present action of a command. It may change while the command runs.
type What = Arc<Mutex<String>>;

/// Says once in a while how much is done, for logs of jobs that nobody looks at.
struct Heartbeat {
    what: What,
    start: Instant,
    next: Mutex<Instant>,
    every: Duration,
}

impl Heartbeat {
    fn new(what: What, every: Duration) -> Self {
        let start = Instant::now();
        Self { what, start, next: Mutex::new(start + every), every }
    }

    /// Returns the line that is due.
    fn line(&self, now: Instant, done: u64, total: u64) -> Option<String> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if now < *next {
            return None;
        }
        *next = now + self.every;
        let percent = done as f64 / total.max(1) as f64 * 100.0;
        let seconds = now.duration_since(self.start).as_secs();
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        Some(format!("{what}: {percent:.0}% after {seconds} s"))
    }

    /// Returns the function that the core calls with (done, total). It writes to standard error.
    fn callback(what: What) -> Progress {
        let heartbeat = Self::new(what, HEARTBEAT);
        Arc::new(move |done, total| {
            if let Some(line) = heartbeat.line(Instant::now(), done, total) {
                // Nobody may be listening any more.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        })
    }
}

/// Returns what a command does, which may name a file.
fn for_people(what: &str) -> String {
    printable(&without_secrets(what))
}

/// A progress bar on standard error. It disappears when it is dropped.
pub(crate) struct Bar {
    bar: ProgressBar,
    what: What,
}

impl Bar {
    pub(crate) fn new(what: &str, visible: bool) -> Self {
        let what = for_people(what);
        let known = Arc::new(Mutex::new(what.clone()));
        if !visible {
            return Self { bar: ProgressBar::hidden(), what: known };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        bar.enable_steady_tick(TICK);
        Self { bar, what: known }
    }

    /// Says what the command does now.
    pub(crate) fn set_what(&self, what: &str) {
        let what = for_people(what);
        self.bar.set_message(what.clone());
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    /// Runs `print` while the bar is hidden.
    pub(crate) fn hide<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    /// Returns the function that the core calls with (done, total).
    pub(crate) fn callback(&self) -> Progress {
        let bar = self.bar.clone();
        Arc::new(move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        })
    }

    /// Returns the function that writes a line each minute instead.
    pub(crate) fn heartbeat(&self) -> Progress {
        Heartbeat::callback(Arc::clone(&self.what))
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_each_minute() {
        let bar = Bar::new("converting", false);
        let heartbeat = Heartbeat::new(Arc::clone(&bar.what), HEARTBEAT);
        bar.set_what("converting a.root");
        let after = |seconds| heartbeat.start + Duration::from_secs(seconds);
        assert_eq!(heartbeat.line(after(59), 1, 4), None);
        let line = heartbeat.line(after(61), 1, 4);
        assert_eq!(line.as_deref(), Some("converting a.root: 25% after 61 s"));
        assert_eq!(heartbeat.line(after(100), 2, 4), None);
        assert!(heartbeat.line(after(121), 2, 4).is_some());
    }
}
