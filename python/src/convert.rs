//! Conversion of a TTree to an RNTuple.

use std::path::Path;

use nyssa::convert::{Options, Streamer, convert as core_convert};
use nyssa::open::{open_dataset, split_path};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::file::open_file;
use crate::job::Job;
use crate::options::{compression, entry_range, get, get_by_field, memory, parse};
use crate::report::json;

/// Converts and returns the report as JSON. `progress(done, total)` is called by this thread.
#[pyfunction]
pub fn convert<'py>(
    py: Python<'py>,
    input: String,
    output: String,
    options: &Bound<'py, PyDict>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let tree: Option<String> = get(options, "tree")?;
    let start: Option<i64> = get(options, "entry_start")?;
    let stop: Option<i64> = get(options, "entry_stop")?;
    let mut options = convert_options(options)?;
    Job::new(threads).progress(progress).run(py, move |context| {
        let (path, object) = split_path(&input);
        let file = open_file(path)?;
        let tree = tree.as_deref().or(object);
        let dataset = open_dataset(&file, tree)?;
        if start.is_some() || stop.is_some() {
            options.entries = Some(entry_range(start, stop, dataset.num_entries()));
        }
        let tree = tree.unwrap_or(dataset.name());
        let report = core_convert(&file, tree, Path::new(&output), &options, context)?;
        json(&report)
    })
}

fn convert_options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut options = Options::default();
    if let Some(layout) = parse(given, "layout")? {
        options.layout = layout;
    }
    if let Some(encodings) = parse(given, "encoding")? {
        options.encodings = encodings;
    }
    (options.compression, options.effort) = compression(given)?;
    if let Some(bytes) = get(given, "memory")? {
        options.memory_budget = bytes;
    }
    if let Some(bytes) = get(given, "cluster_size")? {
        options.cluster_bytes = bytes;
    }
    if let Some(bytes) = get(given, "page_size")? {
        options.page_bytes = memory(bytes);
    }
    options.field_options = get_by_field(given, "field_options")?;
    options.name = get(given, "name")?;
    let streamer: Vec<String> = get(given, "streamer")?.unwrap_or_default();
    options.streamer =
        Streamer::of(&streamer).map_err(|error| crate::errors::to_python(given.py(), &error))?;
    options.include = get(given, "include")?.unwrap_or_default();
    options.exclude = get(given, "exclude")?.unwrap_or_default();
    options.skip_unsupported = get(given, "skip_unsupported")?.unwrap_or_default();
    options.skip_unreadable = get(given, "skip_unreadable")?.unwrap_or_default();
    options.carry = get(given, "carry")?.unwrap_or(true);
    options.force = get(given, "force")?.unwrap_or_default();
    options.verify = get(given, "verify")?.unwrap_or_default();
    options.reproducible = get(given, "reproducible")?.unwrap_or_default();
    Ok(options)
}
