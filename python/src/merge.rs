//! Merges RNTuples.

use std::path::Path;

use nyssa_jobs::merge::{MergeOptions, merge as core_merge, merge_many};
use pyo3::prelude::*;

use crate::job::Job;
use crate::keywords::Keywords;
use crate::report::json;

/// Merges and returns the report as JSON; with `condense`, a list of reports. `progress(done, total)` is called by this thread.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are parameters in Python")]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    inputs: Vec<String>,
    output: String,
    mode: String,
    condense: Option<usize>,
    keywords: Keywords,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).progress(progress).run(py, move |context| {
        let mut options: MergeOptions = keywords.parse()?;
        options.mode = mode.parse()?;
        options.output.identity = keywords.identity;
        // Before the inputs are opened, which may take long.
        options.validate()?;
        options.open = options.open.with_stop(context.stop());
        let output = Path::new(&output);
        match condense {
            Some(condense) => {
                let mut reports = Vec::new();
                merge_many(&inputs, output, condense, (&options, context), &mut reports)?;
                json(&reports)
            }
            None => json(&core_merge(&inputs, output, &options, context)?),
        }
    })
}
