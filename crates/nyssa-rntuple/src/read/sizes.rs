//! Sums the bytes of the pages of a field.

use std::collections::HashSet;

use nyssa_data::dataset::ColumnBytes;

use super::clusters::Clusters;
use crate::schema::{ColumnId, FieldId, Schema};

/// Returns the bytes of a field with its subfields. Pages that several clusters share count once in the file. A
/// projected field has the bytes of the field that it shows.
pub(super) fn of_field(schema: &Schema, field: FieldId, clusters: &Clusters) -> ColumnBytes {
    let mut columns: Vec<ColumnId> = Vec::new();
    schema.each_below(field, &mut |id| columns.extend(schema.data_columns(id)));
    let (mut seen, mut bytes) = (HashSet::new(), ColumnBytes::default());
    for cluster in clusters {
        for &id in &columns {
            let bits = schema.column(id).bits;
            let pages = cluster.columns.get(id.0 as usize).map(|range| &range.pages);
            for page in pages.into_iter().flatten() {
                bytes.uncompressed =
                    bytes.uncompressed.saturating_add(page.uncompressed_bytes(bits));
                if seen.insert(page.locator.offset) {
                    bytes.compressed = bytes.compressed.saturating_add(page.stored_bytes());
                }
            }
        }
    }
    bytes
}
