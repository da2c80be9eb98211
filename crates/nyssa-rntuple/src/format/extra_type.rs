//! Reads and writes extra type information (specification, "Extra type information").

use nyssa_root::cursor::{BYTE_COUNT, Cursor};
use nyssa_root::error::{Error, Result};

use super::{frame, put};

/// The content identifier of a streamed `TList` of `TStreamerInfo` for all streamer fields.
pub const CONTENT_STREAMER_INFO: u32 = 0;

/// One record of extra type information. Records with an unknown content identifier are stored, but not interpreted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraType {
    /// The identifier of the content.
    pub content_id: u32,
    /// The version of the type. It is 0 for streamer info.
    pub type_version: u32,
    /// The name of the type. It is empty for streamer info.
    pub type_name: String,
    /// The content. Its identifier defines its meaning.
    pub content: Vec<u8>,
}

/// The bytes between the byte count and the list of streamer infos: a pointer to a new object of a new class,
/// and the name of the class (`TBufferFile::WriteObject`).
const LIST_TAG: &[u8] = b"\xFF\xFF\xFF\xFFTList\0";

impl ExtraType {
    /// The number of bytes before the list of streamer infos.
    pub const LIST_OFFSET: u16 = 4 + LIST_TAG.len() as u16;

    /// Makes the record of streamer infos from a list in the form of [`Self::streamer_list`].
    ///
    /// # Errors
    /// `LimitExceeded` beyond 1 GiB.
    pub fn of_streamer_list(list: &[u8]) -> Result<Self> {
        let size = u32::try_from(LIST_TAG.len() + list.len()).ok();
        let size = size.filter(|size| *size < BYTE_COUNT);
        let size = size.ok_or_else(|| Error::limit("streamer infos of more than 1 GiB"))?;
        let count = (size | BYTE_COUNT).to_be_bytes();
        let content = [&count[..], LIST_TAG, list].concat();
        Ok(Self {
            content_id: CONTENT_STREAMER_INFO,
            type_version: 0,
            type_name: String::new(),
            content,
        })
    }

    /// Returns the streamed `TList` of `TStreamerInfo`, which starts [`Self::LIST_OFFSET`] bytes into the
    /// content. Returns `None` for records with other contents.
    ///
    /// # Errors
    /// `OutOfSpecification` when the content is not such a list.
    pub fn streamer_list(&self) -> Result<Option<&[u8]>> {
        if self.content_id != CONTENT_STREAMER_INFO {
            return Ok(None);
        }
        let list = self.content.get(4..).and_then(|rest| rest.strip_prefix(LIST_TAG));
        list.map(Some).ok_or_else(|| {
            Error::out_of_spec("the extra type information holds no list of streamer infos")
        })
    }

    /// The minimum size of a record, in bytes.
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
