//! Merges RNTuples.

use std::path::Path;

use nyssa_io::OpenOptions;
use nyssa_jobs::merge::merge as core_merge;
use nyssa_root::Result;
use pyo3::prelude::*;

use crate::job::Job;
use crate::options::OutputOptions;
use crate::report::json;

/// The options of a merge, from a `nyssa.jobs.merge.MergeOptions`.
#[derive(FromPyObject)]
pub struct MergeOptions {
    mode: String,
    recluster: bool,
    checksums: bool,
    skip_unsupported: bool,
    output: OutputOptions,
}

/// Merges and returns the report as JSON. `progress(done, total)` is called by this thread.
#[pyfunction]
pub fn merge<'py>(
    py: Python<'py>,
    inputs: Vec<String>,
    output: String,
    options: MergeOptions,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).progress(progress).run(py, move |context| {
        let mut options = options.parse()?;
        options.open = options.open.with_stop(context.stop());
        let report = core_merge(&inputs, Path::new(&output), &options, context)?;
        json(&report)
    })
}

impl MergeOptions {
    /// Returns the options in the types of the core.
    fn parse(self) -> Result<nyssa_jobs::merge::MergeOptions> {
        Ok(nyssa_jobs::merge::MergeOptions {
            mode: self.mode.parse()?,
            recluster: self.recluster,
            verify_checksums: self.checksums,
            skip_unsupported: self.skip_unsupported,
            open: OpenOptions::default(),
            output: self.output.parse()?,
        })
    }
}
