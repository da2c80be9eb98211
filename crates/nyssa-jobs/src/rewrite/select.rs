//! Selects the fields that are written.
//!
//! A field is selected if a glob matches the dotted path of the field, of a field above it, or of a field below
//! it. Globs match paths with or without the `_0` of collections. Only members of records can be left out one
//! by one. Any other field with subfields is written as a whole or not at all.
//!
//! Untyped top-level fields from which other fields are projected, such as the `_collection0` of ROOT's importer,
//! store the data of their projections. Unless a glob names them, each of their members is written if one of its
//! projections is written.

use nyssa_data::dataset::{glob, no_match};
use nyssa_rntuple::schema::{Field, FieldId, Schema, Structure, is_cardinality};
use nyssa_root::error::{Error, Result};

/// The fields that are written, by [`FieldId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selection(Vec<bool>);

impl Selection {
    /// Selects the fields of `schema` that match one of `include` (all fields if it is empty) and none of `drop`.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse, and for a part of a field that cannot be left out
    /// alone; `NotFound` for a glob that matches nothing.
    pub(super) fn new(schema: &Schema, include: &[String], drop: &[String]) -> Result<Self> {
        let paths = Paths::new(schema);
        let named = paths.matches(include)?;
        let dropped = paths.matches(drop)?;
        let mut selector = Selector { schema, named, dropped, all: include.is_empty() };
        selector.close();
        let mut selected = vec![false; schema.fields.len()];
        for (id, field) in schema.top_level() {
            if field.source.is_some() {
                selector.walk(id, &mut selected)?;
            }
        }
        // Projections come first, since they decide which members of untyped sources are needed.
        let projections = selected.clone();
        let mut needed = vec![ProjectionUse::NoProjections; schema.fields.len()];
        for (index, field) in schema.fields.iter().enumerate() {
            if let Some(source) = field.source
                && let Some(need) = needed.get_mut(source.0 as usize)
            {
                let selected = projections.get(index).copied().unwrap_or(false);
                *need = (*need).max(if selected {
                    ProjectionUse::Written
                } else {
                    ProjectionUse::Dropped
                });
            }
        }
        for (id, field) in schema.top_level().filter(|(_, field)| field.source.is_none()) {
            if field.type_name.is_empty() {
                selector.untyped(id, &needed);
            }
            selector.walk(id, &mut selected)?;
        }
        selector.keep_sizes(&mut selected);
        Ok(Self(selected))
    }

    /// Returns whether the field is written.
    pub(super) fn keeps(&self, id: FieldId) -> bool {
        self.0.get(id.0 as usize).copied().unwrap_or(false)
    }
}

/// The state of the projections of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ProjectionUse {
    /// There are no projections.
    NoProjections,
    /// No projection is written.
    Dropped,
    /// At least one projection is written.
    Written,
}

struct Selector<'a> {
    schema: &'a Schema,
    /// Whether the globs of the user match each field or a field above it.
    named: Vec<bool>,
    dropped: Vec<bool>,
    all: bool,
}

