//! Extra type information (specification, "Extra type information").

use super::{frame, put};
use crate::cursor::Cursor;
use crate::error::Result;

/// Content identifier of a streamed `TList` of `TStreamerInfo` for all streamer fields.
pub const CONTENT_STREAMER_INFO: u32 = 0;

/// One record; records with unknown content identifiers are kept and not interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraType {
    /// What `content` is.
    pub content_id: u32,
    /// Version of the type it belongs to, 0 for streamer info.
    pub type_version: u32,
    /// Type it belongs to, empty for streamer info.
    pub type_name: String,
    /// Binary content.
    pub content: Vec<u8>,
}

impl ExtraType {
    /// Bytes of the shortest record.
    pub(super) const MIN_SIZE: usize = 24;

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let mut record = frame::record(cursor)?;
        let content_id = record.le_u32()?;
        let type_version = record.le_u32()?;
        let type_name = record.le_string()?;
        let length = record.le_u32()? as usize;
        let content = record.bytes(length)?.to_vec();
        Ok(Self { content_id, type_version, type_name, content })
    }

    pub(super) fn serialize(&self, out: &mut Vec<u8>) -> Result<()> {
        frame::put_record(out, |out| {
            out.extend_from_slice(&self.content_id.to_le_bytes());
            out.extend_from_slice(&self.type_version.to_le_bytes());
            put::string(out, self.type_name.as_bytes())?;
            put::string(out, &self.content)
        })
    }
}
