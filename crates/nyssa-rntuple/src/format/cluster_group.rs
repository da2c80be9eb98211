//! Reads and writes cluster groups (specification, "Cluster Group Record Frame").

use nyssa_root::cursor::Cursor;
use nyssa_root::error::Result;

use super::frame;
use crate::schema::EnvelopeLink;

/// A range of clusters whose pages one page list describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterGroup {
    /// The first entry of the first of its clusters.
    pub min_entry: u64,
    /// The number of its entries.
    pub entry_span: u64,
    /// The number of its clusters.
    pub clusters: u32,
    /// The page list envelope.
    pub page_list: EnvelopeLink,
}

impl ClusterGroup {
    /// The minimum size of a record, in bytes.
    pub(super) const MIN_SIZE: usize = 48;

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let mut record = frame::record(cursor)?;
        let at = record.clone();
        let group = Self {
            min_entry: record.le_u64()?,
            entry_span: record.le_u64()?,
            clusters: record.le_u32()?,
            page_list: EnvelopeLink::parse(&mut record)?,
        };
        if group.min_entry.checked_add(group.entry_span).is_none() {
            return Err(at.error(format!(
                "cluster group of {} entries from entry {} ends beyond entry 2^64",
                group.entry_span, group.min_entry
            )));
        }
        Ok(group)
    }

    pub(super) fn serialize(&self, out: &mut Vec<u8>) -> Result<()> {
        frame::put_record(out, |out| {
            out.extend_from_slice(&self.min_entry.to_le_bytes());
            out.extend_from_slice(&self.entry_span.to_le_bytes());
            out.extend_from_slice(&self.clusters.to_le_bytes());
            self.page_list.serialize(out);
            Ok(())
        })
    }
}
