//! Finds projected fields by path. A projected field shows the columns of another field (specification, "Field
//! Description").

use std::collections::HashMap;

use nyssa_root::error::{Error, Result, ResultExt};

use super::{AliasColumn, ColumnId, Field, FieldId, Schema, SchemaBuilder, Structure};

/// The prefix of a path that means the size of a collection, not its content.
const SIZE_MARK: char = '#';
/// The type of a field that shows a size.
const SIZE_TYPE: &str = "ROOT::RNTupleCardinality<std::uint64_t>";

impl SchemaBuilder {
    /// Adds a top-level projected field that shows the field at `path`. The path `jets` shows the field under
    /// another name, `jets.pt` shows the member of each item (`std::vector<float>`), and `#jets` shows the
    /// number of items. The item fields `_0` of collections can be left out of the path.
    ///
    /// # Errors
    /// `NotFound` when there is no such field; `InvalidArgument` for a name that is taken or not allowed, for
    /// the size of a field that is not a collection, and for a projection of a projection; `Unsupported` for
    /// fixed-size arrays and variants, which the specification does not allow.
    pub fn project_path(&mut self, name: &str, path: &str) -> Result<FieldId> {
        self.check_sibling(None, name)?;
        let schema = self.schema_mut();
        schema.project_path(name, path).in_field(name)
    }
}

impl Schema {
    /// Returns the names of projected top-level fields, by the field whose data they show. Users know this field by
    /// the name of the projected field.
    pub fn shown_names(&self) -> HashMap<FieldId, String> {
        let mut names = HashMap::new();
        for field in &self.fields {
            let Some(source) = field.source else { continue };
            let mut top = field;
            while let Some(parent) = top.parent {
                top = self.field(parent);
            }
            // A projected list also shows offsets, but they are the offsets of the counter.
            if field.structure != Structure::Collection && top.source.is_some() {
                names.insert(source, top.name.clone());
            }
        }
        names
    }

    /// Returns the name by which users know a field: the name of the projected field that shows it, or else its path.
    pub fn shown_path(&self, id: FieldId) -> String {
        self.shown_names().remove(&id).unwrap_or_else(|| self.path(id))
    }

    /// Returns the physical columns with the data of a field, without the columns of its subfields. A projected list
    /// that shows one member of the items does not own its offsets: they belong to the collection, and its other
    /// members share them.
    pub fn data_columns(&self, id: FieldId) -> &[ColumnId] {
        let field = self.field(id);
        let part = |source: FieldId| {
            let item = field.children.first().and_then(|&item| self.field(item).source);
            item.is_some_and(|item| self.field(item).parent != Some(source))
        };
        match field.source {
            Some(source) if field.structure == Structure::Collection && part(source) => &[],
            _ => &field.columns,
        }
    }

    fn project_path(&mut self, name: &str, path: &str) -> Result<FieldId> {
        let (size, path) = match path.strip_prefix(SIZE_MARK) {
            Some(path) => (true, path),
            None => (false, path),
        };
        let (crossed, target) = self.walk(path)?;
        if size && self.field(target).structure != Structure::Collection {
            return Err(Error::invalid_argument(format!(
                "{path:?} is not a collection and has no size"
            )));
        }
        self.check_projectable(target)?;
        let mut parent = None;
        for (depth, &collection) in crossed.iter().enumerate() {
            let inner = if size { SIZE_TYPE } else { &self.field(target).type_name };
            let type_name = (depth..crossed.len()).fold(inner.to_owned(), |inner, _| {
                if inner.is_empty() { inner } else { format!("std::vector<{inner}>") }
            });
            let name = if depth == 0 { name } else { "_0" };
            parent = Some(self.add_projection(parent, name, type_name, collection));
        }
        let name = if crossed.is_empty() { name } else { "_0" };
        let id = if size {
            let id = self.add_projection(parent, name, SIZE_TYPE.to_owned(), target);
            self.fields[id.0 as usize].structure = Structure::Leaf;
            id
        } else {
            self.copy_projected(parent, name, target)
        };
        // This is the top-level field of the fields that were added.
        Ok(self.above(id))
    }

    /// Returns the field of a path, and the surrounding collections, outermost first.
    fn walk(&self, path: &str) -> Result<(Vec<FieldId>, FieldId)> {
        let mut parts = path.split('.');
        let first = parts.next().unwrap_or_default();
        let mut target = self
            .find(first)
            .ok_or_else(|| Error::not_found(format!("there is no field {first:?} to project")))?;
        let mut crossed = Vec::new();
        for part in parts {
            let children = |id: FieldId| self.field(id).children.iter().copied();
            while self.field(target).structure == Structure::Collection {
                crossed.push(target);
                target = children(target).next().unwrap_or(target);
            }
            let inside = crossed.last().is_some_and(|&last| children(last).eq([target]));
            if inside && part == self.field(target).name {
                continue;
            }
            let member = children(target).find(|&child| self.field(child).name == part);
            target = member.ok_or_else(|| {
                Error::not_found(format!("{} has no member {part:?}", self.path(target)))
            })?;
        }
        Ok((crossed, target))
    }

    fn check_projectable(&self, id: FieldId) -> Result<()> {
        let field = self.field(id);
        if field.source.is_some() {
            return Err(Error::invalid_argument(format!(
                "{} is itself projected: project its source",
                self.path(id)
            )));
        }
        let array = field.array_size.is_some() && !field.children.is_empty();
        if array || field.structure == Structure::Variant {
            return Err(Error::unsupported(format!(
                "{} cannot be projected: RNTuple has no projections of fixed-size arrays and \
                 variants",
                self.path(id)
            )));
        }
        field.children.iter().try_for_each(|&child| self.check_projectable(child))
    }

    /// Makes a projection of `source` and all its subfields.
    fn copy_projected(&mut self, parent: Option<FieldId>, name: &str, source: FieldId) -> FieldId {
        let type_name = self.field(source).type_name.clone();
        let id = self.add_projection(parent, name, type_name, source);
        for child in self.field(source).children.clone() {
            let name = self.field(child).name.clone();
            self.copy_projected(Some(id), &name, child);
        }
        id
    }

    fn add_projection(
        &mut self,
        parent: Option<FieldId>,
        name: &str,
        type_name: String,
        source: FieldId,
    ) -> FieldId {
        let original = self.field(source);
        let same = original.type_name == type_name;
        let id = self.add_field(Field {
            parent,
            name: name.to_owned(),
            type_name,
            type_alias: if same { original.type_alias.clone() } else { String::new() },
            description: String::new(),
            source: Some(source),
            type_version: if same { original.type_version } else { 0 },
            type_checksum: original.type_checksum.filter(|_| same),
            other_flags: if same { original.other_flags } else { 0 },
            children: Vec::new(),
            columns: Vec::new(),
            ..original.clone()
        });
        for physical in self.field(source).columns.clone() {
            self.add_alias(AliasColumn { physical, field: id });
        }
        id
    }
}
