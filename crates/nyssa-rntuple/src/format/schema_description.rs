//! Reads and writes the four lists that describe a schema, in the header and in the footer's schema extension
//! (specification, "Header Envelope", "Field Description", "Column Description").

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

use super::{ExtraType, frame, put};
use crate::encoding::ColumnType;
use crate::schema::{
    AliasColumn, Column, ColumnId, Field, FieldId, MAX_FIELD_DEPTH, Schema, Structure,
};

const REPETITIVE: u16 = 0x01;
const PROJECTED: u16 = 0x02;
const TYPE_CHECKSUM: u16 = 0x04;
const STRUCTURE_OF_ARRAYS: u16 = 0x08;
const DEFERRED: u16 = 0x01;
const VALUE_RANGE: u16 = 0x02;

/// The minimum size of a field record in bytes: frame, numbers, four empty strings.
const MIN_FIELD: usize = 8 + 16 + 16;
/// The minimum size of a column record, in bytes.
const MIN_COLUMN: usize = 8 + 12;
/// The minimum size of an alias column record, in bytes.
const MIN_ALIAS: usize = 8 + 8;

/// The records in the form on disk. Ids count over the header and the extension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemaDescription {
    /// The field records. Here `parent` is the stored id. A top-level field stores its own id. `children` and
    /// `columns` are empty.
    pub fields: Vec<Field>,
    /// The records of physical columns.
    pub columns: Vec<Column>,
    /// The records of alias columns.
    pub aliases: Vec<AliasColumn>,
    /// The extra type information.
    pub extra_types: Vec<ExtraType>,
}

impl SchemaDescription {
    /// Makes the description of a whole schema, for a header.
    pub fn of(schema: &Schema, extra_types: Vec<ExtraType>) -> Self {
        let fields = (0u32..)
            .zip(&schema.fields)
            .map(|(id, field)| Field {
                parent: field.parent.or(Some(FieldId(id))),
                children: Vec::new(),
                columns: Vec::new(),
                ..field.clone()
            })
            .collect();
        let (columns, aliases) = (schema.columns.clone(), schema.aliases.clone());
        Self { fields, columns, aliases, extra_types }
    }

    /// Makes the description of the part of `schema` that is not in `header`, for a footer.
    pub fn beyond(header: &Self, schema: &Schema) -> Self {
        let mut all = Self::of(schema, Vec::new());
        all.fields.drain(..header.fields.len().min(all.fields.len()));
        all.columns.drain(..header.columns.len().min(all.columns.len()));
        all.aliases.drain(..header.aliases.len().min(all.aliases.len()));
        all
    }

