//! Measures the resident memory of the process, many times in a second.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::event::Event;
use crate::monitor::resident_bytes;
use crate::recorder::emit;
use crate::time::nanoseconds;

/// The time between two samples at the start.
const INTERVAL: Duration = Duration::from_millis(5);
/// The largest number of samples. When it is reached, every second sample is dropped, and the interval is doubled.
const MAX_SAMPLES: usize = 4096;

/// The nanoseconds since the start, and the resident bytes.
pub(crate) type Sample = (u64, u64);

/// A thread that measures the resident memory of the process.
pub struct MemorySampler {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Sample>>,
}

impl MemorySampler {
    /// Starts to take samples. Returns `None` where the system does not report on the memory.
    pub fn start(begun: Instant) -> Option<Self> {
        resident_bytes()?;
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("nyssa-profile".to_owned());
        let thread = thread.spawn(move || run(begun, &stopped)).ok()?;
        Some(Self { stop, thread })
    }

    /// Takes the last sample, and returns all samples.
    pub fn finish(self) -> Vec<Sample> {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

fn run(begun: Instant, stopped: &Receiver<()>) -> Vec<Sample> {
    let (mut samples, mut interval) = (Vec::new(), INTERVAL);
    loop {
        samples.extend(sample(begun));
        if samples.len() >= MAX_SAMPLES {
            let mut is_kept = false;
            samples.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            interval *= 2;
        }
        if stopped.recv_timeout(interval) != Err(RecvTimeoutError::Timeout) {
            samples.extend(sample(begun));
            return samples;
        }
    }
}

/// Measures the memory, and records it if a recording runs.
fn sample(begun: Instant) -> Option<Sample> {
    let (bytes, now) = (resident_bytes()?, Instant::now());
    emit(|recorder| Event::Memory { at: recorder.time(now), bytes });
    Some((nanoseconds(now.saturating_duration_since(begun)), bytes))
}
