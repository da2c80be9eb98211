//! An open ROOT file as Python sees it.

use std::sync::Arc;

use nyssa::read::{Options, StreamerForm};
use nyssa::rootfile::{NOT_CLOSED, RootFile};
use nyssa_io::{LocalSource, Source};
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::door::Door;

/// An open ROOT file.
#[pyclass(frozen, module = "nyssa._core")]
pub struct File(RootFile, Options);

/// Opens a ROOT file and reads its header and list of keys. Streamer fields of its RNTuples read as
/// bytes with `raw`.
#[pyfunction]
#[pyo3(signature = (path, raw=false))]
pub fn open(py: Python<'_>, path: String, raw: bool) -> PyResult<File> {
    let streamer = if raw { StreamerForm::Raw } else { StreamerForm::Decoded };
    let options = Options { streamer, ..Options::default() };
    Door::new(None).abandonable().run(py, move |_| Ok(File(open_file(&path)?, options)))
}

/// Opens a local file.
pub fn open_file(path: &str) -> nyssa::Result<RootFile> {
    let source: Arc<dyn Source> = Arc::new(LocalSource::open(path)?);
    RootFile::open(source)
}

/// `"file.root:Events"` as the file and the path inside it, if any.
#[pyfunction]
pub fn split_path(path: &str) -> (String, Option<String>) {
    let (file, object) = nyssa::dataset::split_path(path);
    (file.to_owned(), object.map(str::to_owned))
}

/// How a message about a missing name goes on: with the nearest candidates, if any.
#[pyfunction]
pub fn did_you_mean(name: &str, candidates: Vec<String>) -> String {
    nyssa::guard::did_you_mean(name, candidates.iter().map(String::as_str))
}

#[pymethods]
impl File {
    /// Path of the file.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// What is wrong with a file that was not closed; `None` for others.
    #[getter]
    fn not_closed(&self) -> Option<&'static str> {
        self.0.was_recovered().then_some(NOT_CLOSED)
    }

    /// `(path, cycle, class, title)` of every object, those in directories included.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<(String, u16, String, String)>> {
        let file = self.0.clone();
        Door::new(None).abandonable().run(py, move |_| {
            let keys = file.walk()?.into_iter();
            Ok(keys.map(|key| (key.path, key.cycle, key.class, key.title)).collect())
        })
    }

    /// Opens the TTree or RNTuple at `path`, which may end with a cycle; without one the only
    /// dataset of the file.
    #[pyo3(signature = (path=None))]
    fn dataset(&self, py: Python<'_>, path: Option<String>) -> PyResult<Dataset> {
        let (file, options) = (self.0.clone(), self.1);
        Door::new(None).abandonable().run(py, move |_| {
            nyssa::dataset::open_dataset_with(&file, path.as_deref(), options).map(Dataset::new)
        })
    }

    fn __repr__(&self) -> String {
        format!("<nyssa._core.File {:?}>", self.0.name())
    }
}
