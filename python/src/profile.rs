//! Measures where the time and the memory go, for Python.

use std::sync::{Mutex, PoisonError};

use nyssa_observe::ProfileReport;
use nyssa_root::Error;
use pyo3::prelude::*;

use crate::errors;
use crate::report::json;

/// A running profiler.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Profiler(Mutex<Option<nyssa_observe::Profiler>>);

#[pymethods]
impl Profiler {
    /// Starts a profiler.
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        let profiler = py.detach(nyssa_observe::Profiler::start);
        let profiler = profiler.map_err(|error| errors::to_python(py, &error.into()))?;
        Ok(Self(Mutex::new(Some(profiler))))
    }

    /// Ends the profiler, and returns what it has measured.
    fn finish(&self, py: Python<'_>) -> PyResult<Profile> {
        let profiler = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = || errors::to_python(py, &Error::invalid_argument("the profiler has ended"));
        let profiler = profiler.ok_or_else(ended)?;
        Ok(Profile(py.detach(|| profiler.finish())))
    }
}

/// What a profiler has measured.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Profile(ProfileReport);

#[pymethods]
impl Profile {
    /// Returns the sums as JSON.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.0).map_err(|error| errors::to_python(py, &error))
    }

    /// Returns the tables that the command line prints.
    fn table(&self) -> String {
        nyssa_cli::profile_table(&self.0)
    }

    /// Returns the content of the page.
    fn html(&self) -> String {
        nyssa_cli::profile_body(&self.0)
    }

    /// Returns the page.
    fn page(&self) -> String {
        nyssa_cli::profile_page(&self.0)
    }

    /// Returns trace events as JSON.
    fn perfetto(&self, py: Python<'_>) -> PyResult<String> {
        self.0.to_perfetto().map_err(|error| errors::to_python(py, &error.into()))
    }
}
