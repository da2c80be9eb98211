//! Writes header, page lists and footer.

use nyssa_root::error::{Error, Result};

use super::Writer;
use crate::format::{
    Anchor, ClusterGroup, EnvelopePosition, Footer, FormatVersion, Header, PageList,
    SchemaDescription,
};
use crate::schema::{EnvelopeLink, Locator};
use crate::write::blob::write_blob;

impl Writer {
    /// Writes the page list of the clusters without a page list.
    pub(super) fn commit_group(&mut self) -> Result<()> {
        let _stage = nyssa_observe::stage!("commit");
        let clusters = std::mem::take(&mut self.clusters);
        self.page_records = 0;
        let Some(first) = clusters.first() else { return Ok(()) };
        let min_entry = first.first_entry;
        let entry_span = self.report.entries - min_entry;
        let count = u32::try_from(clusters.len())
            .map_err(|_| Error::limit("too many clusters in one cluster group"))?;
        let header_checksum = self.header.as_ref().map_or(0, |(header, _)| header.checksum);
        let bytes = PageList { header_checksum, clusters }.serialize()?;
        let page_list = self.envelope(&bytes)?;
        self.groups.push(ClusterGroup { min_entry, entry_span, clusters: count, page_list });
        Ok(())
    }

    /// Writes everything except the anchor, which is returned.
    pub(super) fn write_footer(&mut self) -> Result<Anchor> {
        self.file.line().settle();
        let _stage = nyssa_observe::stage!("commit");
        if self.open.is_some() {
            return Err(Error::invalid_argument("a cluster is still open: commit it first"));
        }
        for set in &self.attribute_sets {
            set.check(self.report.entries)?;
        }
        self.write_header()?;
        self.write_filled_page_lists()?;
        self.commit_group()?;
        let header = self.header.take();
        let (header, header_position) =
            header.ok_or_else(|| Error::invalid_argument("the RNTuple is finished"))?;
        let sets = std::mem::take(&mut self.attribute_sets);
        let mut extension = SchemaDescription::beyond(&header.records, &self.schema);
        let resumed = self.resumed.take();
        if let Some(resumed) = &resumed {
            extension.extra_types.clone_from(&resumed.extra_types);
        }
        extension.extra_types.append(&mut self.late_types);
        let footer = Footer {
            header_checksum: header.checksum,
            extension,
            cluster_groups: std::mem::take(&mut self.groups),
            attribute_sets: sets.into_iter().map(|set| set.link).collect(),
            lists_attribute_sets: resumed.as_ref().is_some_and(|old| old.lists_attribute_sets),
        };
        let old = resumed.as_ref().map_or(FormatVersion::WRITTEN, |old| old.version);
        let version = footer.version().max(old);
        let footer = position(self.envelope(&footer.serialize()?)?);
        let max_key_size = resumed.map_or(self.max_key_size, |old| old.max_key_size);
        Ok(Anchor { version, header: header_position, footer, max_key_size })
    }

    /// Writes the header once. After that the schema can only grow.
    pub(super) fn write_header(&mut self) -> Result<()> {
        if self.header.is_some() {
            return Ok(());
        }
        let mut header = Header {
            name: self.name.clone(),
            description: self.options.description.clone(),
            writer: self.options.writer.clone(),
            records: SchemaDescription::of(&self.schema, self.extra_types.clone()),
            ..Header::default()
        };
        let bytes = header.serialize()?;
        let place = position(self.envelope(&bytes)?);
        self.header = Some((header, place));
        Ok(())
    }

    /// Compresses and stores an envelope.
    pub(super) fn envelope(&mut self, bytes: &[u8]) -> Result<EnvelopeLink> {
        let mut stored = Vec::new();
        self.compressor.compress(bytes, &mut stored)?;
        let length = bytes.len() as u64;
        let offset =
            self.file.with(|file| write_blob(file, &[&stored], length, self.max_key_size))?;
        Ok(EnvelopeLink { length, locator: Locator { offset, size: stored.len() as u64 } })
    }
}

fn position(link: EnvelopeLink) -> EnvelopePosition {
    EnvelopePosition { seek: link.locator.offset, nbytes: link.locator.size, len: link.length }
}
