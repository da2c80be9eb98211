//! Makes the layout of a column from its type: its [`Form`], as JSON, and the keys of its buffers.
//!
//! The entries do not matter: there is an option wherever values may be missing. So one [`ColumnForm`] serves all
//! steps of an iteration.

use std::sync::{Arc, Mutex};

use arrow_schema::{DataType, Field, FieldRef, TimeUnit, UnionFields};
use nyssa_root::arrow::{Date, STRING, VECTORS, is_string, time_of};
use nyssa_root::{Error, Result};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use rayon::prelude::*;

use crate::form::{Class, Form};

/// The layout of the columns of one type.
pub struct ColumnForm {
    form: Form,
    json: String,
    /// The keys of the buffers, in the order of the nodes.
    keys: Vec<String>,
    /// The strings that Python sees. They are made once, so that Python hashes them once.
    shown: PyOnceLock<Shown>,
}

struct Shown {
    json: Py<PyString>,
    keys: Vec<Py<PyString>>,
}

impl ColumnForm {
    /// Returns the form of the columns of `field`.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that nyssa does not read.
    pub fn new(field: &Field) -> Result<Self> {
        let mut form = form(field)?;
        if let Some(class) = field.metadata().get(VECTORS) {
            form.name_vectors(class);
        }
        let (json, keys) = form.written(false);
        Ok(Self { form, json, keys, shown: PyOnceLock::new() })
    }

    /// Returns the Form as JSON.
    pub fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.shown(py).json.bind(py).clone()
    }

    /// Returns the type of the values as awkward writes it.
    pub fn datashape(&self) -> String {
        self.form.datashape()
    }

    /// Returns the Form as JSON, with the C++ types.
    pub fn typed_json(&self) -> String {
        self.form.written(true).0
    }

    /// Returns the keys of the buffers, in the order of the nodes.
    pub fn keys(&self, py: Python<'_>) -> &[Py<PyString>] {
        &self.shown(py).keys
    }

    fn shown(&self, py: Python<'_>) -> &Shown {
        self.shown.get_or_init(py, || {
            let text = |text: &String| PyString::new(py, text).unbind();
            Shown { json: text(&self.json), keys: self.keys.iter().map(text).collect() }
        })
    }
}

/// The Forms of the columns that were read last.
#[derive(Default)]
pub(crate) struct Forms(Mutex<Known>);

type Known = Vec<(FieldRef, Arc<ColumnForm>)>;

impl Forms {
    /// Returns the Forms of columns. Makes them, on all threads of the pool, if the columns are not the columns of
    /// the last call.
    ///
    /// # Errors
    /// Fails as [`ColumnForm::new`] does.
    pub(crate) fn of(&self, fields: &[FieldRef]) -> Result<Vec<Arc<ColumnForm>>> {
        let form = |field: &FieldRef| Ok(Arc::new(ColumnForm::new(field)?));
        // In a forked process, the lock may belong to a thread that exists only in the parent.
        let Ok(mut known) = self.0.try_lock() else { return fields.iter().map(form).collect() };
        if !known.iter().map(|(field, _)| field).eq(fields) {
            let made = fields.par_iter().map(|field| Ok((Arc::clone(field), form(field)?)));
            *known = made.collect::<Result<_>>()?;
        }
        Ok(known.iter().map(|(_, form)| Arc::clone(form)).collect())
    }
}

/// Returns the Form of the values of a field, of which some may be missing.
fn form(field: &Field) -> Result<Form> {
    let value = value(field)?;
    Ok(if may_be_missing(field) { Class::ByteMasked(Box::new(value)).into() } else { value })
}

/// Returns the Form of the values of a field of which none is missing.
fn value(field: &Field) -> Result<Form> {
    let time = time_of(field).and_then(|time| numpy_time(&time));
    let class = match field.data_type() {
        _ if Date::is_in(field) => Class::Numpy("datetime64[s]"),
        _ if time.is_some() => Class::Numpy(time.unwrap_or_default()),
        DataType::Boolean => Class::Numpy("bool"),
        DataType::LargeBinary => Class::Text { text: is_string(field) },
        DataType::LargeUtf8 => Class::Text { text: true },
        DataType::LargeList(item) => Class::List(Box::new(form(item)?)),
        DataType::FixedSizeList(item, size) => {
            let size = u64::try_from(*size).map_err(|_| unsupported(field))?;
            Class::Regular { size, content: Box::new(form(item)?) }
        }
        DataType::Struct(fields) => {
            let contents = fields.iter().map(|field| form(field)).collect::<Result<_>>()?;
            let fields = fields.iter().map(|field| field.name().clone()).collect();
            Class::Record { fields, contents }
        }
        DataType::Union(fields, _) => union(fields)?,
        DataType::Null => Class::IndexedOption(Box::new(Class::Empty.into())),
        data_type => Class::Numpy(primitive(data_type).ok_or_else(|| unsupported(field))?),
    };
    let typename = field.metadata().get(STRING.0).filter(|&name| name != STRING.1).cloned();
    Ok(Form { class, typename })
}

