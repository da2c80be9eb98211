//! Reads a dataset, or several files one after the other, in steps, over which Python iterates.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use nyssa_data::dataset::steps::{InputPart, Shown, Steps as Core};
use nyssa_data::dataset::{AnyDataset, LeftOut};
use nyssa_data::view::{Chain, ChainOptions, ChainSchema, Link};
use nyssa_root::Context;
use pyo3::prelude::*;

use crate::array::Array;
use crate::chain::{GivenOptions, chain_options, ruled_links};
use crate::dataset::{Dataset, columns, forms};
use crate::errors;
use crate::job::Job;
use crate::query::Query;
use crate::step_size::{bools, step_size};

/// A part of a dataset: its first entry and its end, the entry that counts as its first, and the name of
/// the file.
type Range = (u64, u64, u64, String);

/// A step: its columns, the name of the file, its first entry and its end in the file, its first entry among the
/// entries of all files, what is left out from this step on, each with the reason, and the bytes of the step and of the
/// memory, if the step is one entry that takes more.
type PyStep = (Vec<Array>, String, u64, u64, u64, Vec<(String, String)>, Option<(u64, u64)>);

/// An iterator over steps. Each is read while the caller works on the previous step.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Steps {
    steps: Arc<Mutex<Option<Core<Vec<Array>>>>>,
    cancel: Arc<AtomicBool>,
    threads: Option<usize>,
    /// The memory of the steps in bytes, if it is limited.
    memory: Option<u64>,
}

#[pymethods]
impl Steps {
    /// Begins steps of the columns `names` in `parts` of `dataset`, and then in the files `links`, which are read with
    /// the columns of `dataset`. With `skip_unreadable`, columns and members that cannot be read are left out. A step
    /// has so many `entries`, or is as large as `memory` in bytes permits, or is one cluster. `query` adds expressions
    /// and a cut. `objects` are bytes that Python's objects take for each entry; `buffers` is as for `Dataset.read`.
    #[new]
    #[pyo3(signature = (
        dataset, parts, names, *, skip_unreadable=false, entries=None, memory=None, links=None, options=None,
        query=None, threads=None, buffers=false, objects=0
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        dataset: &Dataset,
        parts: Vec<Range>,
        names: Vec<String>,
        skip_unreadable: bool,
        entries: Option<u64>,
        memory: Option<u64>,
        links: Option<Vec<Bound<'_, PyAny>>>,
        options: Option<GivenOptions<'_>>,
        query: Option<PyRef<'_, Query>>,
        threads: Option<usize>,
        buffers: bool,
        objects: u64,
    ) -> PyResult<Self> {
        // A wrong number of threads is an error now.
        Context::kept(threads).map_err(|error| errors::to_python(py, &error))?;
        let size = step_size(entries, memory);
        let dataset = Arc::new(Whole { dataset: dataset.inner(), without: Mutex::default() });
        let (links, options) = match (links, options) {
            (Some(links), Some(options)) => {
                (ruled_links(&links, options.rules.as_ref())?, chain_options(py, options)?)
            }
            _ => (Vec::new(), ChainOptions::default()),
        };
        let query = query.map(|query| query.inner().clone()).unwrap_or_default();
        let parts = move |number: usize, left_out: &[LeftOut], context: &Context| {
            let dataset = dataset.without(left_out, context)?;
            let Some((start, stop, origin, file)) = parts.get(number) else {
                let link = links.get(number - parts.len()).cloned();
                let open = |link| open(link, dataset, &options, left_out, context);
                return link
                    .map(open)
                    .transpose()?
                    .map(|part| queried(part, &query, context))
                    .transpose();
            };
            let file = file.as_str().into();
            let part =
                InputPart { dataset, entries: *start..*stop, origin: *origin, file, shown: None };
            queried(part, &query, context).map(Some)
        };
        // The Forms of columns stay the same from step to step.
        let forms = forms(buffers);
        let finish =
            move |fields: &[FieldRef], arrays: Vec<ArrayRef>, rows: u64, context: &Context| {
                let spread = if forms.is_some() { arrays.iter().map(bools).sum() } else { 0u64 };
                let columns = columns(fields, arrays, forms.as_ref(), context)?;
                Ok((columns, spread.saturating_add(objects.saturating_mul(rows))))
            };
        let cancel = Arc::<AtomicBool>::default();
        let (parts, finish) = (Arc::new(parts), Arc::new(finish));
        let steps = Core::new(parts, names, skip_unreadable, size, finish, Arc::clone(&cancel));
        Ok(Self { steps: Arc::new(Mutex::new(Some(steps))), cancel, threads, memory })
    }

    /// Returns the next step; `None` after the last one.
    fn next(&self, py: Python<'_>) -> PyResult<Option<PyStep>> {
        let steps = Arc::clone(&self.steps);
        let job =
            Job::new(self.threads).abandonable().keeps_memory().cancel(Arc::clone(&self.cancel));
        let step = job.run(py, move |context| {
            let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
            steps.as_mut().map_or(Ok(None), |steps| steps.next(context))
        })?;
        Ok(step.map(|step| {
            let entries = step.entries;
            let left_out =
                step.left_out.into_iter().map(|item| (item.column, item.reason)).collect();
            let excess = step.excess.zip(self.memory);
            let file = step.file.to_string();
            (step.data, file, entries.start, entries.end, step.first, left_out, excess)
        }))
    }

    /// Begins to read the step after the last one that `next` has returned.
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        let raise = |error| errors::to_python(py, &error);
        let context = Context::kept(self.threads).map_err(raise)?.with_kept_memory();
        // Another thread that has the lock may be waiting for Python.
        let prepared = py.detach(|| {
            let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            steps.as_mut().map_or(Ok(()), |steps| steps.prepare(&context))
        });
        prepared.map_err(raise)
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

