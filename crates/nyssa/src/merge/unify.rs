//! Many schemas → the one of the output.

use std::collections::HashMap;

use super::mapping::Mapping;
use super::options::Mode;
use super::survey::{Shape, Survey};
use crate::error::{Error, Result, ResultExt};
use crate::format::ExtraType;
use crate::rootfile::StreamerList;
use crate::schema::{AliasColumn, Column, ColumnId, Field, FieldId, Schema, Structure};

/// The schema of the output and how the inputs map to it.
pub(super) struct Unified {
    pub schema: Schema,
    pub extra_types: Vec<ExtraType>,
    /// By shape.
    pub mappings: Vec<Mapping>,
    /// Remarks for people.
    pub notes: Vec<String>,
}

impl Unified {
    /// Brings the schemas of a survey together.
    ///
    /// # Errors
    /// `InvalidArgument` naming the first field that differs, by what `mode` allows; `Unsupported`
    /// for fields that cannot be left empty.
    pub fn of(survey: &Survey, mode: Mode) -> Result<Self> {
        let owners = owners(survey, mode)?;
        let mut unified = Self {
            schema: Schema::default(),
            extra_types: extra_types(&survey.shapes)?,
            mappings: Vec::new(),
            notes: Vec::new(),
        };
        unified.add_fields(&survey.shapes, &owners);
        for (index, shape) in survey.shapes.iter().enumerate() {
            let mapping = Mapping::of(&shape.schema, &mut unified.schema, mode);
            unified.mappings.push(mapping.in_file(survey.name_of(index))?);
        }
        // Only now are all representations known.
        for mapping in &mut unified.mappings {
            mapping.find_missing(&unified.schema)?;
        }
        unified.remark(survey, mode);
        Ok(unified)
    }

    /// Adds the fields that the output has, as their owners have them: first all fields, then all
    /// columns, so that a projection may come before its source.
    fn add_fields(&mut self, shapes: &[Shape], owners: &[Owner]) {
        let mut ids: HashMap<(usize, FieldId), FieldId> = HashMap::new();
        let mut columns: HashMap<(usize, ColumnId), ColumnId> = HashMap::new();
        for &Owner { shape, field } in owners {
            self.add_tree(&shapes[shape].schema, shape, field, None, &mut ids);
        }
        for (shape, Shape { schema, .. }) in shapes.iter().enumerate() {
            for (id, column) in (0u32..).map(ColumnId).zip(&schema.columns) {
                let Some(&field) = ids.get(&(shape, column.field)) else { continue };
                let new = Column { field, first_element: None, ..column.clone() };
                columns.insert((shape, id), self.schema.add_column(new));
            }
        }
        for (&(shape, old), &new) in &ids {
            let source = shapes[shape].schema.field(old).source;
            let source = source.and_then(|source| {
                let path = path(&shapes[shape].schema, source);
                find(&self.schema, &path)
            });
            self.schema.fields[new.0 as usize].source = source;
        }
        for (shape, Shape { schema, .. }) in shapes.iter().enumerate() {
            for alias in &schema.aliases {
                let field = ids.get(&(shape, alias.field));
                let physical = columns.get(&(shape, alias.physical));
                if let (Some(&field), Some(&physical)) = (field, physical) {
                    self.schema.add_alias(AliasColumn { physical, field });
                }
            }
        }
    }

    fn add_tree(
        &mut self,
        source: &Schema,
        shape: usize,
        id: FieldId,
        parent: Option<FieldId>,
        ids: &mut HashMap<(usize, FieldId), FieldId>,
    ) {
        let field = source.field(id);
        let (children, columns) = (Vec::new(), Vec::new());
        let new = self.schema.add_field(Field { parent, children, columns, ..field.clone() });
        ids.insert((shape, id), new);
        for &child in &field.children {
            self.add_tree(source, shape, child, Some(new), ids);
        }
    }

