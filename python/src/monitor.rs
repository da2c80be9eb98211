//! Records what the process uses, for Python.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use nyssa_root::{Error, process};
use pyo3::prelude::*;

use crate::errors;
use crate::report::json;

/// A running monitor.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Monitor(Mutex<Option<nyssa_observe::Monitor>>);

#[pymethods]
impl Monitor {
    /// Starts a monitor that writes to `path` each `interval` seconds.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, interval: f64) -> PyResult<Self> {
        let monitor = py.detach(|| process::monitor(&path, nyssa_observe::interval(interval)?));
        let monitor = monitor.map_err(|error| errors::to_python(py, &error))?;
        Ok(Self(Mutex::new(Some(monitor))))
    }

    /// Ends the monitor, and returns the summary as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let monitor = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = || Error::invalid_argument("the monitor has ended");
        let summary = py.detach(|| json(&monitor.ok_or_else(ended)?.finish()?));
        summary.map_err(|error| errors::to_python(py, &error))
    }
}
