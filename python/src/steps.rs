//! Steps of a dataset, or of several files one after the other, as Python iterates over them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array as _, ArrayRef};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use nyssa::Context;
use nyssa::dataset::steps::{Part, StepSize, Steps as Core};
use nyssa::dataset::{Chain, ChainOptions, Link, Target};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::Array;
use crate::chain::{chain_options, ruled_links};
use crate::dataset::{Dataset, columns};
use crate::door::{self, Door};
use crate::errors;

/// Dataset, first entry, end, the entry that counts as its first, and name of the file.
type GivenPart<'py> = (PyRef<'py, Dataset>, u64, u64, u64, String);

/// Columns, name of the file, first entry and end in it, and the first entry among those of all files.
type Found = (Vec<Array>, String, u64, u64, u64);

/// Steps, one read while the caller works on the one before.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Steps {
    steps: Arc<Mutex<Option<Core<Vec<Array>>>>>,
    cancel: Arc<AtomicBool>,
    threads: Option<usize>,
}

#[pymethods]
impl Steps {
    /// Steps of `names` in `parts`, then in the files `links`, read with the columns of the first part.
    /// Steps are of so many `entries`, or so that all takes so much `memory` in bytes, or of one cluster.
    /// `objects` are bytes that Python's objects take for each entry; `layout` is as for
    /// `Dataset.read`.
    #[new]
    #[pyo3(signature = (
        parts, names, *, entries=None, memory=None, links=None, options=None, threads=None,
        layout=None, objects=0
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        parts: Vec<GivenPart<'_>>,
        names: Vec<String>,
        entries: Option<u64>,
        memory: Option<u64>,
        links: Option<Vec<Bound<'_, PyAny>>>,
        options: Option<&Bound<'_, PyDict>>,
        threads: Option<usize>,
        layout: Option<bool>,
        objects: u64,
    ) -> PyResult<Self> {
        // Fails now for a wrong number of threads.
        door::context(threads).map_err(|error| errors::to_python(py, &error))?;
        let size = match (entries, memory) {
            (Some(entries), _) => StepSize::Entries(entries),
            (None, Some(memory)) => StepSize::Memory(memory),
            (None, None) => StepSize::Cluster,
        };
        let known: Vec<Part> = parts.into_iter().map(part).collect();
        let (links, options) = match (links, options) {
            (Some(links), Some(options)) => {
                (ruled_links(&links, options)?, chain_options(options)?)
            }
            _ => (Vec::new(), ChainOptions::default()),
        };
        let options = match known.first() {
            Some(first) => {
                ChainOptions { target: Target::Like(first.dataset.items().to_vec()), ..options }
            }
            None => options,
        };
        let parts = move |number: usize, context: &Context| match known.get(number) {
            Some(part) => Ok(Some(part.clone())),
            None => links
                .get(number - known.len())
                .map(|link| open(link, &options, context))
                .transpose(),
        };
        let asked = names.clone();
        let finish = move |part: &Part, arrays: Vec<ArrayRef>, rows: u64, context: &Context| {
            let spread: u64 = arrays.iter().map(|array| bools(&array.to_data())).sum();
            let more = if layout.is_some() { spread } else { 0 };
            let columns = columns(&part.dataset, &asked, arrays, layout, context)?;
            Ok((columns, more.saturating_add(objects.saturating_mul(rows))))
        };
        let cancel = Arc::<AtomicBool>::default();
        let steps = Core::new(Arc::new(parts), names, size, Arc::new(finish), Arc::clone(&cancel));
        Ok(Self { steps: Arc::new(Mutex::new(Some(steps))), cancel, threads })
    }

    /// The next step; `None` behind the last one.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Found>> {
        let steps = Arc::clone(&self.steps);
        let door = Door::new(self.threads).abandonable().cancel(Arc::clone(&self.cancel));
        let step = door.run(py, move |context| {
            let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
            steps.as_mut().map_or(Ok(None), |steps| steps.next(context))
        })?;
        Ok(step.map(|step| {
            let entries = step.entries;
            (step.data, step.file.to_string(), entries.start, entries.end, step.first)
        }))
    }

    /// Begins to read the step after the last one that `next` has returned.
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        let raise = |error| errors::to_python(py, &error);
        let context = door::context(self.threads).map_err(raise)?;
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.as_mut().map_or(Ok(()), |steps| steps.prepare(&context)).map_err(raise)
    }

    /// Stops reading.
    fn close(&self, py: Python<'_>) {
        self.cancel.store(true, Ordering::Relaxed);
        py.detach(|| {
            let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(steps);
        });
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        // The thread that reads may be waiting for the GIL.
        Python::attach(|py| self.close(py));
    }
}

fn part((dataset, start, stop, origin, file): GivenPart<'_>) -> Part {
    Part { dataset: dataset.inner(), entries: start..stop, origin, file: file.into() }
}

fn open(link: &Link, options: &ChainOptions, context: &Context) -> nyssa::Result<Part> {
    let chain = Chain::new(vec![link.clone()], options, context)?;
    let (file, entries) = chain.files().next().unwrap_or(("", 0..0));
    let file = file.into();
    Ok(Part { dataset: Arc::new(chain), entries, origin: 0, file })
}

/// Bytes that the bits of `data` take as bytes.
fn bools(data: &ArrayData) -> u64 {
    let own = if data.data_type() == &DataType::Boolean { data.len() as u64 } else { 0 };
    own + data.child_data().iter().map(bools).sum::<u64>()
}
