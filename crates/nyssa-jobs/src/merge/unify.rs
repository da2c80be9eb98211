//! Makes the schema of the output from the schemas of the inputs.

use std::collections::{BTreeSet, HashSet};

use nyssa_rntuple::format::ExtraType;
use nyssa_rntuple::schema::{AliasColumn, Column, Field, FieldId, Leaf, Schema, Structure};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::info::StreamerList;

use super::inputs::AllInputs;
use super::mapping::{ColumnMapping, FieldIds, check_empty};
use super::options::Mode;
use super::shape::Shape;
use super::tree::{Node, gather};

/// The schema of the output, and the fields and columns of the inputs that map to it.
pub(super) struct Unified {
    pub schema: Schema,
    pub extra_types: Vec<ExtraType>,
    /// The fields of the output for the fields of each shape.
    pub ids: Vec<FieldIds>,
    /// The mapping of each shape. There are none if everything is decoded.
    pub mappings: Vec<ColumnMapping>,
    /// Remarks for the report.
    pub notes: Vec<String>,
}

impl Unified {
    /// Unifies the schemas of all inputs. Pages will be copied or, with `decode`, decoded and written again.
    ///
    /// # Errors
    /// `InvalidArgument` with the first field that differs in a way that `mode` does not allow; `Unsupported`
    /// for fields that cannot be left without a value.
    pub(super) fn of(all_inputs: &AllInputs, mode: Mode, decode: bool) -> Result<Self> {
        let nodes = gather(all_inputs, mode)?;
        let mut unified = Self {
            schema: Schema::default(),
            extra_types: extra_types(&all_inputs.shapes)?,
            ids: vec![FieldIds::new(); all_inputs.shapes.len()],
            mappings: Vec::new(),
            notes: Vec::new(),
        };
        let mut owners = Vec::new();
        for node in &nodes {
            unified.add_tree(all_inputs, node, None, &mut owners)?;
        }
        unified.add_columns(all_inputs, &owners, decode);
        for (index, shape) in all_inputs.shapes.iter().enumerate().filter(|_| !decode) {
            let mapping =
                ColumnMapping::of(&shape.schema, &unified.ids[index], &mut unified.schema);
            unified.mappings.push(mapping.in_file(all_inputs.name_of(index))?);
        }
        // All representations are known now.
        for (index, shape) in all_inputs.shapes.iter().enumerate() {
            let (ids, schema) = (&unified.ids[index], &unified.schema);
            let mut inputs = all_inputs.inputs.iter().filter(|input| input.shape == index);
            let is_empty = inputs.all(|input| input.report.entries == 0);
            let checked = match unified.mappings.get_mut(index) {
                Some(mapping) => mapping.find_missing(&shape.schema, ids, schema, is_empty),
                None if is_empty => Ok(()),
                None => check_missing(ids, schema),
            };
            checked.in_file(all_inputs.name_of(index))?;
        }
        unified.project(all_inputs, &owners);
        unified.remark(all_inputs, mode);
        unified.remark_descriptions(all_inputs, &owners);
        Ok(unified)
    }

    /// Adds a field, and all fields below it, from its owner. Projections have no source yet.
    fn add_tree(
        &mut self,
        all_inputs: &AllInputs,
        node: &Node,
        parent: Option<FieldId>,
        owners: &mut Vec<(usize, FieldId)>,
    ) -> Result<()> {
        let (shape, id) = node.owner().ok_or_else(|| Error::invalid_argument("no such field"))?;
        let field = all_inputs.shapes[shape].schema.field(id);
        let type_alias = match field.type_name == node.type_name {
            true => field.type_alias.clone(),
            false => String::new(),
        };
        let new = self.schema.add_field(Field {
            parent,
            type_name: node.type_name.clone(),
            type_alias,
            source: None,
            children: Vec::new(),
            columns: Vec::new(),
            ..field.clone()
        });
        owners.push((shape, id));
        for (ids, origin) in self.ids.iter_mut().zip(&node.origins) {
            ids.extend(origin.map(|origin| (origin, new)));
        }
        node.children
            .iter()
            .try_for_each(|child| self.add_tree(all_inputs, child, Some(new), owners))
    }

    /// Adds the columns of the owners in their order. A field that is decoded to a wider type has the columns of
    /// this type.
    fn add_columns(&mut self, all_inputs: &AllInputs, owners: &[(usize, FieldId)], decode: bool) {
        let widened = if decode { self.widened(all_inputs) } else { HashSet::new() };
        for (shape, Shape { schema, .. }) in all_inputs.shapes.iter().enumerate() {
            for column in &schema.columns {
                let Some(&field) = self.ids[shape].get(&column.field) else { continue };
                if owners.get(field.0 as usize) != Some(&(shape, column.field)) {
                    continue;
                }
                let wide = Leaf::of_name(&self.schema.field(field).type_name)
                    .filter(|_| widened.contains(&field));
                match wide {
                    None => {
                        let new = Column { field, first_element: None, ..column.clone() };
                        self.schema.add_column(new);
                    }
                    Some(leaf) if self.schema.field(field).columns.is_empty() => {
                        self.schema.add_column(Column::new(field, leaf.column_type(true)));
                    }
                    Some(_) => (),
                }
            }
        }
    }

