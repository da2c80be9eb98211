//! The awkward [`Form`] of the entries of a field. Python makes arrays of Python objects with it.
//!
//! The parameter `typename` has the C++ types of records, and of optional values that are lists of at most one.

use nyssa_rntuple::encoding::Native;
use nyssa_rntuple::schema::{Field, FieldId, Schema, Structure};
use nyssa_root::arrow::Number;

use crate::column_form;
use crate::form::{Class, Form};

/// A field that rows may have: its name, its Form (`None` if the type of a part is not known), and
/// whether it is projected.
pub(crate) type RowField = (String, Option<Form>, bool);

/// Returns the fields that rows may have: the fields of the top level.
pub(crate) fn row_fields(schema: &Schema) -> Vec<RowField> {
    let row = |(id, field): (FieldId, &Field)| {
        (field.name.clone(), form(schema, id), field.source.is_some())
    };
    schema.top_level().map(row).collect()
}

fn form(schema: &Schema, id: FieldId) -> Option<Form> {
    let field = schema.field(id);
    let child = |id: FieldId| form(schema, id).map(Box::new);
    let all = || field.children.iter().map(|&id| form(schema, id)).collect::<Option<Vec<_>>>();
    let starts = |prefix: &str| field.type_name.starts_with(prefix);
    let typed = |class| Form { class, typename: Some(field.type_name.clone()) };
    Some(match (field.structure, &field.children[..]) {
        (Structure::Collection, &[item])
            if starts("std::optional<") || starts("std::unique_ptr<") =>
        {
            let value = child(item)?;
            match value.class {
                // A value that may be missing itself is in a list of at most one, as when it is read.
                Class::IndexedOption(_) | Class::Union(_) => typed(Class::List(value)),
                Class::List(_) if is_optional(&value) => typed(Class::List(value)),
                _ => Class::IndexedOption(value).into(),
            }
        }
        (Structure::Collection, &[item]) => Class::List(child(item)?).into(),
        (Structure::Variant, _) => Class::Union(all()?).into(),
        (Structure::Record, children) => {
            let fields = children.iter().map(|&id| schema.field(id).name.clone()).collect();
            typed(Class::Record { fields, contents: all()? })
        }
        (Structure::Leaf, &[item]) => match field.array_size {
            Some(size) => Class::Regular { size, content: child(item)? }.into(),
            None => *child(item)?,
        },
        (Structure::Leaf, []) if starts("std::string") => Class::Text { text: true }.into(),
        (Structure::Leaf, []) if starts("ROOT::RNTupleCardinality<") => {
            Class::Numpy("uint64").into()
        }
        (Structure::Leaf, []) => {
            let number = Class::Numpy(number(schema, field)?).into();
            match field.array_size {
                Some(size) => Class::Regular { size, content: Box::new(number) }.into(),
                None => number,
            }
        }
        (Structure::Streamer, _) => Class::Text { text: false }.into(),
        _ => return None,
    })
}

/// Returns whether a Form describes optional values that may be missing themselves.
fn is_optional(form: &Form) -> bool {
    form.typename.as_deref().is_some_and(|name| {
        name.starts_with("std::optional<") || name.starts_with("std::unique_ptr<")
    })
}

/// Returns awkward's name of the numbers of a field. If the type of the field is not fundamental, the type of
/// its column decides; reals are doubles then.
fn number(schema: &Schema, field: &Field) -> Option<&'static str> {
    let of_column = || {
        let column_type = schema.column(*field.columns.first()?).column_type?;
        let integer = column_type.number().filter(|number| !number.is_float());
        let is_number = !matches!(column_type.native(), Native::Index | Native::Switch);
        is_number.then(|| integer.unwrap_or(Number::Float64))
    };
    match Number::of_type_name(&field.type_name).or_else(of_column)? {
        Number::Bool => Some("bool"),
        number => column_form::primitive(&number.data_type()),
    }
}