impl Selector<'_> {
    /// Marks the subfields of fields that match. Parents come before their children.
    fn close(&mut self) {
        for index in 0..self.schema.fields.len() {
            if let Some(parent) = self.schema.fields[index].parent {
                self.named[index] |= self.named[parent.0 as usize];
                self.dropped[index] |= self.dropped[parent.0 as usize];
            }
        }
    }

    /// Selects the members of an untyped field whose projections are written.
    fn untyped(&mut self, id: FieldId, needed: &[ProjectionUse]) {
        let (index, field) = (id.0 as usize, self.schema.field(id));
        if field.type_name.is_empty() && !field.children.is_empty() {
            field.children.iter().for_each(|&child| self.untyped(child, needed));
        } else if needed[index] != ProjectionUse::NoProjections && !self.named[index] {
            self.below(id, needed[index] == ProjectionUse::Written);
        }
    }

    fn below(&mut self, id: FieldId, keep: bool) {
        let index = id.0 as usize;
        match keep {
            true => self.named[index] = !self.dropped[index],
            false => self.dropped[index] = true,
        }
        let children = &self.schema.field(id).children;
        children.iter().for_each(|&child| self.below(child, keep));
    }

    /// Selects collections without members if only a field that shows their size is written, so that the field stays
    /// such a field and matches the field of files with members. A collection that the user left out stays out.
    fn keep_sizes(&self, selected: &mut [bool]) {
        let is_size = |(id, field): &(FieldId, &Field)| {
            is_cardinality(&field.type_name) && selected.get(id.0 as usize) == Some(&true)
        };
        let sizes = self.schema.top_level().filter(is_size);
        let fields: Vec<FieldId> =
            sizes.filter_map(|(_, size)| self.collection_of(size)).flatten().collect();
        for id in fields {
            if let Some(selected) = selected.get_mut(id.0 as usize) {
                *selected = true;
            }
        }
    }

    /// Returns the untyped collection whose size a field shows, and its item, unless the user left it out.
    fn collection_of(&self, size: &Field) -> Option<[FieldId; 2]> {
        let source = size.source?;
        let collection = self.schema.field(source);
        let [item] = collection.children[..] else { return None };
        let is_open = |id: FieldId| self.schema.field(id).type_name.is_empty();
        let is_record = self.schema.field(item).structure == Structure::Record;
        let is_taken = collection.parent.is_none() && !self.dropped[source.0 as usize];
        (is_taken && is_record && is_open(source) && is_open(item)).then_some([source, item])
    }

    /// Decides whether a field and its subfields are written, and returns whether the field is written.
    fn walk(&self, id: FieldId, selected: &mut [bool]) -> Result<bool> {
        let index = id.0 as usize;
        let field = self.schema.field(id);
        let requested = !self.dropped[index] && (self.all || self.named[index]);
        let children = field.children.iter();
        let stay = children.map(|&child| self.walk(child, selected)).collect::<Result<Vec<_>>>()?;
        let stays = match (field.structure, &stay[..]) {
            (_, []) => requested,
            (_, stay) if stay.iter().all(|&stays| stays) => true,
            (_, stay) if stay.iter().all(|&stays| !stays) => false,
            (Structure::Record, _) if !is_std(&field.type_name) => true,
            _ => {
                return Err(Error::invalid_argument(format!(
                    "a field of type {:?} stays whole or goes: its parts cannot be left out one \
                     by one",
                    field.type_name
                ))
                .at(|place| place.field = Some(self.schema.path(id))));
            }
        };
        if let Some(selected) = selected.get_mut(index) {
            *selected = stays;
        }
        Ok(stays)
    }
}

/// Returns whether a type is a type of the standard library whose number of members is part of the type.
fn is_std(type_name: &str) -> bool {
    type_name.starts_with("std::pair<") || type_name.starts_with("std::tuple<")
}

/// The dotted paths of all fields.
struct Paths {
    /// The path of each field, and its path without the `_0` of collections.
    paths: Vec<(String, String)>,
}

impl Paths {
    fn new(schema: &Schema) -> Self {
        let mut paths: Vec<(String, String)> = Vec::with_capacity(schema.fields.len());
        for field in &schema.fields {
            let above = field.parent.map(|id| (id, paths[id.0 as usize].clone()));
            paths.push(match above {
                None => (field.name.clone(), field.name.clone()),
                Some((parent, (full, short))) => {
                    let item = schema.field(parent).structure == Structure::Collection;
                    let short = if item { short } else { format!("{short}.{}", field.name) };
                    (format!("{full}.{}", field.name), short)
                }
            });
        }
        Self { paths }
    }

    /// Returns which fields match one of the globs.
    fn matches(&self, globs: &[String]) -> Result<Vec<bool>> {
        let mut matched = vec![false; self.paths.len()];
        for text in globs {
            let glob = glob(text)?.compile_matcher();
            let mut any = false;
            for ((full, short), matched) in self.paths.iter().zip(&mut matched) {
                let matches = glob.is_match(full) || glob.is_match(short);
                *matched |= matches;
                any |= matches;
            }
            if !any {
                let names = self.paths.iter().map(|(full, _)| full.as_str());
                return Err(no_match("field", text, names));
            }
        }
        Ok(matched)
    }
}
