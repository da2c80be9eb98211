//! RNTuple to RNTuple.

use std::path::Path;

use nyssa::cut::Cut;
use nyssa::open::{open_dataset, split_path};
use nyssa::rewrite::{EntryCut, Options, rewrite as core_rewrite, rewrite_all};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::file::open_file;
use crate::job::Job;
use crate::options::{compression, entry_range, get, get_by_field, memory, parse};
use crate::report::json;
use crate::rules::rules;

/// Rewrites one RNTuple, or all of a file, and returns the reports as JSON. `progress(done, total)`
/// is called by this thread.
#[pyfunction]
pub fn rewrite<'py>(
    py: Python<'py>,
    input: String,
    output: String,
    options: &Bound<'py, PyDict>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let ntuple: Option<String> = get(options, "ntuple")?;
    let start: Option<i64> = get(options, "entry_start")?;
    let stop: Option<i64> = get(options, "entry_stop")?;
    let mut options = rewrite_options(options)?;
    Job::new(threads).progress(progress).run(py, move |context| {
        let (path, object) = split_path(&input);
        let file = open_file(path)?;
        let output = Path::new(&output);
        let one = start.is_some() || stop.is_some();
        let reports = match ntuple.as_deref().or(object) {
            None if !one => rewrite_all(&file, output, &options, context)?,
            ntuple => {
                let dataset = open_dataset(&file, ntuple)?;
                if one {
                    options.entries = Some(entry_range(start, stop, dataset.num_entries()));
                }
                let ntuple = ntuple.unwrap_or(dataset.name());
                vec![core_rewrite(&file, ntuple, output, &options, context)?]
            }
        };
        json(&reports)
    })
}

fn rewrite_options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut options = Options::default();
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
    if let Some(cut) = get::<String>(given, "cut")? {
        let cut = Cut::parse(&cut).map_err(|error| errors::to_python(given.py(), &error))?;
        options.cut = Some(EntryCut::Expression(cut));
    }
    if let Some((bits, count)) = get::<(Vec<u8>, usize)>(given, "mask")? {
        let mask = EntryCut::from_bits(bits, count);
        options.cut = Some(mask.map_err(|error| errors::to_python(given.py(), &error))?);
    }
    if let Some(encodings) = parse(given, "encoding")? {
        options.encodings = encodings;
    }
    options.rules = rules(given.get_item("rules")?)?;
    options.field_options = get_by_field(given, "field_options")?;
    options.name = get(given, "name")?;
    options.fields = get(given, "fields")?.unwrap_or_default();
    options.drop = get(given, "drop")?.unwrap_or_default();
    options.only = get(given, "only")?.unwrap_or_default();
    options.force = get(given, "force")?.unwrap_or_default();
    options.verify = get(given, "verify")?.unwrap_or_default();
    options.reproducible = get(given, "reproducible")?.unwrap_or_default();
    Ok(options)
}
