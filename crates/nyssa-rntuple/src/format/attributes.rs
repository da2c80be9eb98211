//! Reads and writes links to attribute sets, which store data about entry ranges in separate RNTuples
//! (specification 1.0.1.0, the last list of the footer).

use nyssa_root::cursor::Cursor;
use nyssa_root::error::Result;

use super::{frame, put};
use crate::schema::Locator;

/// A link to the anchor of an attribute set. No directory lists this anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSet {
    /// The major version of the attribute schema.
    pub schema_major: u16,
    /// The minor version of the attribute schema.
    pub schema_minor: u16,
    /// The uncompressed size of the anchor, in bytes.
    pub anchor_length: u32,
    /// The position of the payload of the anchor.
    pub locator: Locator,
    /// The name of the set.
    pub name: String,
}

impl AttributeSet {
    /// The minimum size of a record, in bytes.
    pub(super) const MIN_SIZE: usize = 32;

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let mut record = frame::record(cursor)?;
        Ok(Self {
            schema_major: record.le_u16()?,
            schema_minor: record.le_u16()?,
            anchor_length: record.le_u32()?,
            locator: Locator::parse(&mut record)?,
            name: record.le_string()?,
        })
    }

    pub(super) fn serialize(&self, out: &mut Vec<u8>) -> Result<()> {
        frame::put_record(out, |out| {
            out.extend_from_slice(&self.schema_major.to_le_bytes());
            out.extend_from_slice(&self.schema_minor.to_le_bytes());
            out.extend_from_slice(&self.anchor_length.to_le_bytes());
            self.locator.serialize(out);
            put::string(out, self.name.as_bytes())
        })
    }
}
