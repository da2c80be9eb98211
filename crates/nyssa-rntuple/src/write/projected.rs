//! Converts rows of projected fields to arrays of the fields with the data.
//!
//! ```text
//! nJet     2                    _collection_nJet
//! Jet_pt   [41.5, 22.0]    →      [{Jet_pt: 41.5, Jet_eta: 0.1}, {Jet_pt: 22.0, Jet_eta: -1.0}]
//! Jet_eta  [0.1, -1.0]
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, StructArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::Field as ArrowField;
use nyssa_root::arrow::gather::decoded;
use nyssa_root::arrow::lists::lists;
use nyssa_root::arrow::{brief, shortened, with_integer_type};
use nyssa_root::error::{Error, Result, ResultExt};

use crate::schema::{BACKING_PREFIX, FieldId, Schema, Structure};

/// Finds the arrays of the top-level fields that are not projected, in order, in arrays by name. A field that is not
/// given is made from projected fields that show all of it. If several arrays contain the same data, such as the size
/// of a collection and the lengths of the lists of its members, they must agree. Fields after the first `needed` ones came
/// late: they may be left out, with all fields after them.
///
/// # Errors
/// `InvalidArgument` with missing and unknown fields, or with the fields that do not agree and the first such
/// entry.
pub fn rows(
    schema: &Schema,
    name: &str,
    given: &[(String, ArrayRef)],
    needed: usize,
) -> Result<Vec<ArrayRef>> {
    let own: HashMap<&str, &ArrayRef> =
        given.iter().map(|(name, array)| (name.as_str(), array)).collect();
    let top: Vec<FieldId> = schema.top_level().map(|(id, _)| id).collect();
    let mut parts = Parts { schema, parts: BTreeMap::new() };
    let mut from: BTreeSet<FieldId> = BTreeSet::new();
    for &id in &top {
        let field = schema.field(id);
        if let (Some(source), Some(&array)) = (field.source, own.get(field.name.as_str())) {
            from.insert(schema.above(source));
            parts.projected(id, &field.name, array).in_field(&field.name)?;
        }
    }
    let unknown = given.iter().map(|(name, _)| name.as_str());
    let unknown: Vec<&str> = unknown.filter(|name| schema.find(name).is_none()).collect();
    let mut missing = Vec::new();
    let mut rows = Vec::new();
    let stored: Vec<FieldId> =
        top.into_iter().filter(|&id| schema.field(id).source.is_none()).collect();
    let is_given = |id: &FieldId| own.contains_key(&*schema.field(*id).name) || from.contains(id);
    let end = stored.iter().rposition(is_given).map_or(0, |last| last + 1).max(needed);
    for id in stored.into_iter().take(end) {
        let field = schema.field(id);
        match (own.get(field.name.as_str()), from.contains(&id)) {
            (Some(&array), false) => rows.push(Arc::clone(array)),
            (array, true) => {
                if let Some(&array) = array {
                    parts.stored(id, &field.name, array).in_field(&field.name)?;
                }
                rows.extend(parts.whole(id, None, &mut missing)?);
            }
            (None, false) if field.name.starts_with(BACKING_PREFIX) => {
                missing.extend(parts.names(id));
            }
            (None, false) => missing.push(field.name.clone()),
        }
    }
    if missing.is_empty() && unknown.is_empty() {
        return Ok(rows);
    }
    let list = |names: &[&str]| match names {
        [] => "none".to_owned(),
        names => {
            let quoted: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
            format!("[{}]", quoted.join(", "))
        }
    };
    let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
    Err(Error::invalid_argument(format!(
        "the data do not have the fields of '{name}': missing {}, unknown {}",
        list(&missing),
        list(&unknown)
    )))
}

/// The parts of a field that are known.
#[derive(Default)]
struct FieldPart {
    /// The numbers of items of its collections, and the name of the field that gave them.
    lengths: Option<(String, Vec<u64>)>,
    /// The values, and the name of the field that gave them.
    values: Option<(String, ArrayRef)>,
}

struct Parts<'a> {
    schema: &'a Schema,
    parts: BTreeMap<FieldId, FieldPart>,
}

