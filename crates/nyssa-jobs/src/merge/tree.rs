//! Matches the fields of many schemas by name.
//!
//! Records without a type may have other members in other inputs. All other fields must have equal subfields. A
//! number gets a type that holds the values of all inputs.

use std::collections::{HashMap, HashSet};

use nyssa_data::view::evolve::common;
use nyssa_rntuple::schema::{Classes, Field, FieldId, FieldType, Schema, Structure};
use nyssa_root::error::{Error, Result};

use super::inputs::AllInputs;
use super::options::Mode;
use super::widen::wider;

/// One field in the shapes that have it.
pub(super) struct Node {
    /// The field in each shape, if the shape has it.
    pub origins: Vec<Option<FieldId>>,
    /// The type that holds the values of all shapes.
    pub type_name: String,
    /// The subfields in the order of the first shape, followed by the subfields that it lacks.
    pub children: Vec<Node>,
}

impl Node {
    /// Returns the first shape that has the field, and the field in this shape.
    pub(super) fn owner(&self) -> Option<(usize, FieldId)> {
        let mut owners = self.origins.iter().enumerate();
        owners.find_map(|(shape, id)| Some((shape, (*id)?)))
    }

    fn add_to(&self, ids: &mut HashSet<FieldId>, shape: usize) {
        ids.extend(self.origins.get(shape).copied().flatten());
        self.children.iter().for_each(|child| child.add_to(ids, shape));
    }
}

/// Returns all fields of the output.
///
/// # Errors
/// `InvalidArgument` with the first field that differs in a way that `mode` does not allow.
pub(super) fn gather(all_inputs: &AllInputs, mode: Mode) -> Result<Vec<Node>> {
    let top = |shape: usize| -> Option<Vec<FieldId>> {
        Some(all_inputs.shapes[shape].schema.top_level().map(|(id, _)| id).collect())
    };
    let mut nodes = Gatherer { all_inputs, mode }.level(top, true)?;
    if mode == Mode::Filter {
        keep_sources(all_inputs, &mut nodes);
    }
    if nodes.is_empty() && !all_inputs.shapes.iter().all(|shape| shape.schema.fields.is_empty()) {
        return Err(Error::invalid_argument("the inputs have no field in common"));
    }
    Ok(nodes)
}

struct Gatherer<'a> {
    all_inputs: &'a AllInputs,
    mode: Mode,
}

