//! Makes statistics of a TTree, from its basket tables and the keys of its baskets.

use std::ops::Range;

use nyssa_data::dataset::{ColumnInfo, Dataset};
use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::fetch::read_all;
use nyssa_root::rootfile::KeyEntry;
use nyssa_ttree::{Basket, Branch, Reader};

use super::{ClusterPart, Distribution, Groups, Inspection, PartSizes, codec};

/// The number of bytes read of each basket: its key and the start of its compressed data.
const KEY_BYTES: u64 = 512;
/// The maximum number of keys in memory at once.
const KEYS: usize = 4096;
/// The compression under which baskets inside the tree object are listed.
const INSIDE: &str = "inside the tree object";

/// Returns the statistics of a TTree. Reads the key of every basket.
///
/// # Errors
/// `OutOfSpecification` when the key of a basket cannot be read; `Io`.
pub fn inspect(reader: &Reader) -> Result<Inspection> {
    let mut fields = Vec::new();
    let mut sizes = Vec::new();
    let mut compressions = Groups::default();
    let mut clusters: Vec<_> = reader.clusters().iter().map(cluster).collect();
    for (item, branch) in branches(reader) {
        let mut part = PartSizes::named(&item.name, &item.type_name);
        part.elements = branch.entries.saturating_sub(branch.first_entry);
        if branch.is_elsewhere || reader.reach(branch).is_err() {
            fields.push(part);
            continue;
        }
        for baskets in branch.baskets.chunks(KEYS) {
            let parts = stored(reader, baskets).in_field(&item.name)?;
            for (place, (name, basket)) in baskets.iter().zip(parts) {
                let after =
                    clusters.partition_point(|element| element.first_entry <= place.first_entry);
                if let Some(cluster) = clusters.get_mut(after.saturating_sub(1)) {
                    cluster.part.add(&basket);
                }
                sizes.push(basket.stored_bytes);
                compressions.add(name, &basket);
                part.add(&PartSizes { elements: 0, ..basket });
            }
        }
        fields.push(part);
    }
    let pages = Distribution::of(sizes);
    Ok(Inspection {
        file: reader.file().to_owned(),
        name: reader.name().to_owned(),
        format: "TTree",
        entries: reader.num_entries(),
        file_bytes: reader.stored_bytes(),
        stored_bytes: pages.total,
        uncompressed_bytes: fields.iter().map(|part| part.uncompressed_bytes).sum(),
        fields,
        compressions: compressions.largest_first(),
        pages,
        clusters: Distribution::of(
            clusters.iter().map(|element| element.part.stored_bytes).collect(),
        ),
        cluster_entries: Distribution::of(clusters.iter().map(|element| element.entries).collect()),
        cluster_parts: clusters,
        ..Inspection::default()
    })
}

/// Returns a cluster of entries, of which no sizes are known yet.
pub(super) fn cluster(entries: &Range<u64>) -> ClusterPart {
    let Range { start, end } = *entries;
    ClusterPart { first_entry: start, entries: end - start, part: PartSizes::default() }
}

/// Returns the branches that hold data, each with its column.
pub(super) fn branches(reader: &Reader) -> impl Iterator<Item = (&ColumnInfo, &Branch)> {
    let all = reader.columns().iter().chain(reader.subcolumns());
    let all = all.filter_map(|item| Some((item, reader.branch(&item.name)?)));
    // The sub-branches of a split branch hold its data.
    all.filter(|(_, branch)| !(branch.baskets.is_empty() && branch.split.is_some()))
}

/// Returns the compression and sizes of each basket.
fn stored(reader: &Reader, baskets: &[Basket]) -> Result<Vec<(&'static str, PartSizes)>> {
    let on_disk = baskets.iter().filter(|basket| basket.embedded.is_none());
    let first = on_disk.clone().next().map_or(0, |basket| basket.seek);
    let end = reader.extent(first)?.end;
    let ranges: Vec<Range<u64>> = on_disk
        .map(|basket| basket.seek.min(end)..basket.seek.saturating_add(KEY_BYTES).min(end))
        .collect();
    let mut keys = read_all(reader.source(), &ranges)?.into_iter();
    let sizes = |basket: &Basket| match &basket.embedded {
        Some(bytes) => {
            // They are compressed together with the rest of the tree object.
            Ok((INSIDE, part(basket, basket.bytes, bytes.len() as u64)))
        }
        None => {
            let start = keys.next().unwrap_or_default();
            let key = match KeyEntry::parse(&mut Cursor::new(&start, basket.seek)) {
                Ok(key) => key,
                // The branch only groups other branches, so this basket was never stored.
                Err(_) if basket.bytes == 0 => return Ok(("none", part(basket, 0, 0))),
                Err(error) => return Err(error),
            };
            let keylen = u64::from(key.keylen);
            let uncompressed = keylen.saturating_add(u64::from(key.objlen));
            let name = match start.get(usize::from(key.keylen)..) {
                _ if uncompressed == u64::from(key.nbytes) => "none",
                Some(data) => codec(data),
                None => "?",
            };
            Ok((name, part(basket, u64::from(key.nbytes), uncompressed)))
        }
    };
    baskets.iter().map(sizes).collect()
}

fn part(basket: &Basket, stored_bytes: u64, uncompressed_bytes: u64) -> PartSizes {
    let elements = basket.entries;
    PartSizes { pages: 1, elements, stored_bytes, uncompressed_bytes, ..PartSizes::default() }
}
