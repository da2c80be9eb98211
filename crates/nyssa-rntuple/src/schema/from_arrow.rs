//! Finds the RNTuple types of Arrow types, as [`crate::write::TableWriter`] writes them.
//!
//! | Arrow | C++ |
//! |---|---|
//! | `Boolean` | `bool` |
//! | integers | `std::int32_t`, … of the same width and sign |
//! | `Float16`, `Float32`, `Float64` | `float` (stored as `Real16`), `float`, `double` |
//! | `Utf8`, `LargeUtf8`, binaries marked [`nyssa_root::arrow::STRING`] | `std::string` |
//! | other `Binary`, `LargeBinary` | `std::vector<std::byte>` |
//! | `List`, `LargeList` | `std::vector<T>`; an untyped collection of records when `T` is a struct |
//! | `Map` | `std::map<K,V>` |
//! | `FixedSizeList` | `std::array<T,N>` |
//! | `FixedSizeBinary` | `std::array<std::byte,N>` |
//! | `Struct` | untyped record; also for a tuple with items that have no type name |
//! | `Union` | `std::variant<…>`; a first child of type `Null` is no alternative |
//! | `Dictionary` | its values |
//!
//! The metadata `nyssa:type` give another C++ type for these values, for example `std::set<float>` or a class `Jet`.
//! A type name that does not fit the Arrow type is ignored.

use arrow_schema::{DataType, Field as ArrowField, FieldRef, Schema as ArrowSchema};
use nyssa_root::arrow::{Date, Number, STREAMER, STRING, brief};
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::type_name::{Argument, TypeName};

use super::classes::declared;
use super::to_arrow::{CHECKSUM, VERSION};
use super::{Class, Classes, FieldId, FieldType, Leaf, Schema, SchemaBuilder, SetKind, Structure};

/// The Arrow fields that become `std::optional`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nullable {
    /// Fields whose metadata request it. Most Arrow columns are nullable without need.
    #[default]
    Named,
    /// All nullable fields, and fields whose metadata request it.
    Optional,
}

impl FieldType {
    /// Returns the type of the field that is written for an Arrow field. A nullable field is optional if its metadata
    /// request it.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that have no C++ type. The message names the type to which they can be cast.
    pub fn from_arrow(field: &ArrowField) -> Result<Self> {
        Self::from_arrow_with(field, &Classes::default(), Nullable::Named)
    }

    /// Returns the type of the field that is written for an Arrow field, with options. If the metadata name a class,
    /// it is taken from `classes`. A class that is not in `classes` gets the members of the struct.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that have no C++ type.
    pub fn from_arrow_with(
        field: &ArrowField,
        classes: &Classes,
        nullable: Nullable,
    ) -> Result<Self> {
        Converter { classes, nullable }.field(field, None).in_field(field.name())
    }
}

struct Converter<'a> {
    classes: &'a Classes,
    nullable: Nullable,
}

