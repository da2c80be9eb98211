//! Reading returns an [`Array`], which is one column, or a [`Table`], which has several columns of one length.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchIterator, new_empty_array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use nyssa_rntuple::schema::FieldType;
use nyssa_root::arrow::{export_batch, export_field, export_schema};
use nyssa_root::{Error, Kind};
use nyssa_ttree::write::column_of;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyString};

use crate::capsule;
use crate::column_form::ColumnForm;
use crate::errors;
use crate::from_arrow;
use crate::from_buffers::from_buffers;
use crate::layout::Layout;

/// One column in memory.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Array {
    data: Mutex<Data>,
    field: Arc<Field>,
}

/// The values of a column.
struct Data {
    array: ArrayRef,
    /// The Form and the buffers as soon as somebody has requested them.
    layout: Option<Layout>,
}

impl Array {
    /// Shows `array` of `field` to Python.
    pub fn new(array: ArrayRef, field: Arc<Field>) -> Self {
        Self { data: Mutex::new(Data { array, layout: None }), field }
    }

    /// Shows `array` of `field` to Python. Its buffers are made now, for the Form `form`.
    ///
    /// # Errors
    /// Fails as [`Layout::new`] does.
    pub fn with_form(
        array: ArrayRef,
        field: Arc<Field>,
        form: Arc<ColumnForm>,
    ) -> nyssa_root::Result<Self> {
        let layout = Some(Layout::new(&array, &field, form)?);
        Ok(Self { data: Mutex::new(Data { array, layout }), field })
    }

    /// Returns the Form and the buffers. Makes them on this thread if they are not there yet.
    ///
    /// # Errors
    /// Fails as [`ColumnForm::new`] and [`Layout::new`] do.
    pub fn layout(&self) -> nyssa_root::Result<Layout> {
        let mut data = self.data();
        if let Some(layout) = &data.layout {
            return Ok(layout.clone());
        }
        let form = Arc::new(ColumnForm::new(&self.field)?);
        let layout = Layout::new(&data.array, &self.field, form)?;
        data.layout = Some(layout.clone());
        Ok(layout)
    }

    /// Returns the data.
    pub fn array(&self) -> ArrayRef {
        Arc::clone(&self.data().array)
    }

    /// Locks the data. Python never runs meanwhile.
    fn data(&self) -> MutexGuard<'_, Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name and the type.
    pub fn field(&self) -> Arc<Field> {
        Arc::clone(&self.field)
    }
}

#[pymethods]
impl Array {
    /// Makes a column of `length` entries from an awkward Form (a dict) and its buffers by key. The buffers are
    /// copied. See the module `form`.
    #[staticmethod]
    fn from_buffers(
        name: &str,
        form: &Bound<'_, PyDict>,
        length: usize,
        buffers: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let (array, field) = from_buffers(name, form, length, buffers)?;
        Ok(Self::new(array, Arc::new(field)))
    }

    /// Takes the column from what `__arrow_c_array__` returns.
    #[staticmethod]
    fn from_arrow_array(
        name: &str,
        schema: &Bound<'_, PyCapsule>,
        array: &Bound<'_, PyCapsule>,
    ) -> PyResult<Self> {
        let (array, field) = from_arrow::from_array_capsules(schema, array)?;
        Ok(Self::new(array, Arc::new(field.with_name(name))))
    }

    /// Takes the column from what `__arrow_c_stream__` returns. Joins its batches.
    #[staticmethod]
    fn from_arrow_stream(name: &str, stream: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let (arrays, field) = from_arrow::from_stream_capsule(stream)?;
        let array = from_arrow::concatenate(&arrays, field.data_type())?;
        Ok(Self::new(array, Arc::new(field.with_name(name))))
    }

    /// Makes a column without rows that has a C++ type. The type may use `classes`; see `crate::classes`. With `in_tree`,
    /// it is a column of a TTree, whose classes may have pointers.
    #[staticmethod]
    #[pyo3(signature = (name, type_name, classes, in_tree=false))]
    fn of_type(
        name: &str,
        type_name: &str,
        classes: &Bound<'_, PyDict>,
        in_tree: bool,
    ) -> PyResult<Self> {
        let py = classes.py();
        let classes = crate::classes::classes(classes)?;
        // The pointer is the address that ROOT's `TTree::Branch` takes. The branch has the class.
        let pointee = type_name.trim_end().strip_suffix('*').filter(|_| in_tree);
        let type_name = pointee.unwrap_or(type_name);
        let of_class = match in_tree {
            true => column_of(name, type_name, &classes),
            false => Ok(None),
        };
        let field = of_class.and_then(|of_class| match of_class {
            Some(field) => Ok(field),
            None => FieldType::parse(type_name, &classes).and_then(|of| of.to_arrow(name)),
        });
        let field = field.map_err(|error| {
            errors::to_python(py, &error.at(|place| place.field = Some(name.to_owned())))
        })?;
        Ok(Self::new(new_empty_array(field.data_type()), Arc::new(field)))
    }

