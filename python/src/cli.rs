//! Runs the command line inside the Python process, with its real standard streams.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use pyo3::prelude::*;

/// Runs one command; `args[0]` is the program's name. Returns the exit code.
#[pyfunction]
pub fn run_cli(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| {
        let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
        nyssa_cli::plot_by(plot);
        let code = nyssa_cli::run(args, &mut out, &mut err);
        // A reader of the output that has gone away is no error.
        let _ = out.flush();
        code
    })
}

/// Draws a trace by `nyssa.plot_trace`.
fn plot(trace: &Path, image: &Path) -> Result<(), String> {
    Python::attach(|py| {
        let drawn = py
            .import("nyssa._trace_plot")
            .and_then(|module| module.call_method1("plot_trace", (trace, image)));
        drawn.map(drop).map_err(|error| error.value(py).to_string())
    })
}