impl Converter<'_> {
    /// Converts a field. `outer` is its type according to the surrounding type name.
    fn field(&self, field: &ArrowField, outer: Option<&TypeName>) -> Result<FieldType> {
        let metadata = field.metadata();
        if let Some(class) = metadata.get(STREAMER)
            && matches!(field.data_type(), DataType::Binary | DataType::LargeBinary)
        {
            return Ok(FieldType::Streamed(class.clone()));
        }
        let own = metadata.get(STRING.0).filter(|&name| name != STRING.1 && !Date::is_in(field));
        let own = own.and_then(|name| TypeName::parse_with_typedefs(name).ok());
        let name = own.as_ref().or(outer);
        let inner = self.value(field, name)?;
        let wraps = matches!(inner, FieldType::Optional(_) | FieldType::UniquePtr(_));
        // RNTuple has no optional records without a class. They are written without change, and refused if one of
        // them is null.
        let can_be_optional = !wraps && !matches!(inner, FieldType::Record(_));
        if self.nullable == Nullable::Optional && field.is_nullable() && can_be_optional {
            let variant = matches!(inner, FieldType::Variant(_));
            // A null in a union means that no alternative is selected.
            return Ok(if variant { inner } else { FieldType::optional(inner) });
        }
        Ok(inner)
    }

    fn value(&self, field: &ArrowField, name: Option<&TypeName>) -> Result<FieldType> {
        let data_type = field.data_type();
        if let DataType::Dictionary(_, values) = data_type {
            let values = ArrowField::new(field.name(), (**values).clone(), false)
                .with_metadata(field.metadata().clone());
            return self.value(&values, name);
        }
        if let Some(name) = name
            && let Some(declared) = declared(self.classes, name)?
            && fits(&declared, data_type)
        {
            return Ok(declared);
        }
        let (template, arguments) = name.map(TypeName::template).unwrap_or_default();
        let argument = |index: usize| match arguments.get(index) {
            Some(Argument::Type(name)) => Some(name),
            _ => None,
        };
        let item_of = |item: &ArrowField| self.field(item, argument(0)).map(Box::new);
        let user = !template.is_empty() && is_user(&template);
        Ok(match (template.as_str(), data_type) {
            ("std::optional" | "std::unique_ptr", _) => {
                let inner = match list_item(data_type) {
                    Some(item) if argument(0).is_some_and(hides_nulls) => item_of(item)?,
                    _ => Box::new(self.value(field, argument(0))?),
                };
                match template.as_str() {
                    "std::optional" => FieldType::Optional(inner),
                    _ => FieldType::UniquePtr(inner),
                }
            }
            ("std::atomic", _) => FieldType::Atomic(Box::new(self.value(field, argument(0))?)),
            (_, DataType::Binary | DataType::LargeBinary)
                if !field.metadata().contains_key(STRING.0) || template == "std::vector" =>
            {
                FieldType::vector(FieldType::Leaf(Leaf::Byte))
            }
            (
                _,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary,
            ) => FieldType::String,
            (_, DataType::Map(entries, _)) => match self.pair(entries, name)? {
                Some(pair) => {
                    FieldType::Map(set_kind(&template, "map").unwrap_or(SetKind::Ordered), pair)
                }
                None => return Err(unsupported(data_type)),
            },
            (_, DataType::List(item) | DataType::LargeList(item)) => {
                if let Some(kind) = set_kind(&template, "map")
                    && let Some(pair) = self.pair(item, name)?
                {
                    return Ok(FieldType::Map(kind, pair));
                }
                match (template.as_str(), set_kind(&template, "set")) {
                    (_, Some(kind)) => FieldType::Set(kind, item_of(item)?),
                    ("ROOT::VecOps::RVec", _) => FieldType::RVec(item_of(item)?),
                    _ if user => {
                        let whole = name.map(ToString::to_string).unwrap_or_default();
                        FieldType::Collection(whole, Box::new(self.field(item, None)?))
                    }
                    _ => FieldType::Vector(item_of(item)?),
                }
            }
            ("std::bitset", DataType::FixedSizeList(item, size))
                if item.data_type() == &DataType::Boolean =>
            {
                FieldType::Bitset(fixed_size(*size)?)
            }
            (_, DataType::FixedSizeList(item, size)) => {
                FieldType::Array(item_of(item)?, fixed_size(*size)?)
            }
            (_, DataType::FixedSizeBinary(size)) => {
                FieldType::array(FieldType::Leaf(Leaf::Byte), fixed_size(*size)?)
            }
            (_, DataType::Struct(members)) => {
                let place = |index: usize| argument(index).filter(|_| !user);
                let members = members.iter().enumerate().map(|(index, member)| {
                    let member_type = self.field(member, place(index)).in_field(member.name())?;
                    Ok((member.name().clone(), member_type))
                });
                let members = members.collect::<Result<Vec<_>>>()?;
                match (template.as_str(), members.len()) {
                    ("std::pair", 2) => match <[_; 2]>::try_from(types(members)) {
                        Ok(pair) => FieldType::Pair(Box::new(pair)),
                        Err(_) => return Err(unsupported(data_type)),
                    },
                    ("std::tuple", _) => tuple(members),
                    _ if user => {
                        class(&name.map(ToString::to_string).unwrap_or_default(), members, field)
                    }
                    _ => FieldType::Record(members),
                }
            }
            (_, DataType::Union(children, _)) => {
                let none = children.iter().next().map(|(_, child)| child.data_type());
                let skip = usize::from(none == Some(&DataType::Null));
                let alternatives = children.iter().skip(skip).enumerate();
                let alternatives = alternatives
                    .map(|(index, (_, child))| self.field(child, argument(index)))
                    .collect::<Result<_>>()?;
                FieldType::Variant(alternatives)
            }
            (_, number) => {
                let plain = leaf(number).ok_or_else(|| unsupported(data_type))?;
                let named = name.and_then(|name| Leaf::of_name(&name.to_string()));
                match named {
                    Some(named) if same_values(named, plain) => FieldType::Leaf(named),
                    None if user && !matches!(plain, Leaf::Half | Leaf::Float | Leaf::Double) => {
                        FieldType::Enum(name.map(ToString::to_string).unwrap_or_default(), plain)
                    }
                    _ => FieldType::Leaf(plain),
                }
            }
        })
    }

    /// Converts the key and the value of the entries of a map.
    fn pair(
        &self,
        entries: &ArrowField,
        map: Option<&TypeName>,
    ) -> Result<Option<Box<[FieldType; 2]>>> {
        let DataType::Struct(members) = entries.data_type() else { return Ok(None) };
        let [key, value] = &members[..] else { return Ok(None) };
        let argument = |index: usize| match map.map(TypeName::template)?.1.get(index)? {
            Argument::Type(name) => Some(name),
            Argument::Value(_) => None,
        };
        Ok(Some(Box::new([self.field(key, argument(0))?, self.field(value, argument(1))?])))
    }
}

