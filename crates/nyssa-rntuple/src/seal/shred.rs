//! Converts the Arrow array of a field to the elements of its columns, recursively (specification, "Mapping
//! of C++ Types to Fields and Columns").
//!
//! | field | arrays |
//! |---|---|
//! | numbers | numbers; integers of other widths when every value fits |
//! | string, streamer field | strings, binaries |
//! | collection | lists, maps, fixed-size lists; binaries for bytes |
//! | optional, unique_ptr | the values with nulls, or lists of at most one |
//! | fixed-size array, bitset | fixed-size lists, fixed-size binaries |
//! | record, class | structs, members by name (by place for pairs and tuples) |
//! | variant | unions, dense or sparse, whose types find their alternatives; values of one alternative |
//! | enum, atomic | the elements of the subfield |
//!
//! An array without values fits every field, because Python and NumPy cannot know its type. Errors name the
//! row of the array as the entry.
//!
//! A slice of an array counts only its own rows: offsets start at zero, and only the items of its rows are converted.
//! Dictionaries are decoded.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, NullArray, StructArray};
use arrow_schema::DataType;
use nyssa_observe::{Stage, stage};
use nyssa_root::arrow::brief;
use nyssa_root::arrow::gather::{decoded, valid};
use nyssa_root::arrow::lists::{Offsets, byte_lists, fixed, is_bytes, item_type, lists};
use nyssa_root::error::{Error, Result, ResultExt};

use super::elements::Elements;
use super::settings::SealSettings;
use super::{numbers, variant};
use crate::encoding::{ColumnType, Native};
use crate::schema::{ColumnId, Field, FieldId, Schema, Structure};

/// The elements of one column.
#[derive(Clone, Debug)]
pub(crate) struct Shred {
    pub(crate) column: ColumnId,
    pub(crate) elements: Elements,
}

/// Makes the elements of all columns of a field, in depth-first order. The columns belong to the representations in
/// `settings`. A projected field has none.
///
/// # Errors
/// `InvalidArgument` when the array does not have the structure of the field, has nulls although the field is
/// not optional, or has a value that does not fit.
pub(crate) fn shred(
    schema: &Schema,
    field: FieldId,
    array: &ArrayRef,
    settings: &SealSettings,
) -> Result<Vec<Shred>> {
    let _stage = shredding(schema, field);
    let mut shredder = Shredder { schema, settings, out: Vec::new() };
    shredder.field(field, array)?;
    Ok(shredder.out)
}

/// Makes the elements of the column of a collection from `offsets`.
pub(crate) fn shred_offsets(
    schema: &Schema,
    field: FieldId,
    offsets: Offsets,
    settings: &SealSettings,
) -> Result<Shred> {
    let _stage = shredding(schema, field);
    let mut shredder = Shredder { schema, settings, out: Vec::new() };
    let first = shredder.columns(field).first().copied();
    shredder.index(first.ok_or_else(|| shredder.wrong_columns(field))?, offsets)?;
    shredder.out.pop().ok_or_else(|| shredder.wrong_columns(field))
}

fn shredding(schema: &Schema, field: FieldId) -> Stage {
    stage!("shred", column = schema.path(field).as_str())
}

struct Shredder<'a> {
    schema: &'a Schema,
    settings: &'a SealSettings,
    out: Vec<Shred>,
}

impl<'a> Shredder<'a> {
    fn field(&mut self, id: FieldId, array: &ArrayRef) -> Result<()> {
        let schema = self.schema;
        let field = schema.fields.get(id.0 as usize).ok_or_else(|| {
            Error::invalid_argument(format!("there is no field {} in the schema", id.0))
        })?;
        if field.source.is_some() {
            return Ok(());
        }
        self.values(id, field, array).at(|place| place.field = Some(schema.path(id)))
    }

