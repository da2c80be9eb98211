//! SIGINT and SIGTERM: the first asks the work to stop, the second ends the process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

/// Listens as long as it lives.
pub struct Signals {
    stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
    ids: Vec<SigId>,
}

impl Signals {
    /// Starts listening.
    pub fn install() -> io::Result<Self> {
        let mut signals = Self { stop: Arc::default(), which: Arc::default(), ids: Vec::new() };
        for signal in [SIGINT, SIGTERM] {
            let stop = || Arc::clone(&signals.stop);
            // In this order: the action that ends the process sees the flag of an earlier signal.
            let id = flag::register_conditional_shutdown(signal, code(signal), stop())?;
            signals.ids.push(id);
            let number = usize::try_from(signal).unwrap_or_default();
            let id = flag::register_usize(signal, Arc::clone(&signals.which), number)?;
            signals.ids.push(id);
            let stop = Arc::clone(&signals.stop);
            signals.ids.push(flag::register(signal, stop)?);
        }
        Ok(signals)
    }

    /// Set once the user wants the work to end.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The exit code of a process that a signal stopped: 128 and its number.
    pub fn exit_code(&self) -> u8 {
        let signal = i32::try_from(self.which.load(Ordering::Relaxed)).unwrap_or(SIGINT);
        u8::try_from(code(if signal == 0 { SIGINT } else { signal })).unwrap_or(crate::ERROR)
    }
}

fn code(signal: i32) -> i32 {
    128 + signal
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            low_level::unregister(id);
        }
    }
}
