//! Writes files.

mod table;
mod tree;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ArrayRef;
use arrow_schema::{Field, FieldRef, Schema};
use nyssa_jobs::filling::{Table, Tree};
use nyssa_jobs::job::check_root_name;
use nyssa_jobs::update::Update;
use nyssa_rntuple::write::{Order, RNTupleWriteOptions, SharedFile};
use nyssa_root::effort::Effort;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::{Context, Error, Result};
use nyssa_ttree::write::TreeWriteOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::Array;
use crate::bridge::PythonUpload;
use crate::errors;
use crate::field_form::RowField;
use crate::file::File;
use crate::fill::FillContext;
use crate::job::Job;
use crate::options::{ByField, WriteOptions, by_field};
use crate::process::Process;
use crate::tree_options::TreeOptions;

/// The fields that rows may have; see [`crate::field_form`].
type Fields = Vec<RowField>;

/// A column that is to be written: its name, and its values.
type Given = (String, ArrayRef);

/// A ROOT file that takes RNTuples and TTrees until it is closed.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Writer {
    state: Arc<Mutex<Option<OpenFile>>>,
    cancel: Arc<AtomicBool>,
    process: Process,
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.process.is_this() {
            // Dropping the state would remove the unfinished file, which belongs to the other process.
            std::mem::forget(Arc::clone(&self.state));
        }
    }
}

struct OpenFile {
    file: SharedFile,
    /// Whether RNTuples are added to an existing file.
    update: Option<Update>,
    options: RNTupleWriteOptions,
    context: Context,
    order: Order,
    tables: Vec<Table>,
    trees: Vec<Tree>,
}

impl OpenFile {
    /// Returns the file that is changed.
    fn update(&self, name: &str) -> Result<&Update> {
        let update = self.update.as_ref();
        update.ok_or_else(|| Error::not_found(format!("no object {name:?} is being written")))
    }
}

impl Writer {
    /// Checks the options, and opens the file by `open`, which gets the options of the file.
    fn open(
        py: Python<'_>,
        options: WriteOptions,
        open: impl FnOnce(FileOptions) -> Result<(SharedFile, Option<Update>)> + Send + 'static,
    ) -> PyResult<Self> {
        let raise = |error: Error| errors::to_python(py, &error);
        let (threads, order) = (options.threads, options.fill_order().map_err(raise)?);
        let options = options.parse().map_err(raise)?;
        let cancel = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&cancel);
        let state = Job::new(threads).run(py, move |context| {
            let context = context.quiet().with_cancel(stop);
            options.validate()?;
            let compression = options.compression;
            // With one thread, everything is done one after the other.
            let write_behind = context.threads() > 1;
            let file_options = FileOptions { compression, write_behind, ..FileOptions::default() };
            let (file, update) = open(file_options)?;
            Ok(OpenFile {
                file,
                update,
                options,
                context,
                order,
                tables: Vec::new(),
                trees: Vec::new(),
            })
        })?;
        Ok(Self { state: Arc::new(Mutex::new(Some(state))), cancel, process: Process::this() })
    }
}

#[pymethods]
impl Writer {
    /// Creates the file at `path`, or in a `nyssa.files.bridge.Output`; it appears there when it is closed.
    #[new]
    fn new(
        py: Python<'_>,
        path: Bound<'_, PyAny>,
        options: WriteOptions,
        force: bool,
    ) -> PyResult<Self> {
        let (path, output) = match path.extract::<String>() {
            Ok(path) => (path, None),
            Err(_) => (String::new(), Some(PythonUpload::new(&path)?)),
        };
        Self::open(py, options, move |file_options| {
            check_root_name(output.as_ref().map_or(&path, PythonUpload::name).as_ref())?;
            let sink = match output {
                Some(output) => output.into_sink()?,
                None => nyssa_io::create(&path, force)?,
            };
            Ok((SharedFile::new(RootFileWriter::create(sink, file_options)?), None))
        })
    }

