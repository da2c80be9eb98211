//! Chooses the C++ types of fields from the types as which branches read, in the way of ROOT's importer.

use arrow_schema::{DataType, Field};
use nyssa_rntuple::schema::{FieldNames, FieldType, Leaf};
use nyssa_root::arrow::Number;

use super::classes::Classes;
use crate::convert::options::Layout;

/// Returns the field type of an Arrow type, or the reason why it has none.
fn of_type(data_type: &DataType, layout: Layout) -> Result<FieldType, String> {
    if let Some(number) = Number::of_data_type(data_type) {
        // ROOT's importer makes `char` from a `TLeafB`, which some readers show as unsigned.
        let char = number == Number::Int8 && layout == Layout::Importer;
        return Ok(FieldType::Leaf(if char { Leaf::Char } else { number.into() }));
    }
    match data_type {
        DataType::LargeBinary => Ok(FieldType::String),
        DataType::LargeList(item) => Ok(FieldType::vector(field_type(item, layout)?)),
        DataType::FixedSizeList(item, size) => {
            let size = u64::try_from(*size).unwrap_or(0);
            if size == 0 {
                return Err("an array of zero elements has no RNTuple type".to_owned());
            }
            let of = field_type(item, layout)?;
            if matches!(of, FieldType::Record(_)) {
                return Err(
                    "fixed arrays of records without a class have no RNTuple type".to_owned()
                );
            }
            Ok(FieldType::array(of, size))
        }
        DataType::Struct(fields) => {
            let mut names = FieldNames::reserving(fields.iter().map(|field| field.name().as_str()));
            let member = |field: &arrow_schema::FieldRef| {
                Ok((names.give(field.name()), field_type(field, layout)?))
            };
            Ok(FieldType::Record(fields.iter().map(member).collect::<Result<_, String>>()?))
        }
        DataType::Union(..) => {
            Err("pointers to objects of several classes have no RNTuple type".to_owned())
        }
        other => Err(format!("{other} has no RNTuple type")),
    }
}

/// Returns the field type of an Arrow field as which a branch reads, or the reason why it has none. A nullable Arrow
/// field becomes an optional field.
pub(super) fn field_type(field: &Field, layout: Layout) -> Result<FieldType, String> {
    if field.metadata().contains_key(nyssa_root::arrow::STREAMER) {
        return Err(
            "it has objects that are kept as bytes, which are of no RNTuple type".to_owned()
        );
    }
    let of = of_type(field.data_type(), layout)?;
    if field.is_nullable() && matches!(of, FieldType::Record(_)) {
        return Err("pointers to objects that are of no class in RNTuple have no type".to_owned());
    }
    Ok(if field.is_nullable() { FieldType::optional(of) } else { of })
}

/// Returns the field type for the objects of a class, container or string that are read as `field`, or the reason why
/// they can only be streamed.
pub(crate) fn type_of_objects(
    classes: &Classes<'_>,
    class: &str,
    field: &Field,
) -> Result<FieldType, String> {
    let of_objects = classes.of_objects(class, field.data_type());
    of_objects.map_or_else(|| field_type(field, Layout::default()), Ok)
}

/// Returns whether the type has more fixed dimensions than ROOT's importer supports.
pub(super) fn keeps_dimensions(data_type: &DataType, outermost: bool) -> bool {
    match data_type {
        DataType::LargeList(item) => keeps_dimensions(item.data_type(), false),
        DataType::FixedSizeList(item, _) => {
            !outermost || matches!(item.data_type(), DataType::FixedSizeList(..))
        }
        DataType::Struct(fields) => {
            fields.iter().any(|field| keeps_dimensions(field.data_type(), true))
        }
        _ => false,
    }
}
