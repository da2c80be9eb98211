//! Adds up the stored bytes of fields. The page lists contain them, so no page is read.

use std::collections::HashSet;
use std::ops::Range;

use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::ColumnId;
use nyssa_root::error::Result;

use super::map::Column;

/// Returns the stored bytes of each column with its subfields, and of all fields that are read. Offsets that several
/// columns share count once in the sum, and for no single column. `entries` selects the clusters that count.
///
/// # Errors
/// Returns an error if a page list is damaged or cannot be read.
pub(super) fn stored_bytes(
    reader: &Reader,
    columns: &[Column],
    entries: &Range<u64>,
) -> Result<(Vec<u64>, u64)> {
    let schema = reader.schema();
    let mut by_column = vec![0u64; schema.columns.len()];
    for cluster in reader.clusters_info()? {
        let end = cluster.first_entry.saturating_add(cluster.entries);
        if cluster.first_entry >= entries.end || end <= entries.start {
            continue;
        }
        for (total, range) in by_column.iter_mut().zip(&cluster.columns) {
            let stored = range.pages.iter().map(|page| page.locator.size);
            *total = stored.fold(*total, u64::saturating_add);
        }
    }
    let bytes = |ids: &HashSet<ColumnId>| {
        ids.iter().filter_map(|id| by_column.get(id.0 as usize)).sum::<u64>()
    };
    let mut all = HashSet::new();
    let each = columns.iter().map(|column| {
        let own: HashSet<_> =
            column.ids.last().into_iter().flat_map(|&id| schema.columns_below(id)).collect();
        all.extend(column.ids.iter().flat_map(|&id| schema.field(id).columns.iter().copied()));
        all.extend(&own);
        bytes(&own)
    });
    let each = each.collect();
    Ok((each, bytes(&all)))
}
