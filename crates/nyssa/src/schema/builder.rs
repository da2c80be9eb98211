//! Builds a [`Schema`] field by field, with the ids, type names and columns that ROOT would write.

use super::field_type::index_column;
use super::{
    AliasColumn, Column, ColumnId, Field, FieldId, FieldType, Leaf, Schema, Structure, check_name,
};
use crate::compression::Compression;
use crate::encoding::ColumnType;
use crate::error::{Error, Result, ResultExt};
use crate::format::MAX_FIELD_DEPTH;

impl Column {
    /// A column of the first representation with the default width of its type.
    pub fn new(field: FieldId, column_type: ColumnType) -> Self {
        Self {
            field,
            column_type: Some(column_type),
            type_code: column_type.code(),
            bits: column_type.bits(),
            representation: 0,
            first_element: None,
            value_range: None,
        }
    }

    /// Changes the type, for example from a split to an unsplit form of the same native type.
    pub fn set_type(&mut self, column_type: ColumnType) {
        self.column_type = Some(column_type);
        self.type_code = column_type.code();
        self.bits = column_type.bits();
    }
}

/// Adds fields in depth-first order, as ROOT numbers them.
#[derive(Clone, Debug)]
pub struct SchemaBuilder {
    schema: Schema,
    compressed: bool,
}

impl SchemaBuilder {
    /// An empty schema whose default columns suit `compression`.
    pub fn new(compression: Compression) -> Self {
        Self { schema: Schema::default(), compressed: compression.setting() != 0 }
    }

    /// Goes on with a schema: new fields and columns come after those it has.
    pub fn extending(schema: Schema, compression: Compression) -> Self {
        Self { schema, compressed: compression.setting() != 0 }
    }

    /// The schema so far.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The schema so far, to change descriptions, aliases or column types.
    pub fn schema_mut(&mut self) -> &mut Schema {
        &mut self.schema
    }

    /// The finished schema.
    pub fn finish(self) -> Schema {
        self.schema
    }

    /// Adds a field and everything below it; the id of the field.
    ///
    /// # Errors
    /// `InvalidArgument` for a name that is not allowed or already taken by a sibling, `Unsupported`
    /// for a type that RNTuple does not have.
    pub fn field(
        &mut self,
        parent: Option<FieldId>,
        name: &str,
        field_type: &FieldType,
    ) -> Result<FieldId> {
        self.check_sibling(parent, name)?;
        let type_name = field_type.type_name().in_field(name)?;
        let id = self.schema.add_field(plain_field(parent, name, type_name, field_type));
        match field_type {
            FieldType::Leaf(leaf) => {
                self.column(id, leaf.column_type(self.compressed));
            }
            FieldType::String => {
                self.column(id, index_column(self.compressed));
                self.column(id, ColumnType::Char);
            }
            FieldType::Vector(item) | FieldType::RVec(item) => {
                self.column(id, index_column(self.compressed));
                self.field(Some(id), "_0", item).in_field(name)?;
            }
            FieldType::Array(item, _) => {
                self.field(Some(id), "_0", item).in_field(name)?;
            }
            FieldType::Record(members) => {
                for (member, member_type) in members {
                    self.field(Some(id), member, member_type).in_field(name)?;
                }
            }
            FieldType::Cardinality32 | FieldType::Cardinality64 => {
                return Err(Error::invalid_argument(
                    "a cardinality field has no data of its own: project it from a collection",
                )
                .at(|place| place.field = Some(name.to_owned())));
            }
        }
        Ok(id)
    }

    /// Adds a top-level projected field: `sources` are the fields with the data, one for every field
    /// of `field_type` in depth-first order. `RVec<float>` over an untyped collection of records
    /// takes the collection and the member; a cardinality takes the collection.
    ///
    /// # Errors
    /// `InvalidArgument` for a bad name, a wrong number of sources, a source that is itself projected
    /// or has another structure; `Unsupported` for arrays, which the specification leaves out.
    pub fn project(
        &mut self,
        name: &str,
        field_type: &FieldType,
        sources: &[FieldId],
    ) -> Result<FieldId> {
        self.check_sibling(None, name)?;
        let mut sources = sources.iter().copied();
        let id = self.project_below(None, name, field_type, &mut sources).in_field(name)?;
        match sources.next() {
            None => Ok(id),
            Some(_) => Err(Error::invalid_argument("a projected field got too many sources"))
                .in_field(name),
        }
    }

