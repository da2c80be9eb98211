//! Shows a TTree or an RNTuple to Python.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, FieldRef, Schema, SchemaRef};
use nyssa_data::dataset::steps::{Batches, MakeBatch, StepSize, partitions};
use nyssa_data::dataset::{AnyDataset, ColumnInfo, Format, LeftOut, ReadableColumns, fields};
use nyssa_data::view::Projection;
use nyssa_rntuple::read::Reader;
use nyssa_root::arrow::export_schema;
use nyssa_root::{Context, Error};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::prelude::*;

use crate::array::{Array, batch};
use crate::capsule;
use crate::column_form::{ColumnForm, Forms};
use crate::errors;
use crate::job::Job;
use crate::observe;
use crate::step_size::{bools, step_size};

/// An open TTree or RNTuple.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Dataset(AnyDataset);

impl Dataset {
    /// Shows `dataset` to Python.
    pub fn new(dataset: AnyDataset) -> Self {
        Self(dataset)
    }

    /// Returns the dataset.
    pub fn inner(&self) -> AnyDataset {
        Arc::clone(&self.0)
    }
}

/// Returns the reader of a dataset that is an RNTuple of a file, and no view.
fn own_reader(dataset: &dyn nyssa_data::Dataset) -> Option<&Reader> {
    Reader::shown_by(dataset).filter(|reader| std::ptr::addr_eq(*reader, dataset))
}

/// The result of reading: the dataset, the names of columns, their arrays, and the columns or parts that were left
/// out, each with the reason.
type ReadWithout = (Dataset, Vec<String>, Vec<Array>, Vec<(String, String)>);

impl Dataset {
    fn read_readable(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        threads: Option<usize>,
        buffers: bool,
        read: impl FnOnce(&mut ReadableColumns<'_>, &Context) -> nyssa_root::Result<Vec<ArrayRef>>
        + Send
        + 'static,
    ) -> PyResult<ReadWithout> {
        let dataset = Arc::clone(&self.0);
        Job::new(threads).abandonable().keeps_memory().run(py, move |context| {
            let refs: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut readable = ReadableColumns::new(dataset.as_ref(), &refs, context)?;
            let arrays = read(&mut readable, context)?;
            let names: Vec<String> = readable.names().into_iter().map(str::to_owned).collect();
            let left_out = readable.take_left_out().into_iter();
            let left_out = left_out.map(|item| (item.column, item.reason)).collect();
            let read = readable.without().unwrap_or_else(|| Arc::clone(&dataset));
            let fields = fields(read.as_ref(), &names)?;
            let arrays = columns(&fields, arrays, forms(buffers).as_ref(), context)?;
            Ok((Self(read), names, arrays, left_out))
        })
    }
}

/// Returns where to keep Forms, if the Forms and buffers of arrays are wanted.
pub(crate) fn forms(buffers: bool) -> Option<Forms> {
    buffers.then(Forms::default)
}

/// A column for Python; see [`Dataset::columns`].
type ItemRow = (String, String, Option<String>, Option<String>);

fn row(item: &ColumnInfo) -> ItemRow {
    let (data_type, reason) = match &item.field {
        Ok(field) => (Some(field.data_type().to_string()), None),
        Err(reason) => (None, Some(reason.clone())),
    };
    (item.name.clone(), item.type_name.clone(), data_type, reason)
}

/// A field for Python; see [`Dataset::fields`].
type FieldRow = (Option<u32>, String, String, u32, Vec<String>);

#[pymethods]
impl Dataset {
    /// Returns what was opened and read for the dataset, as JSON.
    fn io_stats(&self, py: Python<'_>) -> PyResult<String> {
        observe::io_stats_of(py, &self.0.open_options())
    }

    /// Returns `"TTree"` or `"RNTuple"`.
    #[getter]
    fn format(&self) -> &'static str {
        match self.0.format() {
            Format::TTree => "TTree",
            Format::RNTuple => "RNTuple",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow",
        }
    }