    fn values(&mut self, id: FieldId, field: &Field, array: &ArrayRef) -> Result<()> {
        let array = &decoded(array)?;
        let columns = self.columns(id);
        match (field.structure, columns, &field.children[..]) {
            (_, _, children) if array.is_empty() && says_nothing(array.data_type()) => {
                columns.iter().try_for_each(|&column| self.nothing(column))?;
                children.iter().try_for_each(|&child| self.field(child, array))
            }
            (Structure::Collection, &[column], &[child]) if is_optional(field) => {
                self.optional(column, child, array)
            }
            (Structure::Variant, &[column], children) => {
                let nullable = |at: usize| is_optional(self.schema.field(children[at]));
                let rank = |at: usize, data_type: &DataType| self.rank(children[at], data_type);
                let place = |types: &[&DataType]| variant::place(types, children.len(), rank);
                let alternatives = variant::alternatives(array, children.len(), nullable, place)?;
                let (tags, values) = alternatives.ok_or_else(|| mismatch(field, array))?;
                let at = self.out.len();
                self.out.push(Shred { column, elements: Elements::Tags(tags) });
                for (tag, (&child, values)) in (1u8..).zip(children.iter().zip(&values)) {
                    self.field(child, values).map_err(|error| self.of_tag(error, at, tag))?;
                }
                Ok(())
            }
            _ if array.logical_null_count() != 0 => Err(nulls(field, array)),
            (Structure::Leaf, _, children) if field.array_size.is_some() => {
                let items = fixed_items(field, array)?;
                let done = match (columns, children) {
                    (&[column], []) => self.numbers(column, &items),
                    ([], &[child]) => self.field(child, &items),
                    _ => Err(self.wrong_columns(id)),
                };
                let size = items.len().checked_div(array.len()).unwrap_or(1).max(1);
                done.map_err(|error| error.entry_of(|at| at / size))
            }
            (Structure::Leaf, &[column], []) => self.numbers(column, array),
            (Structure::Leaf, [], &[child]) => self.field(child, array),
            (Structure::Leaf | Structure::Streamer, &[first, second], []) => {
                let (offsets, values) =
                    byte_lists(array).ok_or_else(|| mismatch(field, array))??;
                self.index(first, offsets)?;
                self.out.push(Shred { column: second, elements: Elements::bytes(values) });
                Ok(())
            }
            (Structure::Collection, &[column], &[child]) => {
                self.collection(field, column, child, array)
            }
            (Structure::Record, [], children) => {
                let record = array.as_struct_opt().ok_or_else(|| mismatch(field, array))?;
                self.record(field, children, record)
            }
            _ => Err(self.wrong_columns(id)),
        }
    }

