//! Defines the Arrow types of nyssa's data.
//!
//! | data | Arrow type |
//! |---|---|
//! | bool | `Boolean` |
//! | integers, floats | the same width; `Real16` reads as `Float32` |
//! | `std::string`, C strings | `LargeBinary` whose field carries the metadata [`STRING`] (bytes are not promised to be UTF-8); [`export`] checks and casts to `LargeUtf8` for Arrow consumers |
//! | `TDatime` | `UInt32` whose field is [`Date::field`]; [`export`] makes it `Timestamp(Second)` for Arrow consumers, null where it is no date |
//! | dates and times of tables | integers whose field is [`time_field`]; [`export`] gives them their type again |
//! | collections | `LargeList`, 64-bit offsets starting at 0; fields of one collection share the offsets buffer |
//! | fixed arrays | `FixedSizeList`, nested for several dimensions |
//! | records | `Struct` |
//! | cardinality | `UInt32` / `UInt64` |
//! | `std::optional`, `std::unique_ptr` | the type of the value, nullable; `LargeList` of 0 or 1 items around types without nulls and types that may be null themselves |
//! | `std::variant` | dense `Union`: type id 0 is the child [`NONE`], type id n the n-th alternative, named as its subfield |
//! | objects serialised by ROOT's streamer | `LargeBinary` whose field carries the metadata [`STREAMER`] |
//!
//! An optional variant is a list of 0 or 1 unions: [`NONE`] is a variant without a value, which differs from an
//! absent variant. Nothing else is nullable, except that unions are marked nullable because of [`NONE`]. List items
//! are named `item`.

use std::sync::Arc;

use arrow_schema::{DataType, Field};

mod bits;
mod brief;
mod children;
mod cut;
mod date;
mod export;
pub mod gather;
mod import;
pub mod lists;
mod number;
mod time;

pub use bits::{SPREAD, bytes_of_bits};
pub use brief::{brief, shortened};
pub use children::{children, with_children};
pub use cut::{Cutter, memory};
pub use date::{Date, date_seconds};
pub use export::{export, export_batch, export_field, export_schema, is_string};
pub use import::{normal_field, normalise};
pub use number::Number;
pub use number::{
    Native, each_number, numbers_enum, numbers_of, with_integer, with_integer_type, with_number,
};
pub use time::{TIME, time_field, time_of};

/// The metadata (key, value) of a field that marks a `LargeBinary` as a string. The value may be the C++ type
/// instead: see [`typed_field`].
pub const STRING: (&str, &str) = ("nyssa:type", "string");

/// Makes a non-nullable Arrow field. `LargeBinary` is marked as a [`STRING`].
pub fn field(name: &str, data_type: DataType) -> Field {
    let string = data_type == DataType::LargeBinary;
    let field = Field::new(name, data_type, false);
    if string { field.with_metadata([(STRING.0.to_owned(), STRING.1.to_owned())]) } else { field }
}

/// The key of field metadata that marks a `LargeBinary` as bytes of objects that ROOT's streamer wrote. The
/// value is the class name.
pub const STREAMER: &str = "nyssa:streamer";

/// The key of field metadata with the class of the vectors of ROOT in a column of a TTree, such as `TLorentzVector`. Fields
/// of RNTuples have their C++ type instead.
pub const VECTORS: &str = "nyssa:vectors";

/// The name of the first child of the unions of variants. It has the type `Null` and stands for variants
/// without a value.
pub const NONE: &str = "none";

/// Adds metadata to `field` with its C++ type, such as `std::set<float>` or the name of a class.
pub fn typed_field(mut field: Field, type_name: &str) -> Field {
    field.metadata_mut().insert(STRING.0.to_owned(), type_name.to_owned());
    field
}

/// The C++ type in the metadata of numbers that stand for pointers to other objects.
const LINK: &str = "nyssa:link";

/// Makes the field of numbers of objects, which count from 1. The number of a null pointer is 0.
pub fn link_field(name: &str) -> Field {
    typed_field(Field::new(name, DataType::UInt32, false), LINK)
}

/// Returns whether the numbers of a field are numbers of objects.
pub fn is_link(field: &Field) -> bool {
    field.metadata().get(STRING.0).is_some_and(|name| name == LINK)
}

/// Makes a field of objects of `class` that are stored as bytes.
pub fn streamer_field(name: &str, class: &str) -> Field {
    Field::new(name, DataType::LargeBinary, false)
        .with_metadata([(STREAMER.to_owned(), class.to_owned())])
}

/// Returns the type of fixed arrays of `element` with `dimensions` (outermost first), in a `LargeList` if
/// `jagged`.
pub fn nested(element: DataType, dimensions: &[u64], jagged: bool) -> DataType {
    let item = |data_type| Arc::new(field("item", data_type));
    let inner = dimensions.iter().rev().fold(element, |inner, &size| {
        DataType::FixedSizeList(item(inner), i32::try_from(size).unwrap_or(i32::MAX))
    });
    if jagged { DataType::LargeList(item(inner)) } else { inner }
}
