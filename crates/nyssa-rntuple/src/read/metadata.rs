//! Reads the metadata that an anchor points to: header, footer and page lists.

use std::sync::Arc;

use nyssa_root::compression::decompress_metadata;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::guard::to_usize;

use super::blob::{Blob, read_blobs};
use super::clusters::Clusters;
use crate::format::{Anchor, ClusterGroup, EnvelopePosition, Footer, Header, PageList};
use crate::heuristics::read;
use crate::schema::{Cluster, Locator, Schema};

/// All metadata of an RNTuple.
pub(super) struct Metadata {
    pub header: Header,
    pub footer: Footer,
    pub schema: Schema,
    pub clusters: Clusters,
    pub entries: u64,
}

impl Metadata {
    /// Reads header and footer with one request, and all page lists with another. Many page lists of a remote RNTuple
    /// are left out.
    ///
    /// # Errors
    /// `Checksum`; `Unsupported` for feature flags; `OutOfSpecification`.
    pub(super) fn read(source: &Arc<dyn nyssa_io::Source>, anchor: &Anchor) -> Result<Self> {
        let ends = [anchor.header, anchor.footer];
        let mut envelopes = envelopes(source, &ends, anchor.max_key_size)?.into_iter();
        let mut next = || envelopes.next().unwrap_or_default();
        let header = Header::parse(&next())?;
        let footer = Footer::parse(&next())?;
        footer.check_header(&header)?;
        let schema = header.schema(&footer.extension)?;
        let later = if is_later(source.as_ref(), &footer) {
            Clusters::missing(&footer.cluster_groups)
        } else {
            None
        };
        let clusters = match later {
            Some(missing) => missing,
            None => {
                let groups = &footer.cluster_groups;
                let lists = page_lists(source, anchor, &header, &schema, groups)?;
                let mut clusters: Vec<Cluster> = lists.into_iter().flatten().collect();
                clusters.sort_by_key(|cluster| cluster.first_entry);
                Clusters::of(clusters)
            }
        };
        let entries = clusters.num_entries()?;
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
        decompress_metadata(&bytes, len, "an envelope")
            .at(|place| place.offset = Some(position.seek))
    };
    positions.iter().zip(read).map(open).collect()
}

/// Returns whether the page lists are so large, and the source so slow, that each page list is read when it is
/// needed.
fn is_later(source: &dyn nyssa_io::Source, footer: &Footer) -> bool {
    let known = source.opened_with();
    let is_known = |locator: &Locator| {
        let end = locator.offset.saturating_add(locator.size);
        known.iter().any(|known| known.start <= locator.offset && end <= known.end)
    };
    let lists = footer.cluster_groups.iter().map(|group| group.page_list.locator);
    let unknown = lists.filter(|locator| !is_known(locator)).map(|locator| locator.size);
    footer.cluster_groups.len() > 1
        && !source.limits().is_near()
        && unknown.fold(0, u64::saturating_add) > read::LATER_BYTES
}

/// Reads the clusters of some cluster groups with one request.
///
/// # Errors
/// `Checksum`; `Unsupported`; `OutOfSpecification`.
pub(super) fn page_lists(
    source: &Arc<dyn nyssa_io::Source>,
    anchor: &Anchor,
    header: &Header,
    schema: &Schema,
    groups: &[ClusterGroup],
) -> Result<Vec<Vec<Cluster>>> {
    let position = |group: &ClusterGroup| EnvelopePosition {
        seek: group.page_list.locator.offset,
        nbytes: group.page_list.locator.size,
        len: group.page_list.length,
    };
    let positions = groups.iter().map(position).collect::<Vec<_>>();
    let lists = envelopes(source, &positions, anchor.max_key_size)?;
    let clusters = |(group, bytes): (&ClusterGroup, Vec<u8>)| {
        let list = PageList::parse(&bytes, schema)?;
        list.check(header.checksum, group)?;
        Ok(list.clusters)
    };
    groups.iter().zip(lists).map(clusters).collect()
}