    /// Returns the path of the object in its file.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the name of the file.
    #[getter]
    fn file(&self) -> &str {
        self.0.file()
    }

    /// Returns the path or URL that opens the file again. It may have secrets.
    #[getter]
    fn location(&self) -> String {
        self.0.location().to_string_lossy().into_owned()
    }

    /// Returns the number of entries.
    #[getter]
    fn num_entries(&self) -> u64 {
        self.0.num_entries()
    }

    /// Returns `(name, C++ type, Arrow type or None, why it cannot be read or None)` of each column. With
    /// `below` these are the columns below them: the sub-branches of split branches, the parts of fields.
    #[pyo3(signature = (below=false))]
    fn items(&self, below: bool) -> Vec<ItemRow> {
        let items = if below { self.0.subcolumns() } else { self.0.columns() };
        items.iter().map(row).collect()
    }

    /// Returns the column of a name as `items` does. The name that is returned may be written differently.
    fn item(&self, name: &str) -> Option<ItemRow> {
        self.0.find_column(name).map(row)
    }

    /// Returns the types of the values of columns as awkward writes them; `None` for columns that cannot be read.
    fn datashapes(&self, names: Vec<String>) -> Vec<Option<String>> {
        let shape = |name: &String| {
            let field = self.0.find_column(name)?.field.as_ref().ok()?;
            ColumnForm::new(field).ok().map(|form| form.datashape())
        };
        names.iter().map(shape).collect()
    }

    /// Returns the title of a branch or the description of a field.
    fn title(&self, name: &str) -> String {
        self.0.title(name)
    }

    /// Returns the title of the TTree or the description of the RNTuple.
    #[getter]
    fn description(&self) -> String {
        self.0.description()
    }

    /// Returns the compressed and the uncompressed bytes of each column; `None` where they are not known.
    fn column_bytes(
        &self,
        py: Python<'_>,
        names: Vec<String>,
    ) -> PyResult<Vec<Option<(u64, u64)>>> {
        let dataset = Arc::clone(&self.0);
        Job::new(None).abandonable().run(py, move |_| {
            let bytes_of = |name: &String| {
                Ok(dataset.column_bytes(name)?.map(|it| (it.compressed, it.uncompressed)))
            };
            names.iter().map(bytes_of).collect()
        })
    }

    /// Returns each field of an RNTuple: the index of its parent or `None`, its name, its C++ type, the version
    /// of the type, and the types of its columns. They are in the order of their ids, parents first.
    fn fields(&self) -> Vec<FieldRow> {
        let Some(schema) = Reader::shown_by(&*self.0).map(Reader::schema) else {
            return Vec::new();
        };
        let row = |field: &nyssa_rntuple::schema::Field| {
            let parent = field.parent.map(|id| id.0);
            let column = |id: &nyssa_rntuple::schema::ColumnId| match schema.column(*id).column_type
            {
                Some(column_type) => column_type.name().to_owned(),
                None => format!("unknown {:#06x}", schema.column(*id).type_code),
            };
            let columns = field.columns.iter().map(column).collect();
            (parent, field.name.clone(), field.type_name.clone(), field.type_version, columns)
        };
        schema.fields.iter().map(row).collect()
    }

    /// Returns the ranges of entries that can be read independently at little cost.
    fn clusters(&self) -> Vec<(u64, u64)> {
        self.0.clusters().into_iter().map(|range| (range.start, range.end)).collect()
    }