fn types(members: Vec<(String, FieldType)>) -> Vec<FieldType> {
    members.into_iter().map(|(_, member)| member).collect()
}

/// Makes a tuple. A tuple has the types of its items in its name; if one of them has none, it is an untyped record.
fn tuple(members: Vec<(String, FieldType)>) -> FieldType {
    let typed = |item: &FieldType| item.type_name().is_ok_and(|name| !name.is_empty());
    if members.iter().all(|(_, item)| typed(item)) {
        FieldType::Tuple(types(members))
    } else {
        FieldType::Record(members)
    }
}

/// Makes a class of the members of a struct. The members `:_0`, … are its base classes.
fn class(name: &str, members: Vec<(String, FieldType)>, field: &ArrowField) -> FieldType {
    let number = |key: &str| field.metadata().get(key).and_then(|text| text.parse().ok());
    let (bases, members): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|(name, _)| name.starts_with(":_"));
    FieldType::Class(Class {
        bases: types(bases),
        version: number(VERSION).unwrap_or(Class::NO_VERSION),
        checksum: number(CHECKSUM),
        ..Class::new(name, members)
    })
}

/// Returns whether a name is neither in the standard library nor in ROOT.
fn is_user(template: &str) -> bool {
    !template.starts_with("std::")
        && !template.starts_with("ROOT::VecOps::RVec")
        && Leaf::of_name(template).is_none()
}

fn hides_nulls(name: &TypeName) -> bool {
    ["std::optional", "std::unique_ptr", "std::variant"].contains(&name.template().0.as_str())
}

fn set_kind(template: &str, container: &str) -> Option<SetKind> {
    SetKind::ALL.into_iter().find(|kind| template == format!("{}{container}", kind.prefix()))
}

fn list_item(data_type: &DataType) -> Option<&ArrowField> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => Some(item),
        _ => None,
    }
}

fn fixed_size(size: i32) -> Result<u64> {
    u64::try_from(size)
        .map_err(|_| Error::invalid_argument(format!("a fixed-size list has size {size}")))
}

