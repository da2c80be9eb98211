//! Builds a [`Schema`] field by field, with the ids, type names and columns that ROOT would write.

use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::StreamerList;

use super::{
    AliasColumn, Class, Column, Field, FieldId, FieldType, Schema, Structure, check_name,
    index_column,
};
use crate::encoding::{ColumnType, Encoding};

/// The maximum depth of nested fields. Code may go through the tree of fields recursively.
pub const MAX_FIELD_DEPTH: usize = 200;

impl Column {
    /// Makes a column of the first representation with the default width of its type.
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

    /// Changes the type, for example from a split to an unsplit type of equal values.
    pub fn set_type(&mut self, column_type: ColumnType) {
        self.column_type = Some(column_type);
        self.type_code = column_type.code();
        self.bits = column_type.bits();
    }

    /// Returns the type, the bits and the range of values, or `None` for an unknown type.
    pub fn encoding(&self) -> Option<Encoding> {
        let (bits, range) = (self.bits, self.value_range);
        self.column_type.map(|column_type| Encoding { column_type, bits, range })
    }

    /// Changes the type, the bits and the range of values.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        self.set_type(encoding.column_type);
        self.bits = encoding.bits;
        self.value_range = encoding.range;
    }
}

/// A builder that adds fields in depth-first order, as ROOT numbers them.
#[derive(Clone, Debug)]
pub struct SchemaBuilder {
    schema: Schema,
    compressed: bool,
    streamer_infos: StreamerList,
}

impl SchemaBuilder {
    /// Makes an empty schema. Default columns depend on `compression`.
    pub fn new(compression: Compression) -> Self {
        Self::extending(Schema::default(), compression)
    }

    /// Makes the builder for an existing schema. New fields and columns get the next ids.
    pub fn extending(schema: Schema, compression: Compression) -> Self {
        let compressed = compression.setting() != 0;
        Self { schema, compressed, streamer_infos: StreamerList::default() }
    }

    /// Returns the current schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the current schema, so that descriptions, alias columns and column types can be changed.
    pub fn schema_mut(&mut self) -> &mut Schema {
        &mut self.schema
    }

    /// Adds streamer infos of the classes of fields that are added, whose objects are stored by ROOT's streamer.
    pub fn describe(&mut self, infos: &StreamerList) {
        self.streamer_infos.merge(infos);
    }

    /// Returns the streamer infos.
    pub(crate) fn streamer_infos(&self) -> &StreamerList {
        &self.streamer_infos
    }

    /// Returns the finished schema.
    pub fn finish(self) -> Schema {
        self.schema
    }

    /// Adds a field and its subfields. Returns the id of the field.
    ///
    /// # Errors
    /// `InvalidArgument` for a name that is not allowed or already taken by a sibling; `Unsupported` for a type
    /// that RNTuple does not have.
    pub fn field(
        &mut self,
        parent: Option<FieldId>,
        name: &str,
        field_type: &FieldType,
    ) -> Result<FieldId> {
        self.check_sibling(parent, name)?;
        let path = match parent {
            Some(parent) => format!("{}.{name}", self.schema.path(parent)),
            None => name.to_owned(),
        };
        if matches!(field_type, FieldType::Cardinality32 | FieldType::Cardinality64) {
            return Err(Error::invalid_argument(
                "a cardinality field has no data of its own: project it from a collection",
            ))
            .in_field(&path);
        }
        let id = self.schema.add_field(plain_field(parent, name, field_type).in_field(&path)?);
        for column in own_columns(field_type, self.compressed) {
            self.schema.add_column(Column::new(id, column));
        }
        for (child, child_type) in field_type.subfields() {
            self.field(Some(id), &child, &child_type)?;
        }
        Ok(id)
    }

    /// Adds a top-level projected field. `sources` are the fields with the data: one for every field of
    /// `field_type`, in depth-first order. For example, `RVec<float>` over an untyped collection of records
    /// takes the collection and the member; a cardinality takes the collection.
    ///
    /// # Errors
    /// `InvalidArgument` for a name that is not allowed, a wrong number of sources, and a source that is
    /// itself projected or has another structure; `Unsupported` for arrays and variants, which the
    /// specification does not allow.
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
        let mut field = plain_field(parent, name, field_type)?;
        self.check_source(&field, field_type, source)?;
        if field.array_size.is_some() || field.structure == Structure::Variant {
            return Err(Error::unsupported("fixed-size arrays and variants cannot be projected"));
        }
        field.source = Some(source);
        let id = self.schema.add_field(field);
        let physical = self.schema.field(source).columns.clone();
        for physical in physical {
            self.schema.add_alias(AliasColumn { physical, field: id });
        }
        for (child, child_type) in field_type.subfields() {
            self.project_below(Some(id), &child, &child_type, sources)?;
        }
        Ok(id)
    }

    /// Checks the restrictions on projections (specification, "Field Description").
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
            return Err(Error::invalid_argument(format!("the field {name:?} already exists")));
        }
        Ok(())
    }
}

/// Returns the default columns of the field itself, as in ROOT.
fn own_columns(field_type: &FieldType, compressed: bool) -> Vec<ColumnType> {
    let index = index_column(compressed);
    match field_type {
        FieldType::Leaf(leaf) => vec![leaf.column_type(compressed)],
        FieldType::String => vec![index, ColumnType::Char],
        FieldType::Streamed(_) => vec![index, ColumnType::Byte],
        FieldType::Bitset(_) => vec![ColumnType::Bit],
        FieldType::Variant(_) => vec![ColumnType::Switch],
        _ if structure(field_type) == Structure::Collection => vec![index],
        _ => Vec::new(),
    }
}

fn structure(field_type: &FieldType) -> Structure {
    use FieldType as T;
    match field_type {
        T::Vector(_)
        | T::RVec(_)
        | T::Set(..)
        | T::Map(..)
        | T::Optional(_)
        | T::UniquePtr(_)
        | T::Collection(..) => Structure::Collection,
        T::Record(_) | T::Class(_) | T::Pair(_) | T::Tuple(_) => Structure::Record,
        T::Variant(_) => Structure::Variant,
        T::Streamed(_) => Structure::Streamer,
        T::Leaf(_)
        | T::String
        | T::Array(..)
        | T::Bitset(_)
        | T::Atomic(_)
        | T::Enum(..)
        | T::Cardinality32
        | T::Cardinality64 => Structure::Leaf,
    }
}

/// Makes a field without columns. Its versions are 0, as ROOT writes them for all types except classes.
fn plain_field(parent: Option<FieldId>, name: &str, field_type: &FieldType) -> Result<Field> {
    let array_size = match field_type {
        FieldType::Array(_, size) | FieldType::Bitset(size) => Some(*size),
        _ => None,
    };
    let (type_version, type_checksum) = match field_type {
        FieldType::Class(Class { version, checksum, .. }) => (*version, *checksum),
        _ => (0, None),
    };
    let type_alias = field_type.type_alias()?;
    let field = Field::new(parent, name, &field_type.type_name()?, structure(field_type));
    Ok(Field { type_alias, type_version, array_size, type_checksum, ..field })
}