    fn project_below(
        &mut self,
        parent: Option<FieldId>,
        name: &str,
        field_type: &FieldType,
        sources: &mut dyn Iterator<Item = FieldId>,
    ) -> Result<FieldId> {
        let source = sources
            .next()
            .ok_or_else(|| Error::invalid_argument("a projected field got too few sources"))?;
        let mut field = plain_field(parent, name, field_type.type_name()?, field_type);
        self.check_source(&field, field_type, source)?;
        field.source = Some(source);
        let id = self.schema.add_field(field);
        let physical = self.schema.field(source).columns.clone();
        for physical in physical {
            self.schema.add_alias(AliasColumn { physical, field: id });
        }
        match field_type {
            FieldType::Vector(item) | FieldType::RVec(item) => {
                self.project_below(Some(id), "_0", item, sources)?;
            }
            FieldType::Record(members) => {
                for (member, member_type) in members {
                    self.project_below(Some(id), member, member_type, sources)?;
                }
            }
            FieldType::Array(..) => {
                return Err(Error::unsupported("fixed-size arrays cannot be projected"));
            }
            _ => {}
        }
        Ok(id)
    }

    /// Specification, "Field Description": restrictions on projections.
    fn check_source(&self, field: &Field, field_type: &FieldType, source: FieldId) -> Result<()> {
        let Some(original) = self.schema.fields.get(source.0 as usize) else {
            return Err(Error::invalid_argument("the source of a projected field does not exist"));
        };
        let cardinality = matches!(field_type, FieldType::Cardinality32 | FieldType::Cardinality64);
        let fits = match cardinality {
            true => original.structure == Structure::Collection,
            false => {
                original.structure == field.structure
                    && (field.structure != Structure::Leaf || original.type_name == field.type_name)
            }
        };
        if !fits || original.source.is_some() {
            return Err(Error::invalid_argument(format!(
                "a field of type {:?} cannot be projected from {} of type {:?}",
                field.type_name,
                self.schema.path(source),
                original.type_name
            )));
        }
        Ok(())
    }

    pub(super) fn check_sibling(&self, parent: Option<FieldId>, name: &str) -> Result<()> {
        check_name("a field", name)?;
        let above = |id: &FieldId| self.schema.fields.get(id.0 as usize)?.parent;
        if std::iter::successors(parent, above).count() >= MAX_FIELD_DEPTH {
            return Err(Error::invalid_argument(format!(
                "fields can be nested {MAX_FIELD_DEPTH} deep at most"
            )));
        }
        let taken = match parent {
            None => self.schema.find(name).is_some(),
            Some(parent) => {
                let parent = self.schema.fields.get(parent.0 as usize).ok_or_else(|| {
                    Error::invalid_argument(format!("the parent of field {name} does not exist"))
                })?;
                parent.children.iter().any(|&child| self.schema.field(child).name == name)
            }
        };
        if taken {
            return Err(Error::invalid_argument(format!("there is already a field {name:?}")));
        }
        Ok(())
    }

    fn column(&mut self, field: FieldId, column_type: ColumnType) -> ColumnId {
        self.schema.add_column(Column::new(field, column_type))
    }
}

/// A field record without columns; versions are 0, as ROOT writes them for all of these types.
fn plain_field(
    parent: Option<FieldId>,
    name: &str,
    type_name: String,
    field_type: &FieldType,
) -> Field {
    let (structure, array_size) = match field_type {
        FieldType::Vector(_) | FieldType::RVec(_) => (Structure::Collection, None),
        FieldType::Record(_) => (Structure::Record, None),
        FieldType::Array(_, size) => (Structure::Leaf, Some(*size)),
        _ => (Structure::Leaf, None),
    };
    let type_alias = match field_type {
        FieldType::Leaf(leaf) => Leaf::type_alias(*leaf),
        _ => "",
    };
    Field {
        parent,
        name: name.to_owned(),
        type_name,
        type_alias: type_alias.to_owned(),
        description: String::new(),
        field_version: 0,
        type_version: 0,
        structure,
        array_size,
        source: None,
        type_checksum: None,
        children: Vec::new(),
        columns: Vec::new(),
    }
}