    /// Returns the fields that have another type in some shape.
    fn widened(&self, all_inputs: &AllInputs) -> HashSet<FieldId> {
        let mut widened = HashSet::new();
        for (shape, ids) in all_inputs.shapes.iter().zip(&self.ids) {
            let other = |(&from, &to): (&FieldId, &FieldId)| {
                shape.schema.field(from).type_name != self.schema.field(to).type_name
            };
            widened.extend(ids.iter().filter(|(from, to)| other((from, to))).map(|(_, &to)| to));
        }
        widened
    }

    /// Makes the projections. Their alias columns come after all physical columns.
    fn project(&mut self, all_inputs: &AllInputs, owners: &[(usize, FieldId)]) {
        for (id, &(shape, origin)) in (0u32..).map(FieldId).zip(owners) {
            let source = all_inputs.shapes[shape].schema.field(origin).source;
            let source = source.and_then(|source| self.ids[shape].get(&source).copied());
            self.schema.fields[id.0 as usize].source = source;
            let columns = source.map(|source| self.schema.field(source).columns.clone());
            for physical in columns.unwrap_or_default() {
                self.schema.add_alias(AliasColumn { physical, field: id });
            }
        }
    }

    fn remark(&mut self, all_inputs: &AllInputs, mode: Mode) {
        let names = |schema: &Schema| {
            let mut all = Vec::new();
            names(schema, schema.top_level().map(|(id, _)| id), &mut all);
            all
        };
        let now = names(&self.schema);
        match mode {
            Mode::Strict => {}
            Mode::Union => {
                let shapes = all_inputs.shapes.iter();
                let known: Vec<HashSet<String>> =
                    shapes.map(|shape| names(&shape.schema).into_iter().collect()).collect();
                let is_lacking = |name: &&String| known.iter().any(|item| !item.contains(*name));
                let lacking = now.iter().filter(is_lacking).cloned().collect();
                for name in outermost(lacking) {
                    let inputs = all_inputs.inputs.iter();
                    let without = inputs.filter(|input| !known[input.shape].contains(&name));
                    let without: Vec<_> = without.map(|item| item.report.file.as_str()).collect();
                    self.notes.push(format!(
                        "field {name} is not in {}: it is zero, empty or without a value there",
                        listed(without.into_iter())
                    ));
                }
            }
            Mode::Filter => {
                let mut gone: Vec<String> = Vec::new();
                let all = all_inputs.shapes.iter().flat_map(|shape| names(&shape.schema));
                for name in all.filter(|name| !now.contains(name)) {
                    if !gone.contains(&name) {
                        gone.push(name);
                    }
                }
                for name in outermost(gone) {
                    self.notes.push(format!("left out field {name}, which some input lacks"));
                }
            }
        }
    }

    /// Reports the descriptions that differ between the inputs. The output has the first description.
    fn remark_descriptions(&mut self, all_inputs: &AllInputs, owners: &[(usize, FieldId)]) {
        let first = all_inputs.inputs.first().map_or("", |input| &input.report.file);
        if !all_inputs.described_otherwise.is_empty() {
            let others = listed(all_inputs.described_otherwise.iter().map(String::as_str));
            self.notes.push(format!(
                "the RNTuples differ in their descriptions: the output has what is in {first}, and not what is in {others}"
            ));
        }
        let mut differ = BTreeSet::new();
        for (shape, ids) in all_inputs.shapes.iter().zip(&self.ids) {
            for (&from, &to) in ids {
                let Some(&(owner, origin)) = owners.get(to.0 as usize) else { continue };
                let described = &all_inputs.shapes[owner].schema.field(origin).description;
                if shape.schema.field(from).description != *described {
                    differ.insert(self.schema.path(to));
                }
            }
        }
        if !differ.is_empty() {
            let fields = listed(differ.iter().map(String::as_str));
            self.notes.push(format!(
                "the inputs differ in the descriptions of fields, of which the output has the first: {fields}"
            ));
        }
    }
}

/// The largest number of names that a remark lists.
const LISTED: usize = 10;

/// Returns the first names, and the number of further names.
pub(super) fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.take(LISTED).collect::<Vec<_>>().join(", "))
}

/// Refuses fields that cannot be left without a value.
fn check_missing(ids: &FieldIds, target: &Schema) -> Result<()> {
    let present: HashSet<FieldId> = ids.values().copied().collect();
    let is_missing = |id: FieldId| !present.contains(&id);
    let mut missing = (0..target.fields.len() as u32).map(FieldId).filter(|&id| is_missing(id));
    missing.try_for_each(|id| check_empty(target, id, is_missing))
}

/// Returns the paths that are not below another path.
fn outermost(paths: Vec<String>) -> Vec<String> {
    let all: HashSet<String> = paths.iter().cloned().collect();
    let below = |path: &String| path.match_indices('.').any(|(dot, _)| all.contains(&path[..dot]));
    paths.into_iter().filter(|path| !below(path)).collect()
}

/// Collects the names of the fields that inputs may lack, except collections that only projected fields show.
fn names(schema: &Schema, level: impl Iterator<Item = FieldId>, out: &mut Vec<String>) {
    let level: Vec<FieldId> = level.collect();
    let backing = schema.backing(&level);
    for id in level.into_iter().filter(|id| backing.iter().all(|(other, _)| other != id)) {
        let field = schema.field(id);
        out.push(schema.path(id));
        let open = field.structure == Structure::Record && field.type_name.is_empty();
        let below = field.children.iter().copied();
        if open || below.clone().any(|child| schema.field(child).type_name.is_empty()) {
            names(schema, below, out);
        }
    }
}

/// Returns the streamer infos of all inputs in one list, and each other record of extra type information once.
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
