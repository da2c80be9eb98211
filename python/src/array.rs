//! What reading returns: [`Array`], one column; [`Table`], several of one length.

use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::{
    Array as _, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions, new_empty_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use nyssa::arrow::export_field;
use nyssa::rntuple::schema::FieldType;
use nyssa::{Error, Kind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::capsule;
use crate::errors;
use crate::import;
use crate::layout::Tree;

/// One column in memory.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Array {
    array: ArrayRef,
    field: Arc<Field>,
    /// What `layout` makes, by whether options are declared.
    trees: [OnceLock<Tree>; 2],
}

impl Array {
    /// Shows `array` of `field` to Python.
    pub fn new(array: ArrayRef, field: Arc<Field>) -> Self {
        Self { array, field, trees: [OnceLock::new(), OnceLock::new()] }
    }

    /// Makes the tree of [`Array::layout`] now, on this thread.
    ///
    /// # Errors
    /// As [`Tree::new`].
    pub fn prepare(&self, declared: bool) -> nyssa::Result<&Tree> {
        let known = &self.trees[usize::from(declared)];
        if let Some(tree) = known.get() {
            return Ok(tree);
        }
        let tree = Tree::new(&self.array, &self.field, declared)?;
        Ok(known.get_or_init(|| tree))
    }

    /// The data.
    pub fn array(&self) -> ArrayRef {
        Arc::clone(&self.array)
    }

    /// Name and type.
    pub fn field(&self) -> Arc<Field> {
        Arc::clone(&self.field)
    }
}

#[pymethods]
impl Array {
    /// A column of a tree of tuples and buffers, which are copied.
    #[staticmethod]
    fn from_layout(name: &str, tree: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let (array, field) = import::from_layout(name, tree)?;
        Ok(Self::new(array, Arc::new(field)))
    }

    /// The column in what `__arrow_c_array__` returns.
    #[staticmethod]
    fn from_arrow_array(
        name: &str,
        schema: &Bound<'_, PyCapsule>,
        array: &Bound<'_, PyCapsule>,
    ) -> PyResult<Self> {
        let (array, field) = import::from_array_capsules(schema, array)?;
        Ok(Self::new(array, Arc::new(field.with_name(name))))
    }

    /// The column in what `__arrow_c_stream__` returns, its pieces joined.
    #[staticmethod]
    fn from_arrow_stream(name: &str, stream: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let (arrays, field) = import::from_stream_capsule(stream)?;
        let array = import::concatenate(&arrays, field.data_type())?;
        let field = import::observed(&field, &array);
        Ok(Self::new(array, Arc::new(field.with_name(name))))
    }

    /// A column without rows of a C++ type, which may be made of `classes`; see `crate::classes`.
    #[staticmethod]
    fn of_type(name: &str, type_name: &str, classes: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = classes.py();
        let classes = crate::classes::classes(classes)?;
        let field = FieldType::parse(type_name, &classes).and_then(|of| of.to_arrow(name));
        let field = field.map_err(|error| {
            errors::to_python(py, &error.at(|place| place.field = Some(name.to_owned())))
        })?;
        Ok(Self::new(new_empty_array(field.data_type()), Arc::new(field)))
    }

    /// The columns of a record; an error for anything else.
    fn columns(&self) -> PyResult<Vec<Self>> {
        let (DataType::Struct(fields), Some(record)) =
            (self.field.data_type(), self.array.as_struct_opt())
        else {
            return Err(PyTypeError::new_err("the Arrow data are not a table of named columns"));
        };
        let pairs = fields.iter().zip(record.columns());
        Ok(pairs.map(|(field, array)| Self::new(Arc::clone(array), Arc::clone(field))).collect())
    }

    /// Name of the column.
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// Arrow type, as text.
    #[getter]
    fn r#type(&self) -> String {
        self.array.data_type().to_string()
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The array as a tree of tuples and buffers; see the module `layout`. With `declared` options are
    /// where the type allows nulls, not where there are some.
    #[pyo3(signature = (declared=false))]
    fn layout<'py>(&self, py: Python<'py>, declared: bool) -> PyResult<Bound<'py, PyTuple>> {
        let raise = |error: Error| errors::to_python(py, &error);
        self.prepare(declared).map_err(raise)?.to_python(py)
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
            export(&self.array, &self.field).map_err(|error| errors::to_python(py, &error))?;
        capsule::array(py, &array, &export_field(&self.field))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::field(py, &export_field(&self.field))
    }
}

/// Columns of one length, as an Arrow table of one batch.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Table {
    arrays: Vec<ArrayRef>,
    schema: Schema,
    rows: usize,
}

#[pymethods]
impl Table {
    /// A table of `arrays`, which are all `rows` long.
    #[new]
    fn new(arrays: Vec<PyRef<'_, Array>>, rows: usize) -> Self {
        let fields: Vec<_> = arrays.iter().map(|array| Arc::clone(&array.field)).collect();
        let arrays = arrays.iter().map(|array| Arc::clone(&array.array)).collect();
        Self { arrays, schema: Schema::new(fields), rows }
    }

    /// Bytes of memory; what several columns share counts once.
    #[getter]
    fn nbytes(&self) -> u64 {
        nyssa::arrow::memory(&self.arrays)
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

/// The schema other Arrow libraries see.
pub fn export_schema(schema: &Schema) -> Schema {
    Schema::new(schema.fields().iter().map(|field| export_field(field)).collect::<Vec<_>>())
}

/// `array` of `field` as other Arrow libraries take it.
fn export(array: &ArrayRef, field: &Field) -> nyssa::Result<ArrayRef> {
    nyssa::arrow::export(array, field).map_err(|error| match error.kind() {
        Kind::InvalidArgument => Error::invalid_argument(format!(
            "{} has {}; read it with library=\"np\" or \"ak\"",
            field.name(),
            error.message()
        )),
        _ => error,
    })
}

/// A batch of the `exported` form of `schema`.
pub fn batch(
    schema: &Schema,
    arrays: &[ArrayRef],
    rows: usize,
    exported: &SchemaRef,
) -> nyssa::Result<RecordBatch> {
    let columns = schema
        .fields()
        .iter()
        .zip(arrays)
        .map(|(field, array)| export(array, field))
        .collect::<nyssa::Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(exported), columns, &options).map_err(|error| {
        Error::invalid_argument("columns of one table differ in length").with_source(error)
    })
}
