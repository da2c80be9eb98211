//! Handles SIGINT, SIGTERM and SIGHUP. The first signal asks the command to stop, the second one ends the process. A
//! signal that is already ignored stays ignored, as `nohup` needs it.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// A flag that is set while there are no [`Signals`]. A signal then ends the process if that was its default
/// action. A handler that was once registered stays, also in another program that ran the command, such as
/// Python.
static IDLE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// A guard that handles the signals as long as it exists.
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
    ids: Vec<SigId>,
}

impl Signals {
    /// Starts to handle the signals.
    pub(crate) fn install() -> io::Result<Self> {
        let mut signals = Self { stop: Arc::default(), which: Arc::default(), ids: Vec::new() };
        IDLE.store(false, Ordering::Relaxed);
        for signal in SIGNALS.into_iter().filter(|&signal| !is(signal, Action::Ignore)) {
            // This is done once, since the handler that is registered here stays.
            if is(signal, Action::Default) {
                flag::register_conditional_default(signal, Arc::clone(&IDLE))?;
            }
            let stop = || Arc::clone(&signals.stop);
            // The order matters: the action that ends the process must see the flag of an earlier signal.
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

    /// Returns the flag that is set once the user wants the command to stop.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Returns the number of the signal that came last, or 0.
    pub(crate) fn number(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.which)
    }
}

/// Returns the exit code of a process that a signal stopped: 128 plus the number of the signal. If it has none (0), it is that
/// of Ctrl-C.
pub(crate) fn exit_code(number: &AtomicUsize) -> u8 {
    let signal = i32::try_from(number.load(Ordering::Relaxed)).unwrap_or(SIGINT);
    u8::try_from(code(if signal == 0 { SIGINT } else { signal }))
        .unwrap_or(crate::exit_code::SYSTEM)
}

/// An action of a process on a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Default,
    Ignore,
}

/// Returns whether `action` is set for a signal. The parent process may have set that a signal is ignored.
#[cfg(unix)]
fn is(signal: i32, action: Action) -> bool {
    let mut present = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: with a null action nothing is changed, and the present action is written into memory of the right
    // size.
    if unsafe { libc::sigaction(signal, std::ptr::null(), present.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: sigaction has returned 0, so it has filled the memory.
    let present = unsafe { present.assume_init() }.sa_sigaction;
    present == if action == Action::Ignore { libc::SIG_IGN } else { libc::SIG_DFL }
}

#[cfg(not(unix))]
fn is(_: i32, _: Action) -> bool {
    false
}

fn code(signal: i32) -> i32 {
    128 + signal
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            low_level::unregister(id);
        }
        IDLE.store(true, Ordering::Relaxed);
    }
}
