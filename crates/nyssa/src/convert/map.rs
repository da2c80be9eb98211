//! Branches → fields: the schema of the output and the units of work that fill it.

use std::collections::{BTreeMap, HashSet};

use super::fields::{Builder, array_type};
use super::name::Names;
use super::options::{Filter, Layout};
use super::report::{Renamed, Skipped};
use crate::error::{Error, Result};
use crate::schema::{FieldId, Schema, Structure};
use crate::ttree::{Branch, CountSource, Element, Shape};

/// A branch of the tree with its path.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// Path in the tree, the name it is read by.
    pub path: String,
    /// The branch.
    pub branch: &'a Branch,
}

/// What fills a field of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// All of a branch, by index of the inputs.
    Branch(usize),
    /// The items of a jagged branch, without their offsets.
    Items(usize),
    /// The offsets of a counter.
    Offsets(CountSource),
}

/// One field and what fills its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The physical field.
    pub field: FieldId,
    /// Its data.
    pub source: Source,
}

/// One readable field and the branch it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMap {
    /// Branch path.
    pub branch: String,
    /// Top-level field name, physical or projected.
    pub field: String,
    /// C++ type of the field.
    pub type_name: String,
    /// The physical field with the data.
    pub physical: FieldId,
    /// The branch can be read on its own, so its values can be compared.
    pub readable: bool,
}

/// The plan of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// Schema of the output.
    pub schema: Schema,
    /// What fills it, in the order of the columns.
    pub units: Vec<Unit>,
    /// Branches and fields, in the tree's order.
    pub fields: Vec<FieldMap>,
    /// Branches left out.
    pub skipped: Vec<Skipped>,
    /// Branches whose field has another name.
    pub renamed: Vec<Renamed>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// How branches are mapped.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// Layout of jagged branches.
    pub layout: Layout,
    /// Multi-byte columns use ROOT's split encodings, the default when compressed.
    pub split: bool,
    /// Which branches are taken.
    pub filter: &'a Filter,
    /// Leave out what cannot be converted instead of failing.
    pub skip_unsupported: bool,
}

/// A branch that is taken.
struct Taken<'a> {
    index: usize,
    path: &'a str,
    shape: &'a Shape,
}

/// One counter and the jagged branches it counts.
struct Counted<'a> {
    counter: &'a CountSource,
    members: Vec<Taken<'a>>,
}

/// Maps `inputs`, in the tree's order, to a schema.
///
/// # Errors
/// `Unsupported` listing every branch that cannot be converted with its reason, unless they are
/// skipped; `InvalidArgument` when no branch is left.
pub fn map(inputs: &[Input<'_>], rules: Rules<'_>) -> Result<Map> {
    let mut map = Map::default();
    let taken = select(inputs, rules, &mut map)?;
    let mut mapper = Mapper {
        inputs,
        names: Names::reserving(taken.iter().map(|taken| taken.path)),
        builder: Builder { split: rules.split, ..Builder::default() },
        map,
    };
    match rules.layout {
        Layout::Importer => mapper.importer(taken),
        Layout::Vectors => mapper.vectors(taken),
    }
    Ok(mapper.finish())
}

/// The branches to convert; unsupported ones go to `map.skipped`.
fn select<'a>(inputs: &'a [Input<'_>], rules: Rules<'_>, map: &mut Map) -> Result<Vec<Taken<'a>>> {
    let mut taken = Vec::new();
    for (index, Input { path, branch }) in inputs.iter().enumerate() {
        if !rules.filter.takes(path) {
            continue;
        }
        match check(branch) {
            Ok(shape) => taken.push(Taken { index, path, shape }),
            Err(reason) => map.skipped.push(Skipped { branch: path.clone(), reason }),
        }
    }
    if !map.skipped.is_empty() && !rules.skip_unsupported {
        return Err(unsupported(&map.skipped));
    }
    if taken.is_empty() {
        return Err(Error::invalid_argument(format!(
            "no branch is left to convert: the tree has {}, {} cannot be converted, and the \
             include and exclude patterns leave none of the others",
            inputs.len(),
            map.skipped.len()
        )));
    }
    Ok(taken)
}

fn check(branch: &Branch) -> std::result::Result<&Shape, String> {
    let shape = branch.shape.as_ref().map_err(Clone::clone)?;
    if shape.dimensions.contains(&0) {
        return Err("an array of zero elements has no RNTuple type".to_owned());
    }
    Ok(shape)
}

fn unsupported(skipped: &[Skipped]) -> Error {
    let list: Vec<String> =
        skipped.iter().map(|Skipped { branch, reason }| format!("{branch}: {reason}")).collect();
    Error::unsupported(format!(
        "{} branch{} cannot be converted; leave them out with an exclude pattern or by skipping \
         what is unsupported:\n  {}",
        skipped.len(),
        if skipped.len() == 1 { "" } else { "es" },
        list.join("\n  ")
    ))
}

struct Mapper<'a> {
    inputs: &'a [Input<'a>],
    names: Names,
    builder: Builder,
    map: Map,
}

impl<'a> Mapper<'a> {
    /// As ROOT's importer: plain fields in the tree's order, then one collection per counter in the
    /// order of the counters' names, each with its projections after all physical fields.
    fn importer(&mut self, taken: Vec<Taken<'a>>) {
        let (jagged, plain): (Vec<_>, Vec<_>) =
            taken.into_iter().partition(|taken| taken.shape.counter.is_some());
        let mut collections: BTreeMap<(&str, &str), Counted<'_>> = BTreeMap::new();
        for member in jagged {
            let Some(counter) = &member.shape.counter else { continue };
            collections
                .entry((&counter.leaf, &counter.branch))
                .or_insert_with(|| Counted { counter, members: Vec::new() })
                .members
                .push(member);
        }
        let counters: HashSet<&str> = collections
            .values()
            .map(|counted| counted.counter.branch.as_str())
            .filter(|path| self.is_plain_counter(path))
            .collect();
        for branch in plain.iter().filter(|branch| !counters.contains(branch.path)) {
            self.plain(branch);
        }
        let collections: Vec<_> = collections.into_values().enumerate().collect();
        let physical: Vec<_> =
            collections.iter().map(|(number, counted)| self.collection(*number, counted)).collect();
        for ((_, counted), (collection, members)) in collections.iter().zip(physical) {
            self.projections(counted, collection, &members);
        }
    }

