//! Finds the options that store a dataset best.

use std::time::Duration;

use nyssa_io::OpenOptions;
use nyssa_jobs::tune::trials::{Link, TuneOptions as CoreOptions, TuneReport, tune as core_tune};
use nyssa_root::{Error, Result};
use pyo3::prelude::*;

use crate::errors;
use crate::file::open_file;
use crate::job::Job;
use crate::report::json;

/// The options of a search, from a `nyssa.jobs.tune.TuneOptions`.
#[derive(FromPyObject)]
pub(crate) struct TuneOptions {
    objective: String,
    budget: f64,
    compression: Vec<String>,
    columns: Vec<String>,
    link_latency: Option<f64>,
    link_bandwidth: Option<u64>,
}

/// Tries options on a sample of a dataset and returns the report as JSON. `progress(done, total)` is called by this
/// thread.
#[pyfunction]
pub(crate) fn tune<'py>(
    py: Python<'py>,
    path: String,
    object: Option<String>,
    options: TuneOptions,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).progress(progress).run(py, move |context| {
        let options = options.parse()?;
        let file = open_file(&path, &OpenOptions::default().with_stop(context.stop()))?;
        json(&core_tune(&file, object.as_deref(), &options, context)?)
    })
}

/// Returns the page of a report, which comes as JSON.
#[pyfunction]
pub(crate) fn tune_page(py: Python<'_>, report: &str) -> PyResult<String> {
    drawn(py, report, nyssa_cli::tune_page)
}

/// Returns the content of the page of a report, which comes as JSON.
#[pyfunction]
pub(crate) fn tune_body(py: Python<'_>, report: &str) -> PyResult<String> {
    drawn(py, report, nyssa_cli::tune_body)
}

/// Returns what the command line prints about a report, which comes as JSON.
#[pyfunction]
pub(crate) fn tune_text(py: Python<'_>, report: &str) -> PyResult<String> {
    drawn(py, report, nyssa_cli::tune_text)
}

fn drawn(py: Python<'_>, report: &str, draw: fn(&TuneReport) -> String) -> PyResult<String> {
    let report = serde_json::from_str(report).map_err(|error| {
        let error = Error::invalid_argument("this is no report of a search").with_source(error);
        errors::to_python(py, &error)
    })?;
    Ok(draw(&report))
}

impl TuneOptions {
    /// Returns the options in the types of the core.
    fn parse(self) -> Result<CoreOptions> {
        let given = self.link_latency.is_some() || self.link_bandwidth.is_some();
        let latency = self.link_latency.unwrap_or_default();
        let budget = Duration::try_from_secs_f64(self.budget).map_err(|_| {
            let message =
                format!("the budget is more than 0 and at most 86400 s, not {} s", self.budget);
            Error::invalid_argument(message)
        })?;
        let compression = self.compression.iter().map(|item| item.parse());
        Ok(CoreOptions {
            objective: self.objective.parse()?,
            budget,
            compression: compression.collect::<Result<Vec<_>>>()?,
            columns: self.columns,
            link: given.then_some(Link { latency, bandwidth: self.link_bandwidth }),
        })
    }
}
