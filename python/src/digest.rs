//! Computes digests of the values of a dataset.

use std::sync::Arc;

use nyssa_jobs::compare::digest::{Expected, digest as core_digest};
use nyssa_jobs::compare::{MEMORY_BUDGET, Selection};
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::job::Job;
use crate::report::json;

/// Hashes columns, for entries from `start` to `stop`, and returns the report as JSON. With the text of an
/// earlier report its columns are compared instead; then no entries mean the entries of that report.
#[pyfunction]
#[pyo3(signature = (dataset, names, entries=None, compare=None, threads=None, progress=None))]
pub(crate) fn digest<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    names: Option<Vec<String>>,
    entries: Option<(u64, u64)>,
    compare: Option<String>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let dataset = dataset.inner();
    let entries = entries.map(|(start, stop)| start..stop);
    Job::new(threads).abandonable().progress(progress).run(py, move |context| {
        let dataset = Arc::as_ref(&dataset);
        let Some(text) = compare else {
            let only = names.map(|names| names.into_iter().collect());
            let selection = Selection { only, entries, ..Selection::default() };
            return json(&core_digest(dataset, &selection, context)?);
        };
        let mut expected = Expected::parse(text.as_bytes(), "the report", dataset)?;
        if let Some(entries) = entries {
            expected = expected.with_entries(entries);
        }
        json(&expected.compare(dataset, MEMORY_BUDGET, context)?)
    })
}
