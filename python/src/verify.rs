//! Checks files, compares datasets, and says where their bytes are. Each function returns a report.

use std::sync::Arc;

use nyssa_data::view::evolve::{EvolutionOptions, Missing};
use nyssa_data::view::{ChainOptions, ChainSchema};
use nyssa_jobs::compare::diff::{self as compare, DiffOptions};
use nyssa_jobs::compare::{Selection, files};
use nyssa_jobs::open::Opened;
use nyssa_jobs::tune::inspect as tune;
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::job::Job;
use crate::report::json;

/// Checks a file, or one object in it, and returns the report as JSON.
#[pyfunction]
#[pyo3(signature = (path, object=None, threads=None, progress=None))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    path: String,
    object: Option<String>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).abandonable().progress(progress).run(py, move |context| {
        let source = nyssa_io::open(&path)?;
        json(&nyssa_jobs::verify::verify(source, object.as_deref(), context)?)
    })
}

/// Compares the columns of two datasets, or those that are `named`, and returns the report as JSON.
#[pyfunction]
#[pyo3(signature = (a, b, named=None, only_common=false, threads=None, progress=None))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    a: &Dataset,
    b: &Dataset,
    named: Option<Vec<String>>,
    only_common: bool,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let (a, b) = (a.inner(), b.inner());
    Job::new(threads).abandonable().progress(progress).run(py, move |context| {
        let only = named.map(|names| names.into_iter().collect());
        let selection = Selection { only, ..Selection::default() };
        let options = DiffOptions { selection, only_common, ..DiffOptions::default() };
        json(&compare::diff(Arc::as_ref(&a), Arc::as_ref(&b), &options, context)?)
    })
}

/// Compares whole files, or the columns of them that are `named`, and returns the report as JSON; or null if there is
/// one dataset on each side at most, or if a path is named.
#[pyfunction]
#[pyo3(signature = (a, b, named=None, only_common=false, threads=None, progress=None))]
pub(crate) fn diff_files<'py>(
    py: Python<'py>,
    a: Vec<String>,
    b: Vec<String>,
    named: Option<Vec<String>>,
    only_common: bool,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).abandonable().progress(progress).run(py, move |context| {
        let only = named.map(|names| names.into_iter().collect());
        let selection = Selection { only, ..Selection::default() };
        let options = DiffOptions { selection, only_common, ..DiffOptions::default() };
        let evolution = EvolutionOptions { missing: Missing::Default, ..Default::default() };
        let chain =
            ChainOptions { target: ChainSchema::Union, evolution, ..ChainOptions::default() };
        json(&files::diff_files(&a, &b, (&options, &chain), context)?)
    })
}

/// Returns the page of a dataset on which the fields that match the globs are chosen.
#[pyfunction]
pub(crate) fn inspect_page(
    py: Python<'_>,
    path: String,
    object: String,
    fields: Vec<String>,
) -> PyResult<String> {
    Job::new(None).abandonable().run(py, move |_| {
        let dataset = Opened::open(&nyssa_io::open(&path)?, Some(&object))?;
        nyssa_cli::inspect_page(&tune::inspect(&dataset)?, &tune::PageMap::of(&dataset)?, &fields)
    })
}

/// Returns the sizes of the parts of a dataset as JSON.
#[pyfunction]
#[pyo3(signature = (path, object=None))]
pub(crate) fn inspect(py: Python<'_>, path: String, object: Option<String>) -> PyResult<String> {
    Job::new(None).abandonable().run(py, move |_| {
        json(&tune::inspect(&Opened::open(&nyssa_io::open(&path)?, object.as_deref())?)?)
    })
}