    /// Reads the four lists.
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (count, mut list) = frame::list(cursor, MIN_FIELD)?;
        let fields = (0..count).map(|_| parse_field(&mut list)).collect::<Result<_>>()?;
        let (count, mut list) = frame::list(cursor, MIN_COLUMN)?;
        let columns = (0..count).map(|_| parse_column(&mut list)).collect::<Result<_>>()?;
        let (count, mut list) = frame::list(cursor, MIN_ALIAS)?;
        let aliases = (0..count).map(|_| parse_alias(&mut list)).collect::<Result<_>>()?;
        let (count, mut list) = frame::list(cursor, ExtraType::MIN_SIZE)?;
        let extra_types = (0..count).map(|_| ExtraType::parse(&mut list)).collect::<Result<_>>()?;
        Ok(Self { fields, columns, aliases, extra_types })
    }

    /// Appends the four lists.
    pub(super) fn serialize(&self, out: &mut Vec<u8>) -> Result<()> {
        frame::put_list(out, &self.fields, put_field)?;
        frame::put_list(out, &self.columns, put_column)?;
        frame::put_list(out, &self.aliases, |out, alias| {
            frame::put_record(out, |out| {
                out.extend_from_slice(&alias.physical.0.to_le_bytes());
                out.extend_from_slice(&alias.field.0.to_le_bytes());
                Ok(())
            })
        })?;
        frame::put_list(out, &self.extra_types, |out, extra| extra.serialize(out))
    }

    /// Adds these records to `schema` and checks every id.
    pub(super) fn extend(&self, schema: &mut Schema) -> Result<()> {
        let mut depths: Vec<usize> = schema.fields.iter().map(|_| 0).collect();
        for (index, field) in schema.fields.iter().enumerate() {
            depths[index] = field.parent.map_or(0, |parent| depths[parent.0 as usize] + 1);
        }
        let total_fields = to_id(schema.fields.len() + self.fields.len(), "fields")?;
        to_id(schema.columns.len() + self.columns.len(), "columns")?;
        for record in &self.fields {
            add_field(schema, record, total_fields, &mut depths)?;
        }
        for column in &self.columns {
            check_field(column.field, total_fields, || format!("column {}", schema.columns.len()))?;
            schema.add_column(column.clone());
        }
        for alias in &self.aliases {
            let name = || format!("alias column {}", schema.aliases.len());
            check_field(alias.field, total_fields, name)?;
            if alias.physical.0 as usize >= schema.columns.len() {
                return Err(Error::out_of_spec(format!(
                    "{} refers to column {} of {}",
                    name(),
                    alias.physical.0,
                    schema.columns.len()
                )));
            }
            schema.add_alias(*alias);
        }
        Ok(())
    }
}

fn to_id(count: usize, what: &str) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::limit(format!("{count} {what} exceed 32-bit ids")))
}

fn check_field(field: FieldId, total: u32, who: impl Fn() -> String) -> Result<()> {
    if field.0 < total {
        return Ok(());
    }
    Err(Error::out_of_spec(format!("{} refers to field {} of {total}", who(), field.0)))
}

/// Adds a field after its parent, so that no field can be inside itself.
fn add_field(
    schema: &mut Schema,
    record: &Field,
    total: u32,
    depths: &mut Vec<usize>,
) -> Result<()> {
    // `extend` has checked that ids fit in 32 bits.
    let id = schema.fields.len() as u32;
    let who = || format!("field {id} ({:?})", record.name);
    let parent = record.parent.filter(|parent| parent.0 != id);
    if let Some(parent) = parent.filter(|parent| parent.0 > id) {
        let place = if parent.0 < total { "a later field" } else { "no field" };
        return Err(Error::out_of_spec(format!(
            "{} has parent {}, which is {place}",
            who(),
            parent.0
        )));
    }
    let depth = parent.map_or(0, |parent| depths[parent.0 as usize] + 1);
    if depth > MAX_FIELD_DEPTH {
        return Err(Error::limit(format!(
            "{} is nested more than {MAX_FIELD_DEPTH} levels deep",
            who()
        )));
    }
    if let Some(source) = record.source {
        check_field(source, total, who)?;
    }
    depths.push(depth);
    let field = Field { parent, children: Vec::new(), columns: Vec::new(), ..record.clone() };
    schema.add_field(field);
    Ok(())
}

fn parse_field(cursor: &mut Cursor<'_>) -> Result<Field> {
    let mut record = frame::record(cursor)?;
    let field_version = record.le_u32()?;
    let type_version = record.le_u32()?;
    let parent = Some(FieldId(record.le_u32()?));
    let structure = Structure::from_code(record.le_u16()?);
    let flags = record.le_u16()?;
    let name = record.le_string()?;
    let type_name = record.le_string()?;
    let type_alias = record.le_string()?;
    let description = record.le_string()?;
    let array_size = optional(flags, REPETITIVE, || record.le_u64())?;
    let source = optional(flags, PROJECTED, || record.le_u32())?.map(FieldId);
    let type_checksum = optional(flags, TYPE_CHECKSUM, || record.le_u32())?;
    Ok(Field {
        parent,
        name,
        type_name,
        type_alias,
        description,
        field_version,
        type_version,
        structure,
        array_size,
        source,
        type_checksum,
        other_flags: flags & !(REPETITIVE | PROJECTED | TYPE_CHECKSUM),
        children: Vec::new(),
        columns: Vec::new(),
    })
}

