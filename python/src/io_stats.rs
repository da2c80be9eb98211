//! Shows to Python what was opened and read.

use nyssa_io::{IoCounts, IoStats, OpenOptions};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::report::json;

/// Returns what this process has opened and read, as JSON.
#[pyfunction]
pub fn io_stats(py: Python<'_>) -> PyResult<String> {
    shown(py, &IoStats::of_process().counts())
}

/// Returns what was opened and read by some options, as JSON.
pub fn of_options(py: Python<'_>, options: &[OpenOptions]) -> PyResult<String> {
    let counts = options.iter().map(|options| options.stats.counts());
    let counts = counts.reduce(|all, other| all.plus(&other));
    shown(py, &counts.unwrap_or_default())
}

fn shown(py: Python<'_>, counts: &IoCounts) -> PyResult<String> {
    json(counts).map_err(|error| to_python(py, &error))
}
