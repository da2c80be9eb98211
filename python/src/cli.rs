//! Runs the command line inside the Python process, with its real standard streams.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

/// Runs one command; `args[0]` is the program's name. Returns the exit code.
#[pyfunction]
pub fn run_cli(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| {
        let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
        let code = nyssa_cli::run(args, &mut out, &mut err);
        // It is no error if the reader of the output has gone away.
        let _ = out.flush();
        code
    })
}