    fn remark(&mut self, survey: &Survey, mode: Mode) {
        let Some(first) = survey.shapes.first() else { return };
        let names = |schema: &Schema| -> Vec<String> {
            schema.top_level().map(|(_, field)| field.name.clone()).collect()
        };
        let (before, now) = (names(&first.schema), names(&self.schema));
        match mode {
            Mode::Strict => {}
            Mode::Union => {
                for name in now.iter().filter(|name| !before.contains(name)) {
                    self.notes.push(format!("field {name} is not in the first input"));
                }
            }
            Mode::Filter => {
                let mut gone: Vec<String> = Vec::new();
                let all = survey.shapes.iter().flat_map(|shape| names(&shape.schema));
                for name in all.filter(|name| !now.contains(name)) {
                    if !gone.contains(&name) {
                        gone.push(name);
                    }
                }
                for name in gone {
                    self.notes.push(format!("left out field {name}, which some input lacks"));
                }
            }
        }
        if !survey.others.is_empty() {
            let listed: Vec<_> = survey.others.iter().take(LISTED).cloned().collect();
            let more = survey.others.len().saturating_sub(listed.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.notes.push(format!(
                "objects of the inputs after the first are left out: {}{more}",
                listed.join(", ")
            ));
        }
    }
}

/// Objects named in a remark.
const LISTED: usize = 10;

/// Where a top-level field of the output is taken from.
struct Owner {
    shape: usize,
    field: FieldId,
}

/// The top-level fields of the output in order, each with the first shape that has it.
fn owners(survey: &Survey, mode: Mode) -> Result<Vec<Owner>> {
    let mut owners: Vec<(&str, Owner)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (shape, Shape { schema, .. }) in survey.shapes.iter().enumerate() {
        for (field, record) in schema.top_level() {
            let count = known.entry(&record.name).or_insert_with(|| {
                owners.push((&record.name, Owner { shape, field }));
                0
            });
            *count += 1;
        }
    }
    let everywhere = |name: &str| known.get(name) == Some(&survey.shapes.len());
    match mode {
        Mode::Union => {}
        Mode::Filter => {
            owners.retain(|(name, _)| everywhere(name));
            keep_sources(survey, &mut owners);
        }
        Mode::Strict => {
            if let Some((name, owner)) = owners.iter().find(|(name, _)| !everywhere(name)) {
                return Err(one_sided(survey, name, owner.shape));
            }
        }
    }
    if owners.is_empty() && !survey.shapes.iter().all(|shape| shape.schema.fields.is_empty()) {
        return Err(Error::invalid_argument("the inputs have no field in common"));
    }
    Ok(owners.into_iter().map(|(_, owner)| owner).collect())
}

/// Takes projections away whose sources are gone.
fn keep_sources(survey: &Survey, owners: &mut Vec<(&str, Owner)>) {
    let names: Vec<String> = owners.iter().map(|(name, _)| (*name).to_owned()).collect();
    owners.retain(|(_, owner)| {
        let schema = &survey.shapes[owner.shape].schema;
        let source = schema.field(owner.field).source;
        source.is_none_or(|source| {
            path(schema, source).first().is_some_and(|name| names.iter().any(|kept| kept == name))
        })
    });
}

fn one_sided(survey: &Survey, name: &str, owner: usize) -> Error {
    let lacks = |shape: &Shape| shape.schema.find(name).is_none();
    let other = survey.shapes.iter().position(lacks).unwrap_or_default();
    Error::invalid_argument(format!(
        "field {name:?} is in {} and not in {}: merge the union of all fields, or filter those that \
         all inputs have",
        survey.name_of(owner),
        survey.name_of(other)
    ))
}

/// Names from the top-level field down.
pub(super) fn path(schema: &Schema, id: FieldId) -> Vec<&str> {
    let up = std::iter::successors(Some(id), |&id| schema.field(id).parent);
    let mut names: Vec<_> = up.map(|id| schema.field(id).name.as_str()).collect();
    names.reverse();
    names
}

/// The field of a path.
pub(super) fn find(schema: &Schema, path: &[&str]) -> Option<FieldId> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(schema.find(first)?, |id, name| {
        let children = &schema.field(id).children;
        children.iter().copied().find(|&child| schema.field(child).name == *name)
    })
}

/// Streamer infos of all inputs in one list; of other information each record once.
fn extra_types(shapes: &[Shape]) -> Result<Vec<ExtraType>> {
    let mut out: Vec<ExtraType> = Vec::new();
    let mut infos = StreamerList::default();
    for extra in shapes.iter().flat_map(|shape| &shape.extra_types) {
        if let Some(list) = extra.streamer_list()? {
            infos.merge(&StreamerList::parse(list, ExtraType::LIST_OFFSET)?);
        } else if !out.contains(extra) {
            let same = |other: &ExtraType| {
                (other.content_id, other.type_version, &other.type_name)
                    == (extra.content_id, extra.type_version, &extra.type_name)
            };
            if out.iter().any(same) {
                return Err(Error::unsupported(format!(
                    "extra information {} about type {:?} differs between the inputs",
                    extra.content_id, extra.type_name
                )));
            }
            out.push(extra.clone());
        }
    }
    if !infos.is_empty() {
        out.push(ExtraType::of_streamer_list(&infos.serialize(ExtraType::LIST_OFFSET.into())?)?);
    }
    Ok(out)
}

/// Whether a field or one below it cannot be left without a value.
pub(super) fn needs_value(schema: &Schema, id: FieldId) -> bool {
    let field = schema.field(id);
    field.structure == Structure::Streamer
        || field.children.iter().any(|&child| needs_value(schema, child))
}