    /// Opens the file at `path` to add to it.
    #[staticmethod]
    fn update(py: Python<'_>, path: String, options: WriteOptions) -> PyResult<Self> {
        Self::open(py, options, move |file_options| {
            let update = Update::open(path.as_ref(), file_options)?;
            Ok((update.file().clone(), Some(update)))
        })
    }

    /// Goes on with the RNTuple `name` of an existing file. Returns the fields that rows have, and the number of
    /// entries.
    fn append(&self, py: Python<'_>, name: String) -> PyResult<(Fields, u64)> {
        self.run(py, move |state| state.append(&name))
    }

    /// Goes on with the TTree `name` of an existing file. Returns its columns without entries, the number of entries,
    /// and notes on what is lost.
    fn append_tree(
        &self,
        py: Python<'_>,
        name: String,
    ) -> PyResult<(Vec<Array>, u64, Vec<String>)> {
        self.run(py, move |state| state.append_tree(&name))
    }

    /// Returns the C++ class of an object of the file before its update.
    fn old_class(&self, py: Python<'_>, name: String) -> PyResult<String> {
        self.run(py, move |state| Ok(state.update(&name)?.old().find(&name)?.class))
    }

    /// Begins the RNTuple `name` with the types of `columns`, whose entries are not written, and with
    /// projections, given by names and paths. Records with a name in `classes` are of this class. `own` are
    /// options by glob, `descriptions` texts by paths of fields. Returns the fields that rows have.
    #[allow(clippy::too_many_arguments)]
    fn table(
        &self,
        py: Python<'_>,
        name: String,
        columns: Vec<PyRef<'_, Array>>,
        description: String,
        projections: Vec<(String, String)>,
        classes: &Bound<'_, PyDict>,
        own: ByField,
        descriptions: HashMap<String, String>,
    ) -> PyResult<Fields> {
        let fields = fields(&columns);
        let streamer_infos = crate::classes::streamer_infos(classes)?;
        let classes = crate::classes::classes(classes)?;
        self.run(py, move |state| {
            let mut options =
                RNTupleWriteOptions { description, streamer_infos, ..state.options.clone() };
            options.fields.extend(by_field(own)?);
            state.new_table(&name, &fields, &classes, projections, &descriptions, options)
        })
    }

    /// Returns columns in the order of the RNTuple `name`. Columns of projected fields become the columns of the
    /// fields that they show. Fields after the first `needed` ones may be left out.
    fn rows(
        &self,
        py: Python<'_>,
        name: String,
        columns: Vec<PyRef<'_, Array>>,
        needed: usize,
    ) -> PyResult<Vec<Array>> {
        let given = given(&columns);
        self.run(py, move |state| table::in_order(state.table(&name)?, &given, needed))
    }

    /// Appends entries to the RNTuple `name`, given by its columns in their order.
    fn extend(&self, py: Python<'_>, name: String, columns: Vec<PyRef<'_, Array>>) -> PyResult<()> {
        let arrays = arrays(&columns);
        self.run(py, move |state| state.table(&name)?.rows.writer()?.extend(&arrays))
    }

    /// Returns the time in seconds that calls of `extend` of an RNTuple or a TTree waited for other threads.
    fn stalled(&self, py: Python<'_>, name: String) -> PyResult<f64> {
        self.run(py, move |state| {
            let stalled = match state.tree(&name) {
                Ok(tree) => tree.rows.stalled(),
                Err(_) => state.table(&name)?.rows.stalled(),
            };
            Ok(stalled.as_secs_f64())
        })
    }

    /// Adds fields with the types of `columns` to the RNTuple `name`. Earlier entries have zeros there, or, with
    /// `filled`, the values of the columns. Returns the fields that rows have.
    fn add_fields(
        &self,
        py: Python<'_>,
        name: String,
        columns: Vec<PyRef<'_, Array>>,
        filled: bool,
    ) -> PyResult<Fields> {
        let (fields, arrays) = (fields(&columns), arrays(&columns));
        self.run(py, move |state| table::add_fields(state.table(&name)?, &fields, &arrays, filled))
    }

