//! The command line, run inside the Python process with its real standard streams.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

/// Runs one command; `args[0]` is the program's name. Returns the exit code.
#[pyfunction]
pub fn run_cli(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| {
        let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
        let code = nyssa_cli::run(args, &mut out, &mut err);
        // A reader that went away is no error of ours.
        let _ = out.flush();
        code
    })
}
