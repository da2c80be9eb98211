//! What the entries of a field look like, as a small tree of tuples: Python objects are made into
//! arrays by it.
//!
//! | tuple | entries |
//! |---|---|
//! | `("number", dtype)` | numbers that fit NumPy's `dtype`, such as `"<f4"` |
//! | `("string",)`, `("bytes",)` | text, and the bytes of streamed objects |
//! | `("list", item)`, `("fixed", size, item)` | lists of any length, or of one |
//! | `("optional", value)` | a value or none |
//! | `("record", names, members, by_place)` | members by name; of pairs and tuples by place |
//! | `("variant", alternatives)` | a value of one of them, or none |

use nyssa::rntuple::encoding::{ColumnType, Native};
use nyssa::rntuple::schema::{Field, FieldId, Schema, Structure};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The tree before it is shown to Python.
pub enum Shape {
    Number(&'static str),
    Text(&'static str),
    List(Box<Shape>),
    Fixed(u64, Box<Shape>),
    Optional(Box<Shape>),
    Record { names: Vec<String>, members: Vec<Shape>, by_place: bool },
    Variant(Vec<Shape>),
}

/// A field that rows may have: its name and shape, which is not there where a part is of no type that is
/// known, and whether it is projected.
pub type Row = (String, Option<Shape>, bool);

/// The fields that rows may have: the top-level ones.
pub fn shapes(schema: &Schema) -> Vec<Row> {
    let row = |(id, field): (FieldId, &Field)| {
        (field.name.clone(), Shape::of(schema, id), field.source.is_some())
    };
    schema.top_level().map(row).collect()
}

impl Shape {
    fn of(schema: &Schema, id: FieldId) -> Option<Self> {
        let field = schema.field(id);
        let child = |id: FieldId| Self::of(schema, id).map(Box::new);
        let all = || field.children.iter().map(|&id| Self::of(schema, id)).collect::<Option<_>>();
        let starts = |prefix: &str| field.type_name.starts_with(prefix);
        Some(match (field.structure, &field.children[..]) {
            (Structure::Collection, &[item])
                if starts("std::optional<") || starts("std::unique_ptr<") =>
            {
                Self::Optional(child(item)?)
            }
            (Structure::Collection, &[item]) => Self::List(child(item)?),
            (Structure::Variant, _) => Self::Variant(all()?),
            (Structure::Record, children) => Self::Record {
                names: children.iter().map(|&id| schema.field(id).name.clone()).collect(),
                members: all()?,
                by_place: starts("std::pair<") || starts("std::tuple<"),
            },
            (Structure::Leaf, &[item]) => match field.array_size {
                Some(size) => Self::Fixed(size, child(item)?),
                None => *child(item)?,
            },
            (Structure::Leaf, []) if starts("std::string") => Self::Text("string"),
            (Structure::Leaf, []) if starts("ROOT::RNTupleCardinality<") => Self::Number("<u8"),
            (Structure::Leaf, []) => {
                let number = Self::Number(number(schema, field)?);
                match field.array_size {
                    Some(size) => Self::Fixed(size, Box::new(number)),
                    None => number,
                }
            }
            (Structure::Streamer, _) => Self::Text("bytes"),
            _ => return None,
        })
    }

    fn into_tuple(self, py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        let all = |shapes: Vec<Self>| {
            let tuples = shapes.into_iter().map(|one| one.into_tuple(py));
            PyTuple::new(py, tuples.collect::<PyResult<Vec<_>>>()?)
        };
        match self {
            Self::Number(dtype) => ("number", dtype).into_pyobject(py),
            Self::Text(kind) => (kind,).into_pyobject(py),
            Self::List(item) => ("list", item.into_tuple(py)?).into_pyobject(py),
            Self::Fixed(size, item) => ("fixed", size, item.into_tuple(py)?).into_pyobject(py),
            Self::Optional(value) => ("optional", value.into_tuple(py)?).into_pyobject(py),
            Self::Record { names, members, by_place } => {
                ("record", PyTuple::new(py, names)?, all(members)?, by_place).into_pyobject(py)
            }
            Self::Variant(alternatives) => ("variant", all(alternatives)?).into_pyobject(py),
        }
    }
}

impl<'py> IntoPyObject<'py> for Shape {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.into_tuple(py)?.into_bound_py_any(py)
    }
}

/// NumPy's type for the numbers of a field; of a type that is not fundamental, what its column holds.
fn number(schema: &Schema, field: &Field) -> Option<&'static str> {
    Some(match field.type_name.as_str() {
        "bool" => "|b1",
        "char" | "std::int8_t" => "|i1",
        "std::byte" | "std::uint8_t" => "|u1",
        "std::int16_t" => "<i2",
        "std::uint16_t" => "<u2",
        "std::int32_t" => "<i4",
        "std::uint32_t" => "<u4",
        "std::int64_t" => "<i8",
        "std::uint64_t" => "<u8",
        "float" => "<f4",
        "double" => "<f8",
        _ => {
            let &column = field.columns.first()?;
            match schema.column(column).column_type? {
                ColumnType::Bit => "|b1",
                other if other.name().contains("Real") => "<f8",
                other => match (other.native(), other.name().contains("UInt")) {
                    (Native::Bytes(1), false) => "|i1",
                    (Native::Bytes(1), true) => "|u1",
                    (Native::Bytes(2), false) => "<i2",
                    (Native::Bytes(2), true) => "<u2",
                    (Native::Bytes(4), false) => "<i4",
                    (Native::Bytes(4), true) => "<u4",
                    (Native::Bytes(8), false) => "<i8",
                    (Native::Bytes(8), true) => "<u8",
                    _ => return None,
                },
            }
        }
    })
}