    /// Divides the entries from `start` to `stop` into ranges: of at most so many `entries`, or whose arrays
    /// take so much `memory` in bytes; else into the clusters.
    #[pyo3(signature = (names, start, stop, *, entries=None, memory=None, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn partitions(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        start: u64,
        stop: u64,
        entries: Option<u64>,
        memory: Option<u64>,
        threads: Option<usize>,
    ) -> PyResult<Vec<(u64, u64)>> {
        let dataset = Arc::clone(&self.0);
        let size = step_size(entries, memory);
        Job::new(threads).abandonable().run(py, move |context| {
            let refs: Vec<&str> = names.iter().map(String::as_str).collect();
            let measure = |arrays: &[ArrayRef]| {
                // Bits become bytes.
                nyssa_root::arrow::memory(arrays) + arrays.iter().map(bools).sum::<u64>() * 7 / 8
            };
            let dataset = dataset.as_ref();
            let ranges = partitions(dataset, &refs, start..stop, size, measure, context)?;
            Ok(ranges.into_iter().map(|range| (range.start, range.end)).collect())
        })
    }

    /// Reads columns for the entries from `start` to `stop`. With `buffers` the Forms and buffers of the arrays
    /// are made on all threads, too.
    #[pyo3(signature = (names, start, stop, threads=None, buffers=false))]
    fn read(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
        buffers: bool,
    ) -> PyResult<Vec<Array>> {
        let dataset = Arc::clone(&self.0);
        Job::new(threads).abandonable().keeps_memory().run(py, move |context| {
            let refs: Vec<&str> = names.iter().map(String::as_str).collect();
            let arrays = dataset.read(&refs, start..stop, context)?;
            columns(&fields(dataset.as_ref(), &names)?, arrays, forms(buffers).as_ref(), context)
        })
    }

    /// Reads columns for entries in any order, as `read` does for ranges.
    #[pyo3(signature = (names, indices, threads=None, buffers=false))]
    fn take(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        indices: Vec<u64>,
        threads: Option<usize>,
        buffers: bool,
    ) -> PyResult<Vec<Array>> {
        let dataset = Arc::clone(&self.0);
        Job::new(threads).abandonable().keeps_memory().run(py, move |context| {
            let refs: Vec<&str> = names.iter().map(String::as_str).collect();
            let arrays = dataset.take(&refs, &indices, context)?;
            columns(&fields(dataset.as_ref(), &names)?, arrays, forms(buffers).as_ref(), context)
        })
    }

    /// Reads what can be read of columns for the entries from `start` to `stop`: the dataset that was
    /// read, whose columns may lack parts, the names of the columns, their arrays, and what was left out.
    #[pyo3(signature = (names, start, stop, threads=None, buffers=false))]
    fn read_skip_unreadable(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
        buffers: bool,
    ) -> PyResult<ReadWithout> {
        self.read_readable(py, names, threads, buffers, move |readable, context| {
            readable.read(start..stop, context)
        })
    }

    /// Reads as `read_skip_unreadable` does, for entries in any order.
    #[pyo3(signature = (names, indices, threads=None, buffers=false))]
    fn take_skip_unreadable(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        indices: Vec<u64>,
        threads: Option<usize>,
        buffers: bool,
    ) -> PyResult<ReadWithout> {
        self.read_readable(py, names, threads, buffers, move |readable, context| {
            readable.take(&indices, context)
        })
    }

    /// Closes the files of the dataset. Nothing can be read from it any more.
    fn close(&self) {
        self.0.close();
    }

    /// Returns the names of the attribute sets.
    fn attribute_sets(&self) -> Vec<String> {
        let links = own_reader(self.0.as_ref()).map(Reader::attribute_links).unwrap_or_default();
        links.iter().map(|link| link.name.clone()).collect()
    }

    /// Returns the dataset without some members of its records. Paths that are no members are ignored.
    fn without(&self, py: Python<'_>, members: Vec<String>) -> PyResult<Self> {
        let dataset = Arc::clone(&self.0);
        let reason = "it is not selected";
        let left_out = |column| LeftOut { column, reason: reason.to_owned() };
        let left_out: Vec<LeftOut> = members.into_iter().map(left_out).collect();
        Job::new(None).abandonable().run(py, move |context| {
            Ok(Self(dataset.without(&left_out, context)?.unwrap_or(dataset)))
        })
    }

    /// Returns a dataset of some columns.
    fn project(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Self> {
        let projection = Projection::new(Arc::clone(&self.0), &names);
        let projection = projection.map_err(|error| errors::to_python(py, &error))?;
        Ok(Self(Arc::new(projection)))
    }

    /// Opens an attribute set.
    fn attribute_set(&self, py: Python<'_>, name: String) -> PyResult<Self> {
        let dataset = Arc::clone(&self.0);
        Job::new(None).abandonable().run(py, move |_| match own_reader(dataset.as_ref()) {
            Some(reader) => Ok(Self(Arc::new(reader.open_attribute_set(&name)?))),
            None => {
                let message = format!("{} has no attribute set {name:?}", dataset.name());
                Err(Error::not_found(message))
            }
        })
    }

    /// Streams columns cluster by cluster, for the entries from `start` to `stop`.
    #[pyo3(signature = (names, start, stop, threads=None))]
    fn stream<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let raise = |error: Error| errors::to_python(py, &error);
        let context = Context::kept(threads).map_err(raise)?;
        let (size, form) = (StepSize::Cluster, (export_schema as fn(&_) -> _, batch as MakeBatch));
        let batches =
            Batches::new(&self.0, names, start..stop, size, form, context).map_err(raise)?;
        let reader = ClusterReader { exported: batches.schema(), batches: Some(batches) };
        capsule::stream(py, Box::new(reader))
    }

    /// Returns the Arrow schema of columns.
    fn schema<'py>(&self, py: Python<'py>, names: Vec<String>) -> PyResult<Bound<'py, PyCapsule>> {
        let fields =
            fields(self.0.as_ref(), &names).map_err(|error| errors::to_python(py, &error))?;
        capsule::schema(py, &export_schema(&Schema::new(fields)))
    }

    fn __repr__(&self) -> String {
        format!("<nyssa._core.Dataset {:?} in {:?}>", self.0.name(), self.0.file())
    }
}