    /// Begins the attribute set `set` of the RNTuple `name` with the types of `columns`, whose
    /// entries are not written.
    fn attribute_set(
        &self,
        py: Python<'_>,
        name: String,
        set: String,
        columns: Vec<PyRef<'_, Array>>,
    ) -> PyResult<()> {
        let schema = Schema::new(fields(&columns));
        self.run(py, move |state| state.new_set(&name, &set, &schema))
    }

    /// Appends ranges of entries, given by their first entries and numbers of entries, and their
    /// attributes.
    fn extend_attributes(
        &self,
        py: Python<'_>,
        name: String,
        set: String,
        ranges: (Vec<u64>, Vec<u64>),
        columns: Vec<PyRef<'_, Array>>,
    ) -> PyResult<()> {
        let arrays = arrays(&columns);
        self.run(py, move |state| {
            let (starts, lengths) = ranges;
            state.table(&name)?.set(&set)?.extend(starts.into(), lengths.into(), &arrays)
        })
    }

    /// Begins the TTree `name` with the types of `columns`, whose entries are not written. `classes` has the classes of
    /// the columns.
    fn mktree(
        &self,
        py: Python<'_>,
        name: String,
        columns: Vec<PyRef<'_, Array>>,
        classes: &Bound<'_, PyDict>,
        options: TreeOptions,
    ) -> PyResult<()> {
        let schema = Schema::new(fields(&columns));
        let classes = crate::classes::classes(classes)?;
        self.run(py, move |state| {
            let options = TreeWriteOptions { classes, ..options.parse(&state.options)? };
            state.new_tree(&name, &schema, options)
        })
    }

    /// Adds branches with the types of `fields` to the TTree `name`, and `columns` as the values of all entries so far.
    /// `classes` has the classes of the columns.
    fn add_branches(
        &self,
        py: Python<'_>,
        name: String,
        fields: Vec<PyRef<'_, Array>>,
        columns: Vec<PyRef<'_, Array>>,
        classes: &Bound<'_, PyDict>,
        options: TreeOptions,
    ) -> PyResult<()> {
        let schema = Schema::new(self::fields(&fields));
        let arrays = arrays(&columns);
        let classes = crate::classes::classes(classes)?;
        self.run(py, move |state| {
            let options = TreeWriteOptions { classes, ..options.parse(&state.options)? };
            state.add_branches(&name, &schema, &arrays, &options)
        })
    }

    /// Returns columns in the order of the TTree `name`. Counters that are not given are of the type null.
    fn tree_rows(
        &self,
        py: Python<'_>,
        name: String,
        columns: Vec<PyRef<'_, Array>>,
    ) -> PyResult<Vec<Array>> {
        let given = given(&columns);
        self.run(py, move |state| tree::in_order(state.tree(&name)?, &given))
    }

    /// Appends entries to the TTree `name`, given by its columns in their order.
    fn extend_tree(
        &self,
        py: Python<'_>,
        name: String,
        columns: Vec<PyRef<'_, Array>>,
    ) -> PyResult<()> {
        let arrays = arrays(&columns);
        self.run(py, move |state| state.tree(&name)?.rows.writer()?.extend(&arrays))
    }

    /// Compresses the next baskets of a branch of the TTree `name` in another way.
    fn set_tree_compression(
        &self,
        py: Python<'_>,
        name: String,
        branch: String,
        compression: String,
    ) -> PyResult<()> {
        self.run(py, move |state| {
            let compression = compression.parse()?;
            state.tree(&name)?.rows.writer()?.set_compression(&branch, compression)
        })
    }

    /// Compresses what is written from now on in another way, with exactly this level.
    fn set_compression(&self, py: Python<'_>, compression: String) -> PyResult<()> {
        self.run(py, move |state| {
            state.options.compression = compression.parse()?;
            state.options.effort = Effort::Full;
            Ok(())
        })
    }

    /// Ends the open cluster of the TTree `name`.
    fn flush_tree(&self, py: Python<'_>, name: String) -> PyResult<()> {
        self.run(py, move |state| state.tree(&name)?.rows.writer()?.flush())
    }

