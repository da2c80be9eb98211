//! Reads the metadata that an anchor points to: header, footer and page lists.

use std::sync::Arc;

use super::blob::{Blob, read_blobs};
use crate::compression::decompress_to_vec;
use crate::error::{Error, Result, ResultExt};
use crate::guard::to_usize;
use crate::rntuple::format::{Anchor, ClusterGroup, EnvelopePosition, Footer, Header, PageList};
use crate::rntuple::schema::{Cluster, Schema};

/// All metadata of an RNTuple.
pub struct Metadata {
    pub header: Header,
    pub footer: Footer,
    pub schema: Schema,
    /// The clusters in order of entries.
    pub clusters: Vec<Cluster>,
    pub entries: u64,
}

impl Metadata {
    /// Reads header and footer with one request, and all page lists with another.
    ///
    /// # Errors
    /// `Checksum`; `Unsupported` for feature flags; `OutOfSpecification`.
    pub fn read(source: &Arc<dyn nyssa_io::Source>, anchor: &Anchor) -> Result<Self> {
        let ends = [anchor.header, anchor.footer];
        let mut envelopes = envelopes(source, &ends, anchor.max_key_size)?.into_iter();
        let mut next = || envelopes.next().unwrap_or_default();
        let header = Header::parse(&next())?;
        let footer = Footer::parse(&next())?;
        footer.check_header(&header)?;
        let schema = header.schema(&footer.extension)?;
        let clusters = page_lists(source, anchor, &header, &footer, &schema)?;
        let entries = check_clusters(&clusters)?;
        Ok(Self { header, footer, schema, clusters, entries })
    }
}

/// Reads and decompresses several envelopes.
fn envelopes(
    source: &Arc<dyn nyssa_io::Source>,
    positions: &[EnvelopePosition],
    max_key_size: u64,
) -> Result<Vec<Vec<u8>>> {
    let blob = |position: &EnvelopePosition| {
        Blob::new(position.seek, position.nbytes, source.size(), max_key_size)
            .map_err(|error| error.map_message(|message| format!("an envelope: {message}")))
    };
    let blobs = positions.iter().map(blob).collect::<Result<Vec<_>>>()?;
    let read = read_blobs(source, &blobs)?;
    let open = |(position, bytes): (&EnvelopePosition, bytes::Bytes)| {
        let len = to_usize(position.len, "envelope")?;
        decompress_to_vec(&bytes, len, "an envelope").at(|place| place.offset = Some(position.seek))
    };
    positions.iter().zip(read).map(open).collect()
}

fn page_lists(
    source: &Arc<dyn nyssa_io::Source>,
    anchor: &Anchor,
    header: &Header,
    footer: &Footer,
    schema: &Schema,
) -> Result<Vec<Cluster>> {
    let position = |group: &ClusterGroup| EnvelopePosition {
        seek: group.page_list.locator.offset,
        nbytes: group.page_list.locator.size,
        len: group.page_list.length,
    };
    let positions = footer.cluster_groups.iter().map(position).collect::<Vec<_>>();
    let lists = envelopes(source, &positions, anchor.max_key_size)?;
    let mut clusters = Vec::new();
    for (group, bytes) in footer.cluster_groups.iter().zip(lists) {
        let list = PageList::parse(&bytes, schema)?;
        list.check(header.checksum, group)?;
        clusters.extend(list.clusters);
    }
    clusters.sort_by_key(|cluster| cluster.first_entry);
    Ok(clusters)
}

/// Checks that each cluster starts where the one before ends. Returns the number of entries.
fn check_clusters(clusters: &[Cluster]) -> Result<u64> {
    let mut end = 0u64;
    for (index, cluster) in clusters.iter().enumerate() {
        if cluster.first_entry != end {
            return Err(Error::out_of_spec(format!(
                "the cluster starts at entry {}, the one before ends at entry {end}",
                cluster.first_entry
            ))
            .at(|place| place.cluster = Some(index as u64)));
        }
        end = end
            .checked_add(cluster.entries)
            .ok_or_else(|| Error::out_of_spec("more than 2^64 entries"))?;
    }
    Ok(end)
}