/// Returns NumPy's name of a type of times that NumPy has in the same width. It has no time zones: times are in UTC.
fn numpy_time(time: &DataType) -> Option<&'static str> {
    Some(match time {
        DataType::Timestamp(TimeUnit::Second, _) => "datetime64[s]",
        DataType::Timestamp(TimeUnit::Millisecond, _) | DataType::Date64 => "datetime64[ms]",
        DataType::Timestamp(TimeUnit::Microsecond, _) => "datetime64[us]",
        DataType::Timestamp(TimeUnit::Nanosecond, _) => "datetime64[ns]",
        DataType::Duration(TimeUnit::Second) => "timedelta64[s]",
        DataType::Duration(TimeUnit::Millisecond) => "timedelta64[ms]",
        DataType::Duration(TimeUnit::Microsecond) => "timedelta64[us]",
        DataType::Duration(TimeUnit::Nanosecond) => "timedelta64[ns]",
        _ => return None,
    })
}

/// Returns the class of a union. A value of none of the alternatives is a missing value of the first one.
fn union(fields: &UnionFields) -> Result<Class> {
    let mut alternatives = Alternatives::default();
    alternatives.add(fields)?;
    let Alternatives { fields, or_none } = alternatives;
    if let [field] = fields[..] {
        return indexed(field);
    }
    if fields.is_empty() {
        return Err(Error::unsupported("a union has no alternatives"));
    }
    let options = or_none || fields.iter().any(|field| may_be_missing(field));
    let mut contents = Vec::with_capacity(fields.len());
    for (number, field) in fields.into_iter().enumerate() {
        let mut content = if or_none && number == 0 {
            indexed(field)?.into()
        } else if options && !may_be_missing(field) {
            Class::Unmasked(Box::new(value(field)?)).into()
        } else {
            form(field)?
        };
        content.name(field.name());
        contents.push(content);
    }
    Ok(Class::Union(contents))
}

fn indexed(field: &Field) -> Result<Class> {
    let mut value = value(field)?;
    value.name(field.name());
    Ok(Class::IndexedOption(Box::new(value)))
}

/// The alternatives of a union, with the alternatives of the unions in it.
#[derive(Default)]
struct Alternatives<'a> {
    fields: Vec<&'a FieldRef>,
    /// Whether a value may be of none of them.
    or_none: bool,
}

impl<'a> Alternatives<'a> {
    fn add(&mut self, fields: &'a UnionFields) -> Result<()> {
        for (number, (id, field)) in fields.iter().enumerate() {
            if usize::try_from(id) != Ok(number) {
                return Err(unsupported(field));
            }
            match field.data_type() {
                DataType::Null => self.or_none = true,
                DataType::Union(fields, _) => self.add(fields)?,
                _ => self.fields.push(field),
            }
        }
        Ok(())
    }
}

impl Form {
    /// Adds the C++ type of an alternative to the name, unless it is there already.
    fn name(&mut self, name: &str) {
        let mut form = self;
        while let Class::ByteMasked(inner) | Class::IndexedOption(inner) | Class::Unmasked(inner) =
            &mut form.class
        {
            form = inner;
        }
        form.typename.get_or_insert_with(|| name.to_owned());
    }
}

/// Returns whether values of a field may be missing, unless its class shows that itself.
pub(crate) fn may_be_missing(field: &Field) -> bool {
    field.is_nullable() && !matches!(field.data_type(), DataType::Union(..) | DataType::Null)
}

/// Returns the error of an Arrow type that nyssa does not read.
pub(crate) fn unsupported(field: &Field) -> Error {
    Error::unsupported(format!(
        "{} has the Arrow type {}",
        field.name(),
        nyssa_root::arrow::brief(field.data_type())
    ))
}

/// Returns awkward's name of a type of numbers.
pub(crate) fn primitive(data_type: &DataType) -> Option<&'static str> {
    PRIMITIVES.iter().find(|(_, item)| item == data_type).map(|(name, _)| *name)
}

/// The types of numbers that cross the bridge as they are.
pub(crate) const PRIMITIVES: [(&str, DataType); 11] = [
    ("int8", DataType::Int8),
    ("uint8", DataType::UInt8),
    ("int16", DataType::Int16),
    ("uint16", DataType::UInt16),
    ("int32", DataType::Int32),
    ("uint32", DataType::UInt32),
    ("int64", DataType::Int64),
    ("uint64", DataType::UInt64),
    ("float16", DataType::Float16),
    ("float32", DataType::Float32),
    ("float64", DataType::Float64),
];