    /// Writes a new object; see [`crate::objects::draft`].
    fn write_object(
        &self,
        py: Python<'_>,
        path: String,
        title: String,
        object: Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let object = crate::objects::draft(&object)?;
        self.run(py, move |state| {
            state.file.write_object(&path, &title, &object, state.options.compression)
        })
    }

    /// Copies the object at `source` of an open file, which may end with a cycle.
    fn copy_object(
        &self,
        py: Python<'_>,
        path: String,
        file: PyRef<'_, File>,
        source: String,
    ) -> PyResult<()> {
        let file = file.root_file().clone();
        self.run(py, move |state| {
            let key = file.find(&source)?;
            state.file.copy_object(&path, &file, &key)
        })
    }

    /// Creates a directory with the title of the directory at `source` of an open file.
    fn copy_directory(
        &self,
        py: Python<'_>,
        path: String,
        file: PyRef<'_, File>,
        source: String,
    ) -> PyResult<()> {
        let file = file.root_file().clone();
        self.run(py, move |state| state.file.copy_directory(&path, &file.find(&source)?))
    }

    /// Creates a directory, and those above it.
    fn mkdir(&self, py: Python<'_>, path: String) -> PyResult<()> {
        self.run(py, move |state| state.file.make_directory(&path))
    }

    /// Takes an object out of the file: the newest cycle, the one that the path names, or all (`;*`).
    fn delete(&self, py: Python<'_>, path: String) -> PyResult<()> {
        self.run(py, move |state| state.file.delete(&path))
    }

    /// Makes a fill context of the RNTuple or the TTree `name`.
    fn fill_context(&self, py: Python<'_>, name: String) -> PyResult<FillContext> {
        let slot = self.run(py, move |state| {
            let (order, context) = (state.order, state.context.clone());
            match state.tree(&name) {
                Ok(tree) => tree.context(order, &context),
                Err(_) => state.table(&name)?.rows.context(order, &context),
            }
        })?;
        Ok(FillContext::new(slot, Arc::clone(&self.cancel)))
    }

    /// Writes the remaining data and lets the file appear.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let slot = Arc::clone(&self.state);
        self.check(py)?;
        Job::new(None).cancel(Arc::clone(&self.cancel)).run(py, move |_| {
            let state = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(OpenFile { file, tables, trees, .. }) = state else { return Err(closed()) };
            for table in tables {
                table.finish()?;
            }
            for tree in trees {
                tree.rows.end()?;
            }
            file.finish()?;
            Ok(())
        })
    }

    /// Removes the unfinished file. In a fork nothing happens.
    fn abort(&self, py: Python<'_>) {
        if !self.process.is_this() {
            return;
        }
        py.detach(|| {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(OpenFile { tables, trees, .. }) = &state else { return };
            // Fill contexts that stay must not keep the file.
            tables.iter().for_each(|table| table.rows.give_up());
            trees.iter().for_each(|tree| tree.rows.give_up());
        });
    }
}

impl Writer {
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let check = self.process.check("a file that is being written");
        check.map_err(|error| errors::to_python(py, &error))
    }

    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&mut OpenFile) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.check(py)?;
        let slot = Arc::clone(&self.state);
        Job::new(None).cancel(Arc::clone(&self.cancel)).run(py, move |_| {
            let mut state = slot.lock().unwrap_or_else(PoisonError::into_inner);
            state.as_mut().ok_or_else(closed).and_then(job)
        })
    }
}

type Columns<'py> = [PyRef<'py, Array>];

fn fields(columns: &Columns<'_>) -> Vec<FieldRef> {
    columns.iter().map(|column| column.field()).collect()
}

fn arrays(columns: &Columns<'_>) -> Vec<ArrayRef> {
    columns.iter().map(|column| column.array()).collect()
}

fn given(columns: &Columns<'_>) -> Vec<Given> {
    columns.iter().map(|column| (column.field().name().clone(), column.array())).collect()
}

/// Returns a column as it is written under a name.
fn given_column(name: &str, array: ArrayRef) -> Array {
    let field = Field::new(name, array.data_type().clone(), true);
    Array::new(array, Arc::new(field))
}

fn closed() -> Error {
    Error::invalid_argument("the file is closed")
}
