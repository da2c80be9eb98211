//! Measures the sizes of the fields in each cluster of the input. The page lists contain them, so no page is
//! read.

use std::ops::Range;

use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{Cluster, ColumnId, FieldId, Schema};
use nyssa_root::error::Result;

use crate::job::largest_entry::bytes_of;

/// The sizes of fields in each cluster, in bytes.
pub(super) struct Sizes {
    /// The entry ranges of the clusters.
    clusters: Vec<Range<u64>>,
    /// The number of decoded bytes of each field in each cluster.
    decoded: Vec<Vec<u64>>,
    /// The number of stored bytes of each field in all clusters.
    by_field: Vec<u64>,
}

impl Sizes {
    /// Returns the sizes of `fields` of `reader`, each with its subfields.
    ///
    /// # Errors
    /// Returns an error if a page list is damaged or cannot be read.
    pub(super) fn new(reader: &Reader, fields: &[FieldId]) -> Result<Self> {
        let schema = reader.schema();
        let columns = fields.iter().map(|&field| schema.columns_below(field)).collect::<Vec<_>>();
        let mut sizes =
            Self { clusters: Vec::new(), decoded: Vec::new(), by_field: vec![0; fields.len()] };
        for cluster in reader.clusters_info()? {
            let end = cluster.first_entry.saturating_add(cluster.entries);
            sizes.clusters.push(cluster.first_entry..end);
            let bytes = columns.iter().map(|columns| bytes(schema, cluster, columns));
            let bytes = bytes.collect::<Vec<_>>();
            sizes.decoded.push(bytes.iter().map(|(decoded, _)| *decoded).collect());
            for (total, (_, stored)) in sizes.by_field.iter_mut().zip(bytes) {
                *total = total.saturating_add(stored);
            }
        }
        Ok(sizes)
    }

    /// Returns the decoded bytes of each field for some entries.
    pub(super) fn decoded(&self, entries: &Range<u64>) -> Vec<u64> {
        let mut total = vec![0u64; self.by_field.len()];
        for (cluster, share) in self.shares(entries) {
            for (total, bytes) in total.iter_mut().zip(&self.decoded[cluster]) {
                *total = total.saturating_add((*bytes as f64 * share) as u64);
            }
        }
        total
    }

    /// Returns the stored bytes of each field in the whole input.
    pub(super) fn by_field(&self) -> &[u64] {
        &self.by_field
    }

    /// Returns the clusters that contain some of `entries`, each with its fraction that is in `entries`.
    fn shares(&self, entries: &Range<u64>) -> impl Iterator<Item = (usize, f64)> {
        let (start, end) = (entries.start, entries.end);
        let first = self.clusters.partition_point(|cluster| cluster.end <= start);
        let clusters = (first..).zip(&self.clusters[first..]);
        clusters.take_while(move |(_, cluster)| cluster.start < end).map(move |(index, cluster)| {
            let part = cluster.end.min(end).saturating_sub(cluster.start.max(start));
            (index, part as f64 / (cluster.end - cluster.start).max(1) as f64)
        })
    }
}

/// Returns the decoded and stored bytes of columns in a cluster.
fn bytes(schema: &Schema, cluster: &Cluster, columns: &[ColumnId]) -> (u64, u64) {
    let ranges = columns.iter().filter_map(|id| cluster.columns.get(id.0 as usize));
    let stored = ranges.flat_map(|range| &range.pages).map(|page| page.locator.size);
    (bytes_of(schema, cluster, columns), stored.fold(0, u64::saturating_add))
}