/// Shows arrays that were read to Python. With `forms` their buffers are made on all threads.
pub(crate) fn columns(
    fields: &[FieldRef],
    arrays: Vec<ArrayRef>,
    forms: Option<&Forms>,
    context: &Context,
) -> nyssa_root::Result<Vec<Array>> {
    let columns = arrays.into_iter().zip(fields.iter().map(Arc::clone));
    let Some(forms) = forms else {
        return Ok(columns.map(|(array, field)| Array::new(array, field)).collect());
    };
    context.pool().install(|| {
        let columns: Vec<_> = columns.zip(forms.of(fields)?).collect();
        let columns = columns.into_par_iter();
        columns.map(|((array, field), form)| Array::with_form(array, field, form)).collect()
    })
}

/// A reader that reads one cluster while the consumer works on the previous cluster.
struct ClusterReader {
    /// The batches; `None` after the stream is dropped.
    batches: Option<Batches>,
    exported: SchemaRef,
}

impl ClusterReader {
    fn read(&mut self) -> nyssa_root::Result<Option<RecordBatch>> {
        self.batches.as_mut().map_or(Ok(None), Batches::next_batch)
    }
}

impl Iterator for ClusterReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The consumer is C code, which no panic may reach.
        // It may hold the GIL, which the functions of read rules need on other threads.
        let read = AssertUnwindSafe(|| Python::attach(|py| py.detach(|| self.read())));
        let batch = catch_unwind(read)
            .unwrap_or_else(|_| Err(Error::out_of_spec("nyssa failed unexpectedly")));
        batch.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for ClusterReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.exported)
    }
}

impl Drop for ClusterReader {
    fn drop(&mut self) {
        // As above: the thread that reads ahead may be waiting for the GIL.
        let batches = self.batches.take();
        let _ = catch_unwind(AssertUnwindSafe(|| Python::attach(|py| py.detach(|| drop(batches)))));
    }
}
