//! Lets several threads fill an RNTuple or a TTree, and estimates the memory that an RNTuple needs.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};

use arrow_array::ArrayRef;
use nyssa_jobs::filling::{Fill, Slot};
use nyssa_rntuple::choose::RequestedType;
use nyssa_rntuple::encoding::Precision;
use nyssa_rntuple::schema::{Classes, SchemaBuilder};
use nyssa_rntuple::write;
use nyssa_root::{Context, Error, Result};
use pyo3::prelude::*;

use crate::array::Array;
use crate::errors;
use crate::job::Job;
use crate::options::WriteOptions;
use crate::process::Process;

/// A writer that takes the entries of one thread.
#[pyclass(frozen, module = "nyssa._core")]
pub struct FillContext {
    slot: Slot,
    cancel: Arc<AtomicBool>,
    process: Process,
}

impl FillContext {
    /// Makes the context for Python. The file keeps the same one.
    pub fn new(slot: Slot, cancel: Arc<AtomicBool>) -> Self {
        Self { slot, cancel, process: Process::this() }
    }

    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&mut Option<Box<dyn Fill>>) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let check = self.process.check("a fill context");
        check.map_err(|error| errors::to_python(py, &error))?;
        let slot = Arc::clone(&self.slot);
        Job::new(None)
            .cancel(Arc::clone(&self.cancel))
            .run(py, move |_| job(&mut slot.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl FillContext {
    /// Appends entries, given by the columns in their order.
    fn extend(&self, py: Python<'_>, columns: Vec<PyRef<'_, Array>>) -> PyResult<()> {
        let arrays: Vec<ArrayRef> = columns.iter().map(|column| column.array()).collect();
        self.run(py, move |context| context.as_mut().ok_or_else(finished)?.extend(&arrays))
    }

    /// Returns the time in seconds that the context waited for others. It is `None` after the end.
    fn stalled(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.run(py, |context| Ok(context.as_ref().map(|context| context.stalled().as_secs_f64())))
    }

    /// Ends the cluster.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |context| context.as_mut().ok_or_else(finished)?.flush())
    }

    /// Commits the remaining entries. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |context| context.take().map_or(Ok(()), Fill::finish))
    }

    /// Discards the entries that are in no cluster yet, and returns their number.
    fn discard(&self, py: Python<'_>) -> PyResult<u64> {
        self.run(py, |context| context.take().map_or(Ok(0), Fill::discard))
    }

    /// Discards the context. The file is discarded, too, if entries are lost. In a fork nothing happens.
    fn abandon(&self, py: Python<'_>) {
        if !self.process.is_this() {
            return;
        }
        py.detach(|| drop(self.slot.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

fn finished() -> Error {
    Error::invalid_argument("the fill context is closed")
}

/// Returns the relative and the absolute error of a column type for floats or doubles, and the least and the
/// largest value.
#[pyfunction]
pub(crate) fn column_precision(
    py: Python<'_>,
    column: &str,
    double: bool,
) -> PyResult<(f64, f64, f64, f64)> {
    let precision = || match column.parse()? {
        RequestedType::Encoding(encoding) => encoding.precision(double).ok_or_else(|| {
            Error::invalid_argument(format!("{column:?} holds no floating-point numbers"))
        }),
        RequestedType::Split | RequestedType::Unsplit => Ok(Precision::EXACT),
    };
    let Precision { relative, absolute, range: (min, max) } =
        precision().map_err(|error: Error| errors::to_python(py, &error))?;
    Ok((relative, absolute, min, max))
}

/// Returns as JSON the memory that writing entries with the types of `columns` needs.
#[pyfunction]
pub(crate) fn estimate_write_memory(
    py: Python<'_>,
    columns: Vec<PyRef<'_, Array>>,
    options: WriteOptions,
) -> PyResult<String> {
    let raise = |error: Error| errors::to_python(py, &error);
    let threads = Context::kept(options.threads).map_err(raise)?.threads();
    let options = options.parse().map_err(raise)?;
    let fields: Vec<_> = columns.iter().map(|column| column.field()).collect();
    let estimate = || {
        let mut builder = SchemaBuilder::new(options.compression);
        builder.arrow_fields(&fields, &Classes::default())?;
        let estimate = write::estimate(&builder.finish(), &options, options.contexts, threads)?;
        serde_json::to_string(&estimate)
            .map_err(|error| Error::invalid_argument("cannot print").with_source(error))
    };
    estimate().map_err(raise)
}