    /// Returns the columns of a record. Fails for all other types.
    fn columns(&self) -> PyResult<Vec<Self>> {
        let array = self.array();
        let (DataType::Struct(fields), Some(record)) =
            (self.field.data_type(), array.as_struct_opt())
        else {
            return Err(capsule::invalid("the Arrow data are not a table of named columns"));
        };
        if record.null_count() > 0 {
            return Err(capsule::invalid("the Arrow data have missing rows: drop them first"));
        }
        let pairs = fields.iter().zip(record.columns());
        Ok(pairs.map(|(field, array)| Self::new(Arc::clone(array), Arc::clone(field))).collect())
    }

    /// Returns the name of the column.
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// Returns the Arrow type as text.
    #[getter]
    fn r#type(&self) -> String {
        self.field.data_type().to_string()
    }

    fn __len__(&self) -> usize {
        self.array().len()
    }

    /// Returns the awkward Form as JSON, which depends on the type only; see the module `form`. With `typed` it
    /// tells the C++ types of records.
    #[pyo3(signature = (typed=false))]
    fn form<'py>(&self, py: Python<'py>, typed: bool) -> PyResult<Bound<'py, PyString>> {
        let layout = self.layout().map_err(|error| errors::to_python(py, &error))?;
        let form = layout.form();
        Ok(if typed { PyString::new(py, &form.typed_json()) } else { form.json(py) })
    }

    /// Returns the buffers by key, as `awkward.from_buffers` takes them beside the Form. They are not copied.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.layout().map_err(|error| errors::to_python(py, &error))?.buffers(py)
    }

    /// Returns the buffers as [`Array::buffers`] does, and leaves a column without entries. What nobody else
    /// holds can be written to.
    fn take_buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let layout = self.layout().map_err(|error| errors::to_python(py, &error))?;
        let array = new_empty_array(self.field.data_type());
        let taken = std::mem::replace(&mut *self.data(), Data { array, layout: None });
        drop(taken);
        layout.into_buffers(py)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface lets a producer ignore the requested type.
        let _ = requested_schema;
        let array =
            export(&self.array(), &self.field).map_err(|error| errors::to_python(py, &error))?;
        capsule::array(py, &array, &export_field(&self.field))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::field(py, &export_field(&self.field))
    }
}

/// Shows columns of one length as an Arrow table of one batch.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Table {
    arrays: Vec<ArrayRef>,
    schema: Schema,
    rows: usize,
}

#[pymethods]
impl Table {
    /// Makes a table of `arrays`, which all have `rows` rows.
    #[new]
    fn new(arrays: Vec<PyRef<'_, Array>>, rows: usize) -> Self {
        let fields: Vec<_> = arrays.iter().map(|array| Arc::clone(&array.field)).collect();
        let arrays = arrays.iter().map(|array| array.array()).collect();
        Self { arrays, schema: Schema::new(fields), rows }
    }

    /// Returns the number of bytes in memory. Memory that several columns share counts once.
    #[getter]
    fn nbytes(&self) -> u64 {
        nyssa_root::arrow::memory(&self.arrays)
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &export_schema(&self.schema))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let schema = Arc::new(export_schema(&self.schema));
        let batch = batch(&self.schema, &self.arrays, self.rows, &schema)
            .map_err(|error| errors::to_python(py, &error))?;
        let reader = RecordBatchIterator::new([Ok::<_, ArrowError>(batch)], schema);
        capsule::stream(py, Box::new(reader))
    }
}

/// Returns `array` of `field` as other Arrow libraries take it.
fn export(array: &ArrayRef, field: &Field) -> nyssa_root::Result<ArrayRef> {
    nyssa_root::arrow::export(array, field).map_err(advised)
}

/// Adds to the error of an export what helps in Python.
fn advised(error: Error) -> Error {
    let field = error.place().field.clone();
    match (error.kind(), field) {
        (Kind::InvalidArgument, Some(field)) => Error::invalid_argument(format!(
            "{} has {}; read it with library=\"np\" or \"ak\"",
            field,
            error.message()
        )),
        _ => error,
    }
}

/// Returns a batch of the `exported` form of `schema`.
pub(crate) fn batch(
    schema: &Schema,
    arrays: &[ArrayRef],
    rows: usize,
    exported: &SchemaRef,
) -> nyssa_root::Result<RecordBatch> {
    export_batch(schema, arrays, rows, exported).map_err(advised)
}
