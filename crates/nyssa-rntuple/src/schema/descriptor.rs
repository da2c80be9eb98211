//! Defines the schema: the fields and columns of the header and of the schema extension.

use std::collections::HashSet;

use nyssa_root::streamer::info::StreamerList;
use nyssa_root::type_name;

use super::{AliasColumn, Column, ColumnId, Field, FieldId, Structure};

/// All fields and columns of an RNTuple, in order of their on-disk ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The fields by [`FieldId`].
    pub fields: Vec<Field>,
    /// The physical columns by [`ColumnId`].
    pub columns: Vec<Column>,
    /// The alias columns of projected fields.
    pub aliases: Vec<AliasColumn>,
}

impl Schema {
    /// Returns the field with this id. The id must belong to this schema.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.0 as usize]
    }

    /// Returns the column with this id. The id must belong to this schema.
    pub fn column(&self, id: ColumnId) -> &Column {
        &self.columns[id.0 as usize]
    }

    /// Returns the top-level fields in order.
    pub fn top_level(&self) -> impl Iterator<Item = (FieldId, &Field)> {
        (0u32..).map(FieldId).zip(&self.fields).filter(|(_, field)| field.parent.is_none())
    }

    /// Returns the top-level field with this name.
    pub fn find(&self, name: &str) -> Option<FieldId> {
        self.top_level().find(|(_, field)| field.name == name).map(|(id, _)| id)
    }

    /// Returns whether the schema has streamer fields.
    pub fn has_streamed_objects(&self) -> bool {
        self.fields.iter().any(|field| field.structure == Structure::Streamer)
    }

    /// Returns the names of the classes whose members are fields.
    pub fn classes(&self) -> HashSet<&str> {
        let classes = self.fields.iter().filter(|field| field.is_class());
        classes.map(|field| field.type_name.as_str()).collect()
    }

    /// Returns the streamer infos of [`Schema::classes`] in `list`. They are not needed to read the fields; with them,
    /// fields can become streamer fields.
    ///
    /// See `nyssa rewrite --streamed`.
    pub fn infos_of_classes(&self, list: &StreamerList) -> StreamerList {
        let classes = self.classes();
        list.versions(|name| classes.contains(type_name::normalize(name).as_str()))
    }

    /// Returns the top-level field of a field. It can be the field itself.
    pub fn above(&self, id: FieldId) -> FieldId {
        std::iter::successors(Some(id), |&id| self.field(id).parent).last().unwrap_or(id)
    }

    /// Calls `take` with a field and all its subfields.
    pub fn each_below(&self, id: FieldId, take: &mut impl FnMut(FieldId)) {
        take(id);
        self.field(id).children.iter().for_each(|&child| self.each_below(child, take));
    }

    /// Returns the dotted path of a field, such as `_collection0._0.pt`.
    pub fn path(&self, id: FieldId) -> String {
        let field = self.field(id);
        match field.parent {
            Some(parent) => format!("{}.{}", self.path(parent), field.name),
            None => field.name.clone(),
        }
    }

    /// Returns the number of values of a field in each entry. Returns `None` inside collections and variants,
    /// and when the number overflows.
    pub fn repetitions(&self, id: FieldId) -> Option<u64> {
        let field = self.field(id);
        let above = match field.parent {
            None => 1,
            Some(parent) => match self.field(parent).structure {
                Structure::Collection | Structure::Variant => return None,
                _ => self.repetitions(parent)?,
            },
        };
        above.checked_mul(field.array_size.unwrap_or(1))
    }

    /// Appends a field and links it to its parent. Returns its id.
    pub fn add_field(&mut self, field: Field) -> FieldId {
        let id = FieldId(self.fields.len() as u32);
        if let Some(parent) = field.parent {
            self.fields[parent.0 as usize].children.push(id);
        }
        self.fields.push(field);
        id
    }

    /// Appends a physical column and links it to its field. Returns its id.
    pub fn add_column(&mut self, column: Column) -> ColumnId {
        let id = ColumnId(self.columns.len() as u32);
        self.fields[column.field.0 as usize].columns.push(id);
        self.columns.push(column);
        id
    }

    /// Appends an alias column and links its physical column to the projected field.
    pub fn add_alias(&mut self, alias: AliasColumn) {
        self.fields[alias.field.0 as usize].columns.push(alias.physical);
        self.aliases.push(alias);
    }
}
