//! Runs the command line inside the Python process, with its real standard streams.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use nyssa_cli::AroundPython;
use nyssa_root::Kind;
use pyo3::prelude::*;

/// Runs one command; `args[0]` is the program's name. Returns the exit code.
#[pyfunction]
pub(crate) fn run_cli(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| {
        let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
        nyssa_cli::plot_by(plot);
        let code = nyssa_cli::run(args, &mut out, &mut err);
        // A reader of the output that has gone away is no error.
        let _ = out.flush();
        code
    })
}

/// Divides the words of a command line into the options of every command and all other words. Python reads `--json`,
/// `--quiet` and `--threads` itself.
#[pyfunction]
pub(crate) fn divide_options(words: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    AroundPython::divide(words)
}

/// What the options of every command request, around a command that is written in Python.
#[pyclass(frozen, module = "nyssa._core")]
pub(crate) struct CommandOptions(Mutex<Option<AroundPython>>);

#[pymethods]
impl CommandOptions {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Begins it. Returns a message and the exit code for options that are not allowed.
    fn start(&self, options: Vec<OsString>) -> Option<(String, u8)> {
        match AroundPython::start(options) {
            Ok(started) => {
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
                None
            }
            Err(failure) => Some(failure),
        }
    }

    /// Completes the files, and prints the counters. Returns a message and the exit code if a file cannot be written.
    fn finish(&self) -> Option<(String, u8)> {
        let started = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        started.and_then(|started| started.finish().err())
    }
}

/// The kinds of errors that Python names.
const KINDS: [Kind; 9] = [
    Kind::NotFound,
    Kind::InvalidArgument,
    Kind::AlreadyExists,
    Kind::OutOfSpecification,
    Kind::Unsupported,
    Kind::Checksum,
    Kind::LimitExceeded,
    Kind::Io,
    Kind::Cancelled,
];

/// Returns the exit code of an error of a kind, such as `"NotFound"`, with the number of the error of the system if it
/// has one. All commands use these codes.
#[pyfunction]
#[pyo3(signature = (kind, errno=None))]
pub(crate) fn exit_code(kind: &str, errno: Option<i32>) -> u8 {
    let known = KINDS.into_iter().find(|item| format!("{item:?}") == kind);
    let system = errno.map(|errno| match errno {
        // Errors of damaged data have this number in Python.
        libc::EBADMSG => io::ErrorKind::InvalidData.into(),
        errno => io::Error::from_raw_os_error(errno),
    });
    nyssa_cli::exit_code::of_kind(known.unwrap_or(Kind::Io), system.as_ref())
}

/// Draws a trace by `nyssa.plot_trace`.
fn plot(trace: &Path, image: &Path) -> Result<(), String> {
    Python::attach(|py| {
        let drawn = py
            .import("nyssa.observe.trace_plot")
            .and_then(|module| module.call_method1("plot_trace", (trace, image)));
        drawn.map(drop).map_err(|error| error.value(py).to_string())
    })
}
