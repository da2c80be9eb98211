//! The schema of an input → the schema of the output, by names and types.

use std::collections::{HashMap, HashSet};

use super::options::Mode;
use super::unify::{needs_value, path};
use crate::error::{Error, Result};
use crate::schema::{Column, ColumnId, Field, FieldId, Schema};

/// How the inputs of one schema go into the output.
#[derive(Debug, Default)]
pub(super) struct Mapping {
    /// Fields with columns that are moved.
    pub fields: Vec<Moved>,
    /// Fields with columns that the input lacks.
    pub missing: Vec<Missing>,
    /// Fields of the output that are there.
    present: HashSet<FieldId>,
}

/// A field that is in both.
#[derive(Debug)]
pub(super) struct Moved {
    /// The field of the output.
    pub field: FieldId,
    /// Columns of each representation in the input, and their places in the output.
    pub representations: Vec<(Vec<ColumnId>, Vec<ColumnId>)>,
    /// Values in each entry; `None` inside collections and variants.
    pub repetitions: Option<u64>,
}

/// A field that is in the output only.
#[derive(Debug)]
pub(super) struct Missing {
    /// The columns that get its zeros.
    pub columns: Vec<ColumnId>,
    /// Values in each entry; `None` inside collections and variants.
    pub repetitions: Option<u64>,
}

impl Mapping {
    /// Maps `source` into `target`, which gets the representations that it does not have yet.
    ///
    /// # Errors
    /// `InvalidArgument` naming the field that has another type in the output.
    pub fn of(source: &Schema, target: &mut Schema, mode: Mode) -> Result<Self> {
        let mut mapping = Self::default();
        let names = target.top_level().map(|(id, field)| (field.name.clone(), id));
        let names: HashMap<String, FieldId> = names.collect();
        for (id, field) in source.top_level() {
            match names.get(&field.name) {
                Some(&other) => mapping.tree(source, id, target, other)?,
                None if mode == Mode::Filter => {}
                None => return Err(differs(source, id, "it is in one of the inputs only")),
            }
        }
        Ok(mapping)
    }

    fn tree(
        &mut self,
        source: &Schema,
        id: FieldId,
        target: &mut Schema,
        to: FieldId,
    ) -> Result<()> {
        compare(source, id, target, to)?;
        self.present.insert(to);
        let field = source.field(id);
        if field.source.is_none() && !field.columns.is_empty() {
            let columns = |ids: &[ColumnId]| ids.to_vec();
            let mut representations = Vec::new();
            for from in source.representations(id) {
                let known = target.representations(to).find(|ids| same(source, from, target, ids));
                let into = match known.map(columns) {
                    Some(known) => known,
                    None => {
                        let new = from
                            .iter()
                            .map(|&id| Column { first_element: None, ..source.column(id).clone() });
                        target.add_representation(to, new.collect::<Vec<_>>())?
                    }
                };
                representations.push((columns(from), into));
            }
            let repetitions = source.repetitions(id);
            self.fields.push(Moved { field: to, representations, repetitions });
        }
        for &child in &field.children {
            let name = &source.field(child).name;
            let children = &target.field(to).children;
            let other = children.iter().copied().find(|&id| target.field(id).name == *name);
            let other = other.ok_or_else(|| differs(source, child, "no such member there"))?;
            self.tree(source, child, target, other)?;
        }
        Ok(())
    }

    /// Finds the fields of the complete schema that the inputs lack.
    ///
    /// # Errors
    /// `Unsupported` for fields that cannot be left without a value.
    pub fn find_missing(&mut self, target: &Schema) -> Result<()> {
        for (id, field) in (0u32..).map(FieldId).zip(&target.fields) {
            if field.source.is_some() || self.present.contains(&id) {
                continue;
            }
            if needs_value(target, id) {
                return Err(Error::unsupported(
                    "an object stored by its streamer has no value that could stand for a missing \
                     one: leave the field out with filter",
                )
                .at(|place| place.field = Some(target.path(id))));
            }
            if let Some(columns) = target.representations(id).next() {
                let (columns, repetitions) = (columns.to_vec(), target.repetitions(id));
                self.missing.push(Missing { columns, repetitions });
            }
        }
        Ok(())
    }
}

/// Whether two representations are encoded in the same way.
fn same(source: &Schema, from: &[ColumnId], target: &Schema, into: &[ColumnId]) -> bool {
    let encoding = |schema: &Schema, id: ColumnId| {
        let Column { type_code, bits, value_range, .. } = *schema.column(id);
        (type_code, bits, value_range)
    };
    from.len() == into.len()
        && from.iter().zip(into).all(|(&a, &b)| encoding(source, a) == encoding(target, b))
}

/// Refuses what cannot be the same field.
fn compare(source: &Schema, id: FieldId, target: &Schema, to: FieldId) -> Result<()> {
    let (a, b) = (source.field(id), target.field(to));
    let shape = |field: &Field| (field.structure, field.array_size, field.children.len());
    let version = |field: &Field| (field.field_version, field.type_version, field.type_checksum);
    let name = |field: &Field| match field.type_name.as_str() {
        "" => format!("untyped {:?}", field.structure).to_lowercase(),
        name => name.to_owned(),
    };
    let origin = |schema, field: &Field| field.source.map(|id| path(schema, id).join("."));
    if a.type_name != b.type_name || shape(a) != shape(b) {
        return Err(differs(source, id, format!("its type is {}, not {}", name(a), name(b))));
    }
    if version(a) != version(b) {
        return Err(differs(
            source,
            id,
            format!(
                "it is another version of type {}: {:?}, not {:?}",
                name(a),
                version(a),
                version(b)
            ),
        ));
    }
    if origin(source, a) != origin(target, b) {
        let show = |origin: Option<String>| match origin {
            Some(origin) => format!("a projection of {origin}"),
            None => "a field with data of its own".to_owned(),
        };
        let (a, b) = (show(origin(source, a)), show(origin(target, b)));
        return Err(differs(source, id, format!("it is {a}, not {b}")));
    }
    Ok(())
}

fn differs(schema: &Schema, id: FieldId, how: impl std::fmt::Display) -> Error {
    Error::invalid_argument(format!("the field differs from that of earlier inputs: {how}"))
        .at(|place| place.field = Some(schema.path(id)))
}
