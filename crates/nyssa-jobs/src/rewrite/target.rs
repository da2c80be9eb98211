//! Makes the schema of the output from the schema of the input and the selected fields.

use std::collections::HashMap;

use nyssa_rntuple::schema::{
    AliasColumn, Column, Field, FieldId, FieldType, Leaf, Schema, SchemaBuilder,
};
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};

use super::columns::{choose, slots};
use super::select::Selection;
use super::split::NewTypes;

/// The start of the names of cardinality types.
const CARDINALITY: &str = "ROOT::RNTupleCardinality<";

/// The schema of the output, and the origins of its fields in the source.
#[derive(Clone, Debug)]
pub struct OutputSchema {
    /// The fields, with the types, versions, checksums and descriptions of the input, and with new columns.
    pub schema: Schema,
    /// The field of the source for each field, in order of their ids.
    pub sources: Vec<FieldId>,
    /// Notes for users on projections that became other fields.
    pub notes: Vec<String>,
}

impl OutputSchema {
    /// Makes the schema with all fields of `source`, for pages with or without compression.
    ///
    /// # Errors
    /// `Unsupported` for unknown columns.
    pub(crate) fn of(source: &Schema, compressed: bool) -> Result<Self> {
        Self::new(source, &Selection::new(source, &[], &[])?, compressed)
    }

    /// Makes the schema with the fields of `source` that `selection` selects, for pages with or without compression.
    ///
    /// Fields that were added late become ordinary fields. A projected field stays projected if its source is
    /// selected. Otherwise it gets its own columns, and a cardinality becomes a number.
    ///
    /// # Errors
    /// `InvalidArgument` if no field is left; `Unsupported` for unknown columns.
    pub(super) fn new(source: &Schema, selection: &Selection, compressed: bool) -> Result<Self> {
        Self::with_types(source, selection, &NewTypes::new(), compressed)
    }

    /// Makes the schema as [`Self::new`] does, with other `types` of some top-level fields.
    ///
    /// # Errors
    /// As for [`Self::new`]; `Unsupported` for types that RNTuple does not have.
    pub(super) fn with_types(
        source: &Schema,
        selection: &Selection,
        types: &NewTypes,
        compressed: bool,
    ) -> Result<Self> {
        let mut target = Self { schema: Schema::default(), sources: Vec::new(), notes: Vec::new() };
        let mut ids = HashMap::new();
        let chosen =
            (0u32..).map(FieldId).zip(&source.fields).filter(|(id, _)| selection.keeps(*id));
        for (id, field) in chosen.clone() {
            if let Some(field_type) = types.get(&id) {
                target.retyped(id, field, field_type, compressed)?;
                continue;
            }
            if types.contains_key(&source.above(id)) {
                continue;
            }
            let parent = match field.parent {
                None => None,
                Some(parent) => Some(*ids.get(&parent).ok_or_else(|| orphan(source, id))?),
            };
            let (children, columns) = (Vec::new(), Vec::new());
            let new = Field { parent, children, columns, source: None, ..field.clone() };
            ids.insert(id, target.schema.add_field(new));
            target.sources.push(id);
        }
        if target.schema.fields.is_empty() {
            return Err(Error::invalid_argument("no field is left to write"));
        }
        for (id, field) in source.top_level().filter(|(id, _)| selection.keeps(*id)) {
            if field.source.is_some() && !target.project(source, id, &ids) {
                target.make_real(source, id, &ids);
            }
        }
        for (&id, new) in target.sources.clone().iter().zip(0u32..) {
            if !types.contains_key(&id) {
                target.columns(source, id, FieldId(new), compressed).in_field(&source.path(id))?;
            }
        }
        target.aliases();
        Ok(target)
    }

    /// Adds a field with another type than in the source.
    fn retyped(
        &mut self,
        id: FieldId,
        field: &Field,
        field_type: &FieldType,
        compressed: bool,
    ) -> Result<()> {
        let compression = if compressed { Compression::DEFAULT } else { Compression::NONE };
        let mut builder = SchemaBuilder::extending(std::mem::take(&mut self.schema), compression);
        let new = builder.field(None, &field.name, field_type)?;
        self.schema = builder.finish();
        self.schema.fields[new.0 as usize].description.clone_from(&field.description);
        self.sources.resize(self.schema.fields.len(), id);
        let how = match field_type {
            FieldType::Streamed(_) => "streamed",
            _ => "stored in columns of their members",
        };
        let (class, name) = (&field.type_name, &field.name);
        self.notes.push(format!("the objects of class {class} in {name} are {how}"));
        Ok(())
    }

    /// Makes a field and its subfields projections of their sources in the new schema. If a source is missing there,
    /// changes nothing and returns false.
    fn project(&mut self, source: &Schema, id: FieldId, ids: &HashMap<FieldId, FieldId>) -> bool {
        let mut projections = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let field = source.field(id);
            let Some(new) = ids.get(&id) else { continue };
            let Some(old) = field.source else { return false };
            // The source of a projection must have its own data.
            let Some(shown) = ids.get(&old) else { return false };
            if source.field(old).source.is_some() {
                return false;
            }
            projections.push((*new, *shown));
            open.extend(&field.children);
        }
        for (projected, shown) in projections {
            self.schema.fields[projected.0 as usize].source = Some(shown);
        }
        true
    }

    /// Turns a cardinality whose collection is not in the schema into a number.
    fn make_real(&mut self, source: &Schema, id: FieldId, ids: &HashMap<FieldId, FieldId>) {
        let path = source.path(id);
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            open.extend(&source.field(id).children);
            let Some(new) = ids.get(&id) else { continue };
            let field = &mut self.schema.fields[new.0 as usize];
            if let Some(number) = field.type_name.strip_prefix(CARDINALITY) {
                field.type_name = number.trim_end_matches('>').trim().to_owned();
                field.type_alias.clear();
            }
        }
        self.notes.push(format!(
            "{path} was projected from a field that is left out or streamed: it is written with data of its own"
        ));
    }

    fn columns(
        &mut self,
        source: &Schema,
        old: FieldId,
        new: FieldId,
        compressed: bool,
    ) -> Result<()> {
        let field = self.schema.field(new);
        if field.source.is_some() {
            return Ok(());
        }
        let before = source.field(old);
        let mut columns = Vec::new();
        if before.source.is_some() && before.type_name.starts_with(CARDINALITY) {
            let leaf = match field.type_name.as_str() {
                "std::uint32_t" => Leaf::UInt32,
                _ => Leaf::UInt64,
            };
            columns.push(Column::new(new, leaf.column_type(compressed)));
        } else {
            for slot in slots(source, before) {
                columns.push(choose(new, field, &slot, compressed)?);
            }
        }
        columns.into_iter().for_each(|column| {
            self.schema.add_column(column);
        });
        Ok(())
    }

    /// Adds the alias columns. They come after all physical columns, in the order of their fields.
    fn aliases(&mut self) {
        for id in (0..self.schema.fields.len() as u32).map(FieldId) {
            let Some(shown) = self.schema.field(id).source else { continue };
            for physical in self.schema.field(shown).columns.clone() {
                self.schema.add_alias(AliasColumn { physical, field: id });
            }
        }
    }
}

fn orphan(source: &Schema, id: FieldId) -> Error {
    Error::out_of_spec(format!("field {} comes before its parent", source.path(id)))
}