    /// Converts values with nulls, or lists of at most one item. The type of the subfield decides between the two.
    fn optional(&mut self, column: ColumnId, child: FieldId, array: &ArrayRef) -> Result<()> {
        let list = item_type(array.data_type()).is_some_and(|item| self.fits(child, item));
        let nulls = array.logical_nulls();
        if !list {
            let lengths = (0..array.len())
                .map(|row| usize::from(nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))));
            self.index(column, Offsets::of_lengths(lengths))?;
            return match &nulls {
                Some(nulls) => self.field(child, &valid(array, nulls)?).map_err(|error| {
                    error.entry_of(|at| nulls.valid_indices().nth(at).unwrap_or(at))
                }),
                None => self.field(child, array),
            };
        }
        if nulls.is_some_and(|nulls| nulls.null_count() > 0) {
            return Err(Error::invalid_argument(
                "lists that stand for optional values cannot be null themselves: use empty ones",
            ));
        }
        let Some(parts) = lists(array) else { return Ok(()) };
        let (offsets, items) = parts?;
        if !offsets.at_most_one() {
            return Err(Error::invalid_argument("an optional value has more than one value"));
        }
        self.items(column, child, offsets, &items)
    }

    /// Converts the items of lists.
    fn items(
        &mut self,
        column: ColumnId,
        child: FieldId,
        offsets: Offsets,
        items: &ArrayRef,
    ) -> Result<()> {
        self.index(column, offsets.clone())?;
        self.field(child, items).map_err(|error| error.entry_of(|at| offsets.row(at)))
    }

    /// Adds the place to an error in the values of one alternative. The elements `at` are the tags of the
    /// variant.
    fn of_tag(&self, error: Error, at: usize, tag: u8) -> Error {
        let Some(Shred { elements: Elements::Tags(tags), .. }) = self.out.get(at) else {
            return error;
        };
        let mut rows = tags.iter().enumerate().filter(|(_, other)| **other == tag);
        error.entry_of(|at| rows.nth(at).map_or(at, |(row, _)| row))
    }

    fn collection(
        &mut self,
        field: &Field,
        column: ColumnId,
        child: FieldId,
        array: &ArrayRef,
    ) -> Result<()> {
        // Arrow stores a `std::vector<std::byte>` without a child array.
        if let Some(bytes) = byte_lists(array) {
            let (offsets, bytes) = bytes?;
            let &[values] = self.columns(child) else { return Err(mismatch(field, array)) };
            if self.column_type(values)?.native() != Native::Bytes(1) {
                return Err(mismatch(field, array));
            }
            self.index(column, offsets)?;
            self.out.push(Shred { column: values, elements: Elements::bytes(bytes) });
            return Ok(());
        }
        let (offsets, items) = lists(array).ok_or_else(|| mismatch(field, array))??;
        self.items(column, child, offsets, &items)
    }

    fn record(&mut self, field: &Field, children: &[FieldId], record: &StructArray) -> Result<()> {
        if is_by_place(field) && record.num_columns() == children.len() {
            let mut pairs = children.iter().zip(record.columns());
            return pairs.try_for_each(|(&child, member)| self.field(child, member));
        }
        let names = self.member_names(children);
        if let Some(unknown) = record.column_names().iter().find(|name| !names.contains(name)) {
            let message = format!("the record has no member {unknown:?}");
            return Err(Error::invalid_argument(message).suggest(unknown, names));
        }
        self.members(children, record)
    }

    /// Converts each member by its name. Members of base classes may be among the members of the class.
    fn members(&mut self, children: &[FieldId], record: &StructArray) -> Result<()> {
        for &id in children {
            let child = self.schema.field(id);
            match record.column_by_name(&child.name) {
                Some(member) => self.field(id, member)?,
                None if is_base(child) => self.members(&child.children, record)?,
                None => {
                    return Err(Error::invalid_argument(format!(
                        "the record has no member {:?}: it has {:?}",
                        child.name,
                        record.column_names()
                    )));
                }
            }
        }
        Ok(())
    }

    fn member_names(&self, children: &[FieldId]) -> Vec<&'a str> {
        let mut names = Vec::new();
        for &id in children {
            let child = self.schema.field(id);
            names.push(child.name.as_str());
            if is_base(child) {
                names.append(&mut self.member_names(&child.children));
            }
        }
        names
    }

    fn numbers(&mut self, column: ColumnId, array: &ArrayRef) -> Result<()> {
        let record = self.schema.column(column);
        let field = self.schema.field(record.field);
        if array.null_count() != 0 {
            return Err(nulls(field, array));
        }
        let round = self.settings.round_doubles;
        let column_type = self.column_type(column)?;
        if let Some(error) = self.settings.column(column).and_then(|item| item.largest_error) {
            numbers::check_exact(record, column_type, array, error)?;
        }
        let elements = numbers::elements(record, column_type, &field.type_name, array, round)?;
        self.out.push(Shred { column, elements });
        Ok(())
    }

    fn index(&mut self, column: ColumnId, offsets: Offsets) -> Result<()> {
        let column_type = self.column_type(column)?;
        if column_type.native() != Native::Index {
            return Err(Error::invalid_argument(format!(
                "offsets cannot be stored in a column of type {}",
                column_type.name()
            )));
        }
        self.out.push(Shred { column, elements: Elements::Offsets(offsets) });
        Ok(())
    }

    /// Adds no elements.
    fn nothing(&mut self, column: ColumnId) -> Result<()> {
        match self.column_type(column)?.native() {
            Native::Index => self.index(column, Offsets::of_lengths([])),
            Native::Switch => {
                self.out.push(Shred { column, elements: Elements::Tags(Vec::new()) });
                Ok(())
            }
            _ => self.numbers(column, &(Arc::new(NullArray::new(0)) as ArrayRef)),
        }
    }

    /// Returns whether an Arrow type has the structure of a field.
    fn fits(&self, id: FieldId, data_type: &DataType) -> bool {
        let field = self.schema.field(id);
        let item_fits = |child: FieldId| {
            item_type(data_type).is_some_and(|item| self.fits(child, item))
                || is_bytes(data_type) && self.fits(child, &DataType::UInt8)
        };
        match (field.structure, self.columns(id), &field.children[..], data_type) {
            (.., DataType::Null) => true,
            (.., DataType::Dictionary(_, values)) => self.fits(id, values),
            (Structure::Leaf, _, children, _) if field.array_size.is_some() => match data_type {
                DataType::FixedSizeList(item, size) => {
                    let child = children.first();
                    u64::try_from(*size).ok() == field.array_size
                        && child.map_or(numbers::is_number(item.data_type()), |&child| {
                            self.fits(child, item.data_type())
                        })
                }
                other => matches!(other, DataType::FixedSizeBinary(_)),
            },
            (Structure::Leaf, [_], [], _) => numbers::is_number(data_type),
            (Structure::Leaf, [], &[child], _) => self.fits(child, data_type),
            (Structure::Leaf | Structure::Streamer, ..) => is_bytes(data_type),
            (Structure::Collection, _, &[child], _) => {
                item_fits(child) || is_optional(field) && self.fits(child, data_type)
            }
            (Structure::Record, .., DataType::Struct(_)) => true,
            (Structure::Variant, .., DataType::Union(..)) => true,
            _ => false,
        }
    }

    /// Returns a rank of how well an Arrow type fits a field, to choose between several alternatives. 0 means
    /// that it does not fit.
    fn rank(&self, id: FieldId, data_type: &DataType) -> u8 {
        let field = self.schema.field(id);
        let item = |child| item_type(data_type).map_or(0, |item| self.rank(child, item));
        match (field.structure, &field.children[..], data_type) {
            _ if !self.fits(id, data_type) => 0,
            (.., DataType::Null) => 1,
            (_, _, DataType::Dictionary(_, values)) => self.rank(id, values),
            (Structure::Leaf, &[], _) if numbers::is_number(data_type) => {
                numbers::likeness(&field.type_name, data_type)
            }
            (Structure::Leaf, &[child], _) if field.array_size.is_none() => {
                self.rank(child, data_type)
            }
            (Structure::Leaf, &[child], DataType::FixedSizeList(..)) => item(child),
            (Structure::Collection, &[child], _) if is_optional(field) => {
                item(child).max(self.rank(child, data_type))
            }
            // Bytes can be the items of a collection, but a string fits better.
            (Structure::Collection, &[child], _) => item(child).max(1),
            (Structure::Record, children, DataType::Struct(members)) => {
                let names = self.member_names(children);
                let known = members.iter().all(|member| names.contains(&member.name().as_str()));
                let by_place = is_by_place(field) && members.len() == children.len();
                if known || by_place { 3 } else { 0 }
            }
            _ => 3,
        }
    }

    /// Returns the columns of the active representation.
    fn columns(&self, id: FieldId) -> &'a [ColumnId] {
        if self.schema.fields.get(id.0 as usize).is_none() {
            return &[];
        }
        let active = self.settings.representation(id);
        let is_active = |ids: &&[ColumnId]| self.schema.column(ids[0]).representation == active;
        self.schema.representations(id).find(is_active).unwrap_or_default()
    }

    fn column_type(&self, column: ColumnId) -> Result<ColumnType> {
        let column = self.schema.column(column);
        column.column_type.ok_or_else(|| {
            Error::unsupported(format!(
                "columns of the unknown type {:#x} cannot be written",
                column.type_code
            ))
        })
    }

    fn wrong_columns(&self, field: FieldId) -> Error {
        let path = self.schema.fields.get(field.0 as usize).map(|_| self.schema.path(field));
        Error::invalid_argument(format!(
            "the columns of {} do not belong to its structure",
            path.unwrap_or_default()
        ))
    }
}

