//! Handles fields that are not projected from the same place in all inputs, or have their own data in some inputs.
//!
//! The pages of such fields cannot be copied. If everything is decoded, the fields have their own data in the output:
//!
//! ```text
//! a.root   Jet_pt                    has data of its own
//! b.root   Jet_pt                    shows _collection_nJet._0.Jet_pt
//! output   Jet_pt                    has data of its own; the collection has no Jet_pt
//! ```

use std::collections::{HashMap, HashSet};

use nyssa_rntuple::schema::{AliasColumn, Column, Field, FieldId, Leaf, Schema, Structure};

use super::shape::Shape;

/// Gives fields their own data in all shapes, if the shapes have the data of these fields in different places.
pub(super) fn settle(shapes: &mut [Shape]) {
    let mut origins: HashMap<&str, Vec<Option<String>>> = HashMap::new();
    let mut names: HashSet<String> = HashSet::new();
    for schema in shapes.iter().map(|shape| &shape.schema) {
        for (id, field) in schema.top_level() {
            // The subfields of fields with their own data are matched one by one.
            let mut origin = Vec::new();
            let mut add = |part: &Field| origin.push(part.source.map(|id| schema.path(id)));
            if field.source.is_some() {
                schema.each_below(id, &mut |id| add(schema.field(id)));
            }
            match origins.get(field.name.as_str()) {
                Some(before) if *before != origin => _ = names.insert(field.name.clone()),
                Some(_) => (),
                None => _ = origins.insert(&field.name, origin),
            }
        }
    }
    for shape in shapes.iter_mut().filter(|_| !names.is_empty()) {
        let mut plain = Plain::new(&shape.schema, &names);
        for (id, &origin) in plain.top.clone().iter().zip(&shape.origins) {
            plain.top_level(*id, origin);
        }
        plain.project();
        (shape.schema, shape.origins) = (plain.target, plain.origins);
    }
}

/// A schema with fewer projections, while it is made.
struct Plain<'a> {
    source: &'a Schema,
    top: Vec<FieldId>,
    names: &'a HashSet<String>,
    /// The collections that only projected fields show, and the fields that are still projected.
    backing: HashSet<FieldId>,
    shown: HashSet<FieldId>,
    target: Schema,
    /// The field of the file for each top-level field of `target`.
    origins: Vec<FieldId>,
    ids: HashMap<FieldId, FieldId>,
}

impl<'a> Plain<'a> {
    fn new(source: &'a Schema, names: &'a HashSet<String>) -> Self {
        let top: Vec<FieldId> = source.top_level().map(|(id, _)| id).collect();
        let backing = source.backing(&top).into_iter().map(|(id, _)| id).collect();
        let mut shown = HashSet::new();
        for &id in top.iter().filter(|&&id| !names.contains(&source.field(id).name)) {
            source.each_below(id, &mut |id| shown.extend(source.field(id).source));
        }
        let (target, origins, ids) = (Schema::default(), Vec::new(), HashMap::new());
        Self { source, top, names, backing, shown, target, origins, ids }
    }

    fn top_level(&mut self, id: FieldId, origin: FieldId) {
        let field = self.source.field(id);
        let gone = self.backing.contains(&id);
        if gone && !self.is_shown(id) {
            return;
        }
        let own = field.source.is_some() && self.names.contains(&field.name);
        self.copy(id, None, own, gone);
        self.origins.push(origin);
    }

    /// Returns whether the field, or a field below it, still has a projection.
    fn is_shown(&self, id: FieldId) -> bool {
        let below = &self.source.field(id).children;
        self.shown.contains(&id) || below.iter().any(|&child| self.is_shown(child))
    }

    /// Copies a field. With `own`, a projected field gets its own data. With `only_shown`, only the members of
    /// records that projected fields still show are copied.
    fn copy(&mut self, id: FieldId, parent: Option<FieldId>, own: bool, only_shown: bool) {
        let field = self.source.field(id);
        let sized = own && field.structure == Structure::Leaf;
        let leaf = sized.then(|| Leaf::of_name(counted(&field.type_name)?)).flatten();
        let type_name = leaf.map(|leaf| leaf.type_name().to_owned());
        let new = self.target.add_field(Field {
            parent,
            type_name: type_name.unwrap_or_else(|| field.type_name.clone()),
            source: None,
            children: Vec::new(),
            columns: Vec::new(),
            ..field.clone()
        });
        self.ids.insert(id, new);
        let first = self.source.representations(id).next().unwrap_or_default();
        let columns = match (leaf, own, field.source) {
            (Some(leaf), ..) => vec![Column::new(new, leaf.column_type(true))],
            (None, true, _) => first.iter().map(|&id| self.source.column(id).clone()).collect(),
            (None, false, None) => {
                field.columns.iter().map(|&id| self.source.column(id).clone()).collect()
            }
            (None, false, Some(_)) => Vec::new(),
        };
        for column in columns {
            self.target.add_column(Column { field: new, ..column });
        }
        let open = field.structure == Structure::Record && field.type_name.is_empty();
        for &child in &field.children {
            if !only_shown || !open || self.is_shown(child) {
                self.copy(child, Some(new), own, only_shown);
            }
        }
    }

    /// Makes the remaining projections.
    fn project(&mut self) {
        for (index, field) in (0u32..).zip(&self.source.fields) {
            let Some(&new) = self.ids.get(&FieldId(index)) else { continue };
            let top = self.source.field(self.source.above(FieldId(index)));
            let Some(source) = field.source.filter(|_| !self.names.contains(&top.name)) else {
                continue;
            };
            let Some(&source) = self.ids.get(&source) else { continue };
            self.target.fields[new.0 as usize].source = Some(source);
            for physical in self.target.field(source).columns.clone() {
                self.target.add_alias(AliasColumn { physical, field: new });
            }
        }
    }
}

/// Returns the integer type that shows the size of a collection.
fn counted(type_name: &str) -> Option<&str> {
    type_name.strip_prefix("ROOT::RNTupleCardinality<")?.strip_suffix('>')
}