    /// A counter branch whose only content is the count: the collection says the same.
    fn is_plain_counter(&self, path: &str) -> bool {
        self.inputs.iter().any(|input| input.path == path && input.branch.leaves.len() <= 1)
    }

    fn plain(&mut self, branch: &Taken<'_>) {
        let name = self.names.give(branch.path);
        let Shape { element, dimensions, .. } = branch.shape;
        let field = self.builder.value(None, &name, *element, dimensions);
        self.map.units.push(Unit { field, source: Source::Branch(branch.index) });
        self.note_dimensions(branch);
        self.mapped(branch.path, name, array_type(*element, dimensions), field, true);
    }

    /// The untyped collection of one counter: index column, record, members.
    fn collection(&mut self, number: usize, counted: &Counted<'_>) -> (FieldId, Vec<FieldId>) {
        let name = self.names.give(&format!("_collection{number}"));
        let none = String::new;
        let collection = self.builder.field(None, &name, none(), Structure::Collection, None);
        self.builder.index(collection);
        let source = Source::Offsets(counted.counter.clone());
        self.map.units.push(Unit { field: collection, source });
        let record = self.builder.field(Some(collection), "_0", none(), Structure::Record, None);
        let mut members = Vec::new();
        for member in &counted.members {
            let name = self.names.give(member.path);
            let Shape { element, dimensions, .. } = member.shape;
            let field = self.builder.value(Some(record), &name, *element, dimensions);
            self.map.units.push(Unit { field, source: Source::Items(member.index) });
            self.note_dimensions(member);
            members.push(field);
        }
        (collection, members)
    }

    /// The fields that users see: a vector per member, and the counter as cardinality.
    fn projections(&mut self, counted: &Counted<'_>, collection: FieldId, members: &[FieldId]) {
        for (member, &source) in counted.members.iter().zip(members) {
            let original = self.builder.schema.field(source);
            let name = original.name.clone();
            let type_name = format!("ROOT::VecOps::RVec<{}>", original.type_name);
            let field = self.builder.project(
                None,
                &name,
                type_name.clone(),
                Structure::Collection,
                collection,
            );
            self.builder.project_tree(field, "_0", source);
            self.mapped(member.path, name, type_name, source, true);
        }
        let CountSource { branch, leaf } = counted.counter;
        let plain = self.is_plain_counter(branch);
        let path = if plain { branch } else { leaf };
        let name = self.names.give(path);
        let type_name = format!("ROOT::RNTupleCardinality<{}>", self.cardinality(counted.counter));
        self.builder.project(None, &name, type_name.clone(), Structure::Leaf, collection);
        self.mapped(path, name, type_name, collection, plain);
    }

    /// Width of a cardinality: ROOT's 32 bits, unless the counter itself has more.
    fn cardinality(&self, counter: &CountSource) -> &'static str {
        let wide = self
            .inputs
            .iter()
            .find(|input| input.path == counter.branch)
            .and_then(|input| input.branch.shape.as_ref().ok())
            .is_some_and(|shape| matches!(shape.element, Element::Int64 | Element::UInt64));
        if wide { "std::uint64_t" } else { "std::uint32_t" }
    }

    /// Every branch is a field of its own, in the tree's order.
    fn vectors(&mut self, taken: Vec<Taken<'a>>) {
        for branch in &taken {
            if branch.shape.counter.is_none() {
                self.plain(branch);
                continue;
            }
            let Shape { element, dimensions, .. } = branch.shape;
            let name = self.names.give(branch.path);
            let type_name = format!("std::vector<{}>", array_type(*element, dimensions));
            let field =
                self.builder.field(None, &name, type_name.clone(), Structure::Collection, None);
            self.builder.index(field);
            self.builder.value(Some(field), "_0", *element, dimensions);
            self.map.units.push(Unit { field, source: Source::Branch(branch.index) });
            self.note_dimensions(branch);
            self.mapped(branch.path, name, type_name, field, true);
        }
    }

    fn note_dimensions(&mut self, branch: &Taken<'_>) {
        let jagged = branch.shape.counter.is_some();
        let rank = branch.shape.dimensions.len();
        if rank > 1 || (rank == 1 && jagged) {
            self.map.notes.push(format!(
                "{}: the shape of the array is kept as {} (ROOT's importer does not)",
                branch.path,
                array_type(branch.shape.element, &branch.shape.dimensions)
            ));
        }
    }

    fn mapped(
        &mut self,
        branch: &str,
        field: String,
        type_name: String,
        physical: FieldId,
        readable: bool,
    ) {
        if branch != field {
            self.map.renamed.push(Renamed { branch: branch.to_owned(), field: field.clone() });
        }
        let branch = branch.to_owned();
        self.map.fields.push(FieldMap { branch, field, type_name, physical, readable });
    }

    fn finish(self) -> Map {
        let Self { inputs, builder, mut map, .. } = self;
        let position = |path: &str| inputs.iter().position(|input| input.path == path);
        map.fields.sort_by_cached_key(|field| position(&field.branch));
        map.schema = builder.schema;
        map
    }
}