/// Returns the items of fixed-size lists. Other lists are accepted when each has as many items as the field
/// needs.
fn fixed_items(field: &Field, array: &ArrayRef) -> Result<ArrayRef> {
    let wrong = |size: usize| {
        Error::invalid_argument(format!(
            "lists of {size} items cannot fill a field of type {:?}",
            field.type_name
        ))
    };
    let fits = |size: usize| field.array_size == Some(size as u64);
    if let Some((size, items)) = fixed(array)? {
        return if fits(size) { Ok(items) } else { Err(wrong(size)) };
    }
    let (offsets, items) = lists(array).ok_or_else(|| mismatch(field, array))??;
    match offsets.lengths().enumerate().find(|(_, size)| !fits(*size)) {
        Some((row, size)) => Err(wrong(size).at(|place| place.entry = Some(row as u64))),
        None => Ok(items),
    }
}

/// Returns whether an empty array of this type can be of any type. awkward and NumPy use such types if there are no
/// values.
fn says_nothing(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Null | DataType::Float64)
}

/// Returns whether a field is an optional value, which is a collection of at most one item.
fn is_optional(field: &Field) -> bool {
    ["std::optional<", "std::unique_ptr<"].iter().any(|name| field.type_name.starts_with(name))
}

/// Returns whether the members of a record are found by position, whatever their names are.
fn is_by_place(field: &Field) -> bool {
    ["std::pair<", "std::tuple<"].iter().any(|name| field.type_name.starts_with(name))
}

/// Returns whether a subfield of a class is a base class (specification, "User-defined classes").
fn is_base(field: &Field) -> bool {
    field.structure == Structure::Record && field.name.starts_with(":_")
}

fn mismatch(field: &Field, array: &ArrayRef) -> Error {
    let name = if field.type_name.is_empty() { "untyped" } else { &field.type_name };
    Error::invalid_argument(format!(
        "an array of type {} cannot fill a field of type {name}",
        brief(array.data_type())
    ))
}

fn nulls(field: &Field, array: &ArrayRef) -> Error {
    Error::invalid_argument(format!(
        "{} of {} values are null, which a field of type {:?} cannot hold: fill or drop them first",
        array.logical_null_count(),
        array.len(),
        field.type_name
    ))
    .at(|place| {
        let nulls = array.logical_nulls();
        place.entry =
            nulls.and_then(|nulls| nulls.iter().position(|valid| !valid)).map(|at| at as u64);
    })
}
