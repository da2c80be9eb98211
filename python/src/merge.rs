//! Merging RNTuples.

use std::path::Path;

use nyssa::merge::{Options, default_memory, merge as core_merge};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::job::Job;
use crate::options::{compression, get, parse};
use crate::report::json;

/// Merges and returns the report as JSON. `progress(done, total)` is called by this thread.
#[pyfunction]
pub fn merge<'py>(
    py: Python<'py>,
    inputs: Vec<String>,
    output: String,
    options: &Bound<'py, PyDict>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let options = merge_options(options)?;
    Job::new(threads).progress(progress).run(py, move |context| {
        let report = core_merge(&inputs, Path::new(&output), &options, context)?;
        json(&report)
    })
}

fn merge_options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut options = Options::default();
    if let Some(mode) = parse(given, "mode")? {
        options.mode = mode;
    }
    (options.compression, options.effort) = compression(given)?;
    if let Some(verify) = get(given, "verify")? {
        options.verify = verify;
    }
    options.recluster = get(given, "recluster")?;
    let memory: Option<u64> = get(given, "memory")?;
    options.memory_budget = memory.unwrap_or_else(|| default_memory(options.recluster));
    options.name = get(given, "name")?;
    options.force = get(given, "force")?.unwrap_or_default();
    options.reproducible = get(given, "reproducible")?.unwrap_or_default();
    Ok(options)
}