fn optional<T>(flags: u16, flag: u16, read: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    if flags & flag == 0 { Ok(None) } else { read().map(Some) }
}

fn put_field(out: &mut Vec<u8>, field: &Field) -> Result<()> {
    let parent = field.parent.ok_or_else(|| {
        Error::invalid_argument(format!("field record {:?} has no stored parent", field.name))
    })?;
    let unknown = field.other_flags & !STRUCTURE_OF_ARRAYS;
    if unknown != 0 {
        let message =
            format!("field {:?} has the flags {unknown:#x}, which are not known", field.name);
        return Err(Error::unsupported(message));
    }
    let flag = |set: bool, flag: u16| if set { flag } else { 0 };
    let flags = field.other_flags
        | flag(field.array_size.is_some(), REPETITIVE)
        | flag(field.source.is_some(), PROJECTED)
        | flag(field.type_checksum.is_some(), TYPE_CHECKSUM);
    frame::put_record(out, |out| {
        out.extend_from_slice(&field.field_version.to_le_bytes());
        out.extend_from_slice(&field.type_version.to_le_bytes());
        out.extend_from_slice(&parent.0.to_le_bytes());
        out.extend_from_slice(&field.structure.code().to_le_bytes());
        out.extend_from_slice(&flags.to_le_bytes());
        for text in [&field.name, &field.type_name, &field.type_alias, &field.description] {
            put::string(out, text.as_bytes())?;
        }
        if let Some(size) = field.array_size {
            out.extend_from_slice(&size.to_le_bytes());
        }
        if let Some(source) = field.source {
            out.extend_from_slice(&source.0.to_le_bytes());
        }
        if let Some(checksum) = field.type_checksum {
            out.extend_from_slice(&checksum.to_le_bytes());
        }
        Ok(())
    })
}

fn parse_column(cursor: &mut Cursor<'_>) -> Result<Column> {
    let mut record = frame::record(cursor)?;
    let type_code = record.le_u16()?;
    let bits = record.le_u16()?;
    let field = FieldId(record.le_u32()?);
    let flags = record.le_u16()?;
    let representation = record.le_u16()?;
    let first_element = optional(flags, DEFERRED, || record.le_i64())?;
    let value_range = optional(flags, VALUE_RANGE, || Ok((record.le_f64()?, record.le_f64()?)))?;
    Ok(Column {
        field,
        column_type: ColumnType::from_code(type_code),
        type_code,
        bits,
        representation,
        first_element,
        value_range,
    })
}

fn put_column(out: &mut Vec<u8>, column: &Column) -> Result<()> {
    let deferred = if column.first_element.is_some() { DEFERRED } else { 0 };
    let ranged = if column.value_range.is_some() { VALUE_RANGE } else { 0 };
    frame::put_record(out, |out| {
        out.extend_from_slice(&column.type_code.to_le_bytes());
        out.extend_from_slice(&column.bits.to_le_bytes());
        out.extend_from_slice(&column.field.0.to_le_bytes());
        out.extend_from_slice(&(deferred | ranged).to_le_bytes());
        out.extend_from_slice(&column.representation.to_le_bytes());
        if let Some(first) = column.first_element {
            out.extend_from_slice(&first.to_le_bytes());
        }
        if let Some((min, max)) = column.value_range {
            out.extend_from_slice(&min.to_le_bytes());
            out.extend_from_slice(&max.to_le_bytes());
        }
        Ok(())
    })
}

fn parse_alias(cursor: &mut Cursor<'_>) -> Result<AliasColumn> {
    let mut record = frame::record(cursor)?;
    Ok(AliasColumn { physical: ColumnId(record.le_u32()?), field: FieldId(record.le_u32()?) })
}