impl Gatherer<'_> {
    /// Matches the fields of one level. `of` returns the fields of each shape that has the parent field. With `open`,
    /// some shapes may lack fields that other shapes have.
    fn level(&self, of: impl Fn(usize) -> Option<Vec<FieldId>>, open: bool) -> Result<Vec<Node>> {
        let shapes = &self.all_inputs.shapes;
        let mut level: Vec<Vec<Option<FieldId>>> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut having = Vec::with_capacity(shapes.len());
        for (number, shape) in shapes.iter().enumerate() {
            let fields = of(number);
            having.push(fields.is_some());
            for id in fields.unwrap_or_default() {
                let index = *known.entry(&shape.schema.field(id).name).or_insert_with(|| {
                    level.push(vec![None; shapes.len()]);
                    level.len() - 1
                });
                if level[index][number].replace(id).is_some() {
                    return Err(self.differs(number, id, "there are two of this name"));
                }
            }
        }
        let mut nodes = Vec::with_capacity(level.len());
        for origins in level {
            let lacks = |(origin, having): (&Option<FieldId>, &bool)| origin.is_none() && *having;
            match origins.iter().zip(&having).position(lacks) {
                Some(other) if self.mode == Mode::Strict || !open => {
                    return Err(self.one_sided(&origins, other, open));
                }
                Some(_) if self.mode == Mode::Filter => continue,
                _ => nodes.push(self.node(origins)?),
            }
        }
        Ok(nodes)
    }

    fn node(&self, origins: Vec<Option<FieldId>>) -> Result<Node> {
        let mut node = Node { origins, type_name: String::new(), children: Vec::new() };
        let Some((owner, first)) = node.owner() else { return Ok(node) };
        let schema = |shape: usize| &self.all_inputs.shapes[shape].schema;
        let record = schema(owner).field(first);
        node.type_name.clone_from(&record.type_name);
        for (shape, origin) in node.origins.iter().enumerate().skip(owner + 1) {
            let Some(id) = *origin else { continue };
            let field = schema(shape).field(id);
            node.type_name = self.type_of(record, &node.type_name, (shape, id), field)?;
            let origin =
                |schema: &Schema, field: &Field| field.source.map(|id| path(schema, id).join("."));
            let (before, after) = (origin(schema(owner), record), origin(schema(shape), field));
            if before != after {
                let show = |origin: Option<String>| match origin {
                    Some(origin) => format!("a projection of {origin}"),
                    None => "a field with data of its own".to_owned(),
                };
                let how = format!(
                    "it is {}, not {}; merge with recluster, which decodes everything",
                    show(after),
                    show(before)
                );
                return Err(self.differs(shape, id, how));
            }
        }
        let open = record.structure == Structure::Record && record.type_name.is_empty();
        let children = |shape: usize| {
            let origin = node.origins[shape];
            origin.map(|id| schema(shape).field(id).children.clone())
        };
        node.children = self.level(children, open)?;
        Ok(node)
    }

    /// Returns the type that holds the values of two fields.
    fn type_of(
        &self,
        first: &Field,
        type_name: &str,
        (shape, id): (usize, FieldId),
        field: &Field,
    ) -> Result<String> {
        let name = |field: &Field, name: &str| match name {
            "" => format!("untyped {:?}", field.structure).to_lowercase(),
            name => name.to_owned(),
        };
        let wide = wider(type_name, &field.type_name)
            .filter(|_| (first.structure, first.array_size) == (field.structure, field.array_size));
        let Some(wide) = wide else {
            let (new, old) = (name(field, &field.type_name), name(first, type_name));
            let why = match chain_holds_both(&field.type_name, type_name) {
                true => {
                    "a merge makes no type for both: write what a chain of the inputs reads \
                     (file[name] = nyssa.chain(paths, schema=\"union\")), or rewrite an input"
                }
                false => "no type holds both: rewrite an input",
            };
            let how = format!(
                "its type is {new}, not {old}, and {why} without it, then merge with union or filter"
            );
            return Err(self.differs(shape, id, how));
        };
        if field.other_flags != first.other_flags {
            let (new, old) = (field.other_flags, first.other_flags);
            return Err(self.differs(shape, id, format!("its flags are {new:#x}, not {old:#x}")));
        }
        let version = |of: &Field| (of.field_version, of.type_version, of.type_checksum);
        if version(field) != version(first) {
            let (of, new, old) = (name(field, &wide), version(field), version(first));
            let how = format!("it is another version of type {of}: {new:?}, not {old:?}");
            return Err(self.differs(shape, id, how));
        }
        Ok(wide)
    }

    fn differs(&self, shape: usize, id: FieldId, how: impl std::fmt::Display) -> Error {
        let path = self.all_inputs.shapes[shape].schema.shown_path(id);
        let message = format!("the field differs from earlier inputs: {how}");
        let error = Error::invalid_argument(message).at(|place| place.field = Some(path));
        error.at(|place| place.file = Some(self.all_inputs.name_of(shape).to_owned()))
    }

    /// Returns the error for a field that shape number `other` lacks.
    fn one_sided(&self, origins: &[Option<FieldId>], other: usize, open: bool) -> Error {
        let owners = origins.iter().enumerate();
        let owner = owners.filter_map(|(shape, id)| Some((shape, (*id)?))).next();
        let Some((owner, id)) = owner else { return Error::invalid_argument("no such field") };
        let (with, without) = (self.all_inputs.name_of(owner), self.all_inputs.name_of(other));
        let schema = &self.all_inputs.shapes[owner].schema;
        let advice = if open {
            "merge the union of all fields, or filter those that all inputs have"
        } else {
            "only records without a type may have other members in other inputs"
        };
        // Users know the field by the projected field that shows it.
        let top = schema.top_level().find(|(_, field)| field.source == Some(id));
        let path = top.map_or_else(|| schema.path(id), |(_, field)| field.name.clone());
        let what = format!("field {path:?} is in {with} and not in {without}: {advice}");
        Error::invalid_argument(what)
    }
}

/// Returns whether a chain has a type for the values of both types. A merge only widens numbers.
fn chain_holds_both(a: &str, b: &str) -> bool {
    let arrow = |name: &str| FieldType::parse(name, &Classes::default()).ok()?.to_arrow("").ok();
    arrow(a).zip(arrow(b)).is_some_and(|(a, b)| common(&a, &b, false).is_some())
}

/// Removes projections whose source fields were removed.
fn keep_sources(all_inputs: &AllInputs, nodes: &mut Vec<Node>) {
    let mut kept = HashSet::new();
    nodes.iter().for_each(|node| node.add_to(&mut kept, 0));
    let Some(shape) = all_inputs.shapes.first() else { return };
    nodes.retain(|node| {
        let mut own = HashSet::new();
        node.add_to(&mut own, 0);
        let sources = own.iter().filter_map(|&id| shape.schema.field(id).source);
        sources.into_iter().all(|source| kept.contains(&source))
    });
}

/// Returns the names of a field and the fields above it, from the top-level field down.
fn path(schema: &Schema, id: FieldId) -> Vec<&str> {
    let up = std::iter::successors(Some(id), |&id| schema.field(id).parent);
    let mut names: Vec<_> = up.map(|id| schema.field(id).name.as_str()).collect();
    names.reverse();
    names
}