/// A dataset, and the same dataset without parts of its columns.
struct Whole {
    dataset: AnyDataset,
    /// The number of parts that are left out, which only grows, and the dataset without them.
    without: Mutex<Option<(usize, AnyDataset)>>,
}

impl Whole {
    fn without(&self, left_out: &[LeftOut], context: &Context) -> nyssa_root::Result<AnyDataset> {
        if left_out.is_empty() {
            return Ok(Arc::clone(&self.dataset));
        }
        let mut known = self.without.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, dataset)) = known.as_ref().filter(|(parts, _)| *parts == left_out.len()) {
            return Ok(Arc::clone(dataset));
        }
        let dataset = self.dataset.without(left_out, context)?;
        let dataset = dataset.unwrap_or_else(|| Arc::clone(&self.dataset));
        *known = Some((left_out.len(), Arc::clone(&dataset)));
        Ok(dataset)
    }
}

/// Returns the part with the expressions and the cut of a query. Its entries are counted from 0 if there is a cut.
fn queried(
    part: InputPart,
    query: &nyssa_data::view::Query,
    context: &Context,
) -> nyssa_root::Result<InputPart> {
    if query.is_empty() {
        return Ok(part);
    }
    let queried = query.apply(part.dataset, part.entries, context)?;
    let (dataset, entries, first) = (queried.dataset, queried.entries, part.origin);
    let Some(selected) = queried.selected else {
        return Ok(InputPart { dataset, entries, ..part });
    };
    let shown: Shown = Arc::new(move |entries| {
        let inner = selected.inner_range(&entries);
        inner.start.saturating_sub(first)..inner.end.saturating_sub(first)
    });
    Ok(InputPart { dataset, entries, origin: 0, shown: Some(shown), ..part })
}

/// Opens a file with the columns of `first`.
fn open(
    link: Link,
    first: AnyDataset,
    options: &ChainOptions,
    left_out: &[LeftOut],
    context: &Context,
) -> nyssa_root::Result<InputPart> {
    let options = ChainOptions { target: ChainSchema::Like(first), ..options.clone() };
    let link = match left_out.is_empty() {
        true => link,
        false => link.without(left_out.into(), context.clone()),
    };
    let chain = Chain::new(vec![link], &options, context)?;
    let (file, entries) = chain.files().next().unwrap_or(("", 0..0));
    let file = file.into();
    Ok(InputPart { dataset: Arc::new(chain), entries, origin: 0, file, shown: None })
}