/// Returns whether an Arrow type can hold the values of a declared type. The test is rough; the writer checks
/// all values.
fn fits(declared: &FieldType, data_type: &DataType) -> bool {
    match declared {
        FieldType::Class(_) => matches!(data_type, DataType::Struct(_)),
        FieldType::Enum(..) => data_type.is_integer(),
        FieldType::Collection(..) => list_item(data_type).is_some(),
        _ => false,
    }
}

/// Returns whether two fundamental types with different names hold the same values.
fn same_values(left: Leaf, right: Leaf) -> bool {
    let group = |leaf| match leaf {
        Leaf::Char => Leaf::Int8,
        Leaf::Byte => Leaf::UInt8,
        Leaf::Double32 => Leaf::Double,
        leaf => leaf,
    };
    group(left) == group(right)
}

fn leaf(data_type: &DataType) -> Option<Leaf> {
    match data_type {
        DataType::Float16 => Some(Leaf::Half),
        other => Number::of_data_type(other).map(Leaf::from),
    }
}

fn unsupported(data_type: &DataType) -> Error {
    let advice = match data_type {
        DataType::Utf8View | DataType::BinaryView => "cast it to large_string or large_binary",
        DataType::ListView(_) | DataType::LargeListView(_) => "cast it to large_list",
        DataType::RunEndEncoded(..) => "decode it to its value type",
        DataType::Null => "a column of nothing but nulls has no C++ type",
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => "cast it to float64, or to int64 in units of its scale",
        other if other.is_temporal() || matches!(other, DataType::Interval(_)) => {
            "cast it to int64 and say the unit in the name of the field"
        }
        _ => "cast it to an integer, float, string, list or struct",
    };
    let data_type = brief(data_type);
    Error::unsupported(format!("Arrow type {data_type} cannot be written: {advice}"))
}

impl Schema {
    /// Makes the RNTuple schema of an Arrow schema. Default columns depend on `compression`. A nullable field is
    /// optional if its metadata request it.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that have no C++ type; `InvalidArgument` for a name that is not allowed or
    /// already taken.
    pub fn from_arrow(arrow: &ArrowSchema, compression: Compression) -> Result<Self> {
        let mut builder = SchemaBuilder::new(compression);
        for field in arrow.fields() {
            let field_type = FieldType::from_arrow(field)?;
            builder.field(None, field.name(), &field_type)?;
        }
        Ok(builder.finish())
    }
}

impl SchemaBuilder {
    /// Adds fields with the types of Arrow fields, which may use `classes`. Nullable fields become optional. A name with
    /// dots is the path of a member that a record gets: `jet.track.pt` is added to the record `track` in the record `jet`.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that have no C++ type; `InvalidArgument` for a name that is not allowed or
    /// already taken, and for a path whose record is not there or has a class.
    pub fn arrow_fields(&mut self, fields: &[FieldRef], classes: &Classes) -> Result<()> {
        fields.iter().try_for_each(|field| {
            let (parent, name) = match field.name().rsplit_once('.') {
                None => (None, field.name().as_str()),
                Some((record, name)) => (Some(self.record(record).in_field(field.name())?), name),
            };
            let field_type = FieldType::from_arrow_with(field, classes, Nullable::Optional)?;
            self.field(parent, name, &field_type).map(drop)
        })
    }

    /// Returns the record at a path, to which members can be added.
    fn record(&self, path: &str) -> Result<FieldId> {
        let schema = self.schema();
        let mut names = path.split('.');
        let top = names.next().and_then(|name| schema.find(name));
        let found = names.fold(top, |above, name| {
            let mut children = schema.field(above?).children.iter().copied();
            children.find(|&child| schema.field(child).name == name)
        });
        let found = found.ok_or_else(|| {
            Error::invalid_argument(format!(
                "a dot is between a record and its member, and the record {path:?} is not found"
            ))
        })?;
        let field = schema.field(found);
        if field.structure == Structure::Record && field.type_name.is_empty() {
            return Ok(found);
        }
        Err(Error::invalid_argument(format!(
            "members can be added to records without a class, and {path:?} is not a record without a class: its type \
             is {:?}",
            field.type_name
        )))
    }
}
