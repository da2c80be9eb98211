//! Skims datasets.

use std::path::Path;

use nyssa_jobs::open::{files_of, open_path};
use nyssa_jobs::skim::{SkimOptions, skim as core_skim};
use pyo3::prelude::*;

use crate::job::Job;
use crate::keywords::Keywords;
use crate::report::json;

/// Writes some columns of the entries that pass cuts, and new columns, and returns the report as JSON. `cuts` are pairs of
/// name and expression. `progress(done, total)` is called by this thread.
#[expect(clippy::too_many_arguments, reason = "they are parameters in Python")]
#[pyfunction]
pub(crate) fn skim<'py>(
    py: Python<'py>,
    inputs: Vec<String>,
    output: String,
    keywords: Keywords,
    define: Vec<(String, String)>,
    cuts: Vec<(String, String)>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).progress(progress).run(py, move |context| {
        let mut options: SkimOptions = keywords.parse()?;
        options.define = define;
        options.cut = cuts
            .into_iter()
            .map(|(name, cut)| nyssa_jobs::skim::NamedCut::new(name, cut))
            .collect::<nyssa_root::Result<_>>()?;
        options.entries = keywords.entries(|| {
            let mut total = 0u64;
            for file in files_of(&inputs)? {
                total = total.saturating_add(open_path(&file)?.num_entries());
            }
            Ok(total)
        })?;
        json(&core_skim(&inputs, Path::new(&output), &options, context)?)
    })
}