impl Parts<'_> {
    /// Adds the array of a projected field, with its subfields. `name` is the name of the top-level field.
    fn projected(&mut self, id: FieldId, name: &str, array: &ArrayRef) -> Result<()> {
        let field = self.schema.field(id);
        let Some(source) = field.source else { return Err(unsupported()) };
        let original = self.schema.field(source);
        if original.structure == Structure::Collection && field.structure == Structure::Leaf {
            return self.lengths(source, name, sizes(array)?);
        }
        if self.is_whole(id, source) {
            return self.values(source, name, array);
        }
        let (Structure::Collection, &[item]) = (field.structure, &field.children[..]) else {
            return Err(unsupported());
        };
        let items = self.list(source, name, array)?;
        self.projected(item, name, &items)
    }

    /// Adds the array of a field with data, down to the fields that projected fields show.
    fn stored(&mut self, id: FieldId, name: &str, array: &ArrayRef) -> Result<()> {
        let field = self.schema.field(id);
        match (field.structure, &field.children[..]) {
            (Structure::Collection, &[item]) => {
                let items = self.list(id, name, array)?;
                self.stored(item, name, &items)
            }
            (Structure::Record, members) => {
                let array = decoded(array)?;
                let record = array.as_struct_opt().ok_or_else(unsupported)?;
                members.iter().try_for_each(|&member| {
                    let own = &self.schema.field(member).name;
                    let values = record.column_by_name(own).ok_or_else(unsupported)?;
                    self.stored(member, name, values)
                })
            }
            _ => self.values(id, name, array),
        }
    }

    fn list(&mut self, id: FieldId, name: &str, array: &ArrayRef) -> Result<ArrayRef> {
        let array = decoded(array)?;
        if array.logical_null_count() != 0 {
            return Err(Error::invalid_argument("missing values, where there must be lists"));
        }
        let (offsets, items) = lists(&array).ok_or_else(|| {
            Error::invalid_argument(format!(
                "{} where there must be lists",
                brief(array.data_type())
            ))
        })??;
        self.lengths(id, name, offsets.lengths().map(|length| length as u64).collect())?;
        Ok(items)
    }

    fn lengths(&mut self, id: FieldId, name: &str, lengths: Vec<u64>) -> Result<()> {
        let part = self.parts.entry(id).or_default();
        let Some((before, known)) = &part.lengths else {
            part.lengths = Some((name.to_owned(), lengths));
            return Ok(());
        };
        match known.iter().zip(&lengths).position(|(a, b)| a != b) {
            None if known.len() == lengths.len() => Ok(()),
            at => {
                let at = at.unwrap_or_else(|| known.len().min(lengths.len()));
                let number = |all: &[u64]| all.get(at).copied().unwrap_or(0);
                Err(Error::invalid_argument(format!(
                    "{name} has {} items and {before} has {}: fields of one collection have the same number",
                    number(&lengths),
                    number(known)
                ))
                .at(|place| place.entry = Some(at as u64)))
            }
        }
    }

    fn values(&mut self, id: FieldId, name: &str, array: &ArrayRef) -> Result<()> {
        let part = self.parts.entry(id).or_default();
        match &part.values {
            None => part.values = Some((name.to_owned(), Arc::clone(array))),
            Some((before, known)) if known.to_data() != array.to_data() => {
                return Err(Error::invalid_argument(format!(
                    "{name} and {before} show the same data, but have different values"
                )));
            }
            Some(_) => (),
        }
        Ok(())
    }

    /// Returns whether a projected field shows all of its source.
    fn is_whole(&self, id: FieldId, source: FieldId) -> bool {
        let (field, original) = (self.schema.field(id), self.schema.field(source));
        let pairs = || field.children.iter().zip(&original.children);
        field.structure == original.structure
            && field.children.len() == original.children.len()
            && pairs().all(|(&child, &shown)| {
                self.schema.field(child).source == Some(shown) && self.is_whole(child, shown)
            })
    }

    /// Makes the array of a field, with as many values as the surrounding field needs. Returns `None` when a part is
    /// missing; `missing` then gets its name.
    fn whole(
        &self,
        id: FieldId,
        length: Option<usize>,
        missing: &mut Vec<String>,
    ) -> Result<Option<ArrayRef>> {
        let field = self.schema.field(id);
        let part = self.parts.get(&id);
        if let Some((_, values)) = part.and_then(|part| part.values.as_ref()) {
            return Ok(Some(Arc::clone(values)));
        }
        let item =
            |array: &ArrayRef| Arc::new(ArrowField::new("item", array.data_type().clone(), true));
        let lengths = part.and_then(|part| part.lengths.as_ref());
        match (field.structure, &field.children[..], lengths) {
            (Structure::Collection, &[child], Some((_, lengths))) => {
                let mut end = 0i64;
                let mut offsets = vec![0];
                for &length in lengths {
                    let next = end.checked_add_unsigned(length);
                    end = next.ok_or_else(|| Error::limit("more items than can be counted"))?;
                    offsets.push(end);
                }
                let count = usize::try_from(end).unwrap_or(usize::MAX);
                let Some(items) = self.whole(child, Some(count), missing)? else { return Ok(None) };
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let list = LargeListArray::try_new(item(&items), offsets, items, None);
                Ok(Some(Arc::new(list.map_err(|error| no_array(&error))?)))
            }
            (Structure::Record, members, _) if part.is_none() => {
                let mut columns = Vec::with_capacity(members.len());
                for &member in members {
                    if let Some(column) = self.whole(member, length, missing)? {
                        let name = &self.schema.field(member).name;
                        let own = ArrowField::new(name, column.data_type().clone(), true);
                        columns.push((Arc::new(own), column));
                    }
                }
                if columns.len() < members.len() {
                    return Ok(None);
                }
                let length = columns.first().map_or(length.unwrap_or(0), |(_, array)| array.len());
                let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
                let record = StructArray::try_new_with_length(fields.into(), columns, None, length);
                Ok(Some(Arc::new(record.map_err(|error| no_array(&error))?)))
            }
            _ => {
                missing.extend(self.names(id));
                Ok(None)
            }
        }
    }

    /// Returns the names by which users know the parts of a field: the names of the projected fields that show them,
    /// or else its path.
    fn names(&self, id: FieldId) -> Vec<String> {
        let field = self.schema.field(id);
        let inner = |top: FieldId| {
            let below = |&id: &FieldId| match &self.schema.field(id).children[..] {
                &[child] => Some(child),
                _ => None,
            };
            let mut sources = std::iter::successors(Some(top), below)
                .filter_map(|id| self.schema.field(id).source);
            sources.any(|source| source == id)
        };
        let mut tops = self.schema.top_level().filter(|(_, top)| top.source.is_some());
        let shown = tops.find(|(top, _)| inner(*top)).map(|(_, top)| top.name.clone());
        let parts = matches!(field.structure, Structure::Collection | Structure::Record)
            && field.type_name.is_empty()
            && !field.children.is_empty()
            && shown.is_some();
        match shown {
            _ if parts || field.structure == Structure::Record && field.parent.is_some() => {
                field.children.iter().flat_map(|&child| self.names(child)).collect()
            }
            Some(name) => vec![name],
            None => vec![self.schema.path(id)],
        }
    }
}

/// Returns the sizes that a cardinality shows.
fn sizes(array: &ArrayRef) -> Result<Vec<u64>> {
    let array = decoded(array)?;
    if array.logical_null_count() != 0 {
        return Err(Error::invalid_argument("missing values, where there must be sizes"));
    }
    let sizes: Option<Vec<u64>> = with_integer_type!(array.data_type(),
        T => {
            let sizes = array.as_primitive::<T>().values().iter();
            sizes.map(|&size| u64::try_from(size).ok()).collect()
        },
        _ => None);
    sizes.ok_or_else(|| Error::invalid_argument("the size of a collection must not be negative"))
}

fn unsupported() -> Error {
    Error::invalid_argument(
        "the data behind this projected field cannot be made from its values: give the field that it \
         is projected from",
    )
}

fn no_array(error: &arrow_schema::ArrowError) -> Error {
    Error::invalid_argument(format!(
        "the fields of a collection do not fit together: {}",
        shortened(error)
    ))
}

#[cfg(test)]
#[path = "projected_tests.rs"]
mod tests;
