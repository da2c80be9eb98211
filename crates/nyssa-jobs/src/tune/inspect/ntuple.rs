//! Makes statistics of an RNTuple, from its page lists and the first bytes of its pages.

use std::collections::{HashMap, HashSet};

use nyssa_data::dataset::Dataset;
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{ColumnId, FieldId, Schema, Structure};
use nyssa_root::error::Result;
use nyssa_root::fetch::read_all;

use super::{
    ClusterPart, ColumnPart, Distribution, Groups, Inspection, PartSizes, RNTupleLayout, codec,
};

/// The number of bytes at the start of a page that show how it is compressed.
const TAG_BYTES: u64 = 2;
/// The numbers of the algorithms in ROOT.
const ALGORITHMS: [(u32, &str); 5] =
    [(1, "zlib"), (2, "lzma"), (3, "old zlib"), (4, "lz4"), (5, "zstd")];

/// Returns the statistics of an RNTuple. Reads the first bytes of every page. Pages that several places share
/// count once on storage.
///
/// # Errors
/// `Io` when the source cannot be read.
pub fn inspect(reader: &Reader) -> Result<Inspection> {
    let schema = reader.schema();
    let names = schema.shown_names();
    let mut columns: Vec<ColumnPart> =
        (0..schema.columns.len()).map(|index| column(schema, &names, index as u32)).collect();
    let mut seen = HashSet::new();
    let mut pages = Vec::new();
    let mut column_pages = vec![Vec::new(); columns.len()];
    let mut clusters = Vec::new();
    let (mut compressions, mut settings) = (Groups::default(), Groups::default());
    for cluster in reader.clusters_info()? {
        let mut part = PartSizes::default();
        let mut compressed = Vec::new();
        let of_columns = columns.iter_mut().zip(&mut column_pages);
        for (range, (column, column_pages)) in cluster.columns.iter().zip(of_columns) {
            let mut sum = PartSizes { elements: range.elements, ..PartSizes::default() };
            for page in &range.pages {
                let bytes = page.stored_bytes();
                let uncompressed_bytes = page.uncompressed_bytes(column.bits);
                sum.uncompressed_bytes += uncompressed_bytes;
                sum.pages += 1;
                let elements = u64::from(page.elements);
                let mut page_sizes =
                    PartSizes { pages: 1, elements, uncompressed_bytes, ..PartSizes::default() };
                if seen.insert(page.locator.offset) {
                    sum.stored_bytes = sum.stored_bytes.saturating_add(bytes);
                    page_sizes.stored_bytes = bytes;
                    pages.push(bytes);
                    column_pages.push(bytes);
                }
                // Pages that do not become smaller are stored without compression.
                if page.locator.size < uncompressed_bytes {
                    compressed.push((page.locator.offset, column.id, page_sizes));
                } else {
                    note(column, "none");
                    compressions.add("none", &page_sizes);
                }
            }
            part.add(&sum);
            column.part.add(&sum);
            if sum.pages > 0 {
                settings.add(&setting(range.compression), &sum);
            }
        }
        let (first_entry, entries) = (cluster.first_entry, cluster.entries);
        clusters.push(ClusterPart { first_entry, entries, part });
        for (name, (_, id, page)) in codecs(reader, &compressed)?.into_iter().zip(&compressed) {
            compressions.add(name, page);
            if let Some(column) = columns.get_mut(*id as usize) {
                note(column, name);
            }
        }
    }
    for (column, pages) in columns.iter_mut().zip(column_pages) {
        column.pages = Distribution::of(pages);
    }
    let mut encodings = Groups::default();
    for column in columns.iter().filter(|column| column.part.pages > 0) {
        encodings.add(&column.column_type, &column.part);
    }
    let pages = Distribution::of(pages);
    Ok(Inspection {
        file: reader.file().to_owned(),
        name: reader.name().to_owned(),
        format: "RNTuple",
        entries: reader.num_entries(),
        file_bytes: reader.source().size(),
        stored_bytes: pages.total,
        uncompressed_bytes: columns.iter().map(|column| column.part.uncompressed_bytes).sum(),
        metadata_bytes: metadata_bytes(reader),
        layout: Some(RNTupleLayout::of(reader)),
        fields: fields(schema, &columns),
        columns,
        encodings: encodings.largest_first(),
        compressions: compressions.largest_first(),
        settings: settings.largest_first(),
        pages,
        clusters: Distribution::of(clusters.iter().map(|item| item.part.stored_bytes).collect()),
        cluster_entries: Distribution::of(clusters.iter().map(|item| item.entries).collect()),
        cluster_parts: clusters,
    })
}

/// Returns how the pages at some places are compressed, by their first bytes.
fn codecs(reader: &Reader, pages: &[(u64, u32, PartSizes)]) -> Result<Vec<&'static str>> {
    let end = reader.source().size();
    let range = |&(offset, ..): &(u64, u32, PartSizes)| {
        offset.min(end)..offset.saturating_add(TAG_BYTES).min(end)
    };
    let ranges: Vec<_> = pages.iter().map(range).collect();
    Ok(read_all(reader.source(), &ranges)?.iter().map(|bytes| codec(bytes)).collect())
}

/// Records that a column has pages of an algorithm.
fn note(column: &mut ColumnPart, codec: &'static str) {
    if let Err(place) = column.codecs.binary_search(&codec) {
        column.codecs.insert(place, codec);
    }
}

/// Returns the bytes of the header, the footer and the page lists on storage.
pub(in crate::tune) fn metadata_bytes(reader: &Reader) -> u64 {
    let lists = reader.footer().cluster_groups.iter().map(|group| group.page_list.locator.size);
    let anchor = reader.anchor();
    lists.chain([anchor.header.nbytes, anchor.footer.nbytes]).fold(0, u64::saturating_add)
}

/// Returns ROOT's compression setting as text for people, such as `zstd:5`.
fn setting(number: u32) -> String {
    let (algorithm, level) = (number / 100, number % 100);
    let name = ALGORITHMS.iter().find(|(code, _)| *code == algorithm).map(|(_, name)| name);
    match name {
        _ if level == 0 => "none".to_owned(),
        Some(name) => format!("{name}:{level}"),
        None => number.to_string(),
    }
}

fn column(schema: &Schema, names: &HashMap<FieldId, String>, id: u32) -> ColumnPart {
    let column = schema.column(ColumnId(id));
    let unknown = || format!("unknown {:#x}", column.type_code);
    let owner = owner(schema, column.field);
    let field = schema.field(owner);
    let name = names.get(&owner).cloned().unwrap_or_else(|| schema.path(owner));
    ColumnPart {
        id,
        field: schema.path(column.field),
        column_type: column.column_type.map_or_else(unknown, |it| it.name().to_owned()),
        bits: column.bits,
        codecs: Vec::new(),
        pages: Distribution::default(),
        part: PartSizes::named(&name, &field.type_name),
    }
}

/// Returns the field for which the size of a column counts. It is the top-level field. Members of untyped collections
/// and records, which ROOT's importer makes, count separately.
fn owner(schema: &Schema, mut id: FieldId) -> FieldId {
    let mut chain = vec![id];
    while let Some(parent) = schema.field(id).parent {
        chain.push(parent);
        id = parent;
    }
    let untyped = |id: &FieldId| {
        let field = schema.field(*id);
        field.type_name.is_empty()
            && matches!(field.structure, Structure::Collection | Structure::Record)
    };
    // The offsets of an untyped collection count for the collection, which is the top of the chain.
    chain.into_iter().rev().find(|id| !untyped(id)).unwrap_or(id)
}

/// Sums the columns by the fields for which they count, in the order of the schema.
fn fields(schema: &Schema, columns: &[ColumnPart]) -> Vec<PartSizes> {
    let mut order: Vec<FieldId> = Vec::new();
    let mut parts: HashMap<FieldId, PartSizes> = HashMap::new();
    for (column, physical) in columns.iter().zip(&schema.columns) {
        let id = owner(schema, physical.field);
        parts.entry(id).or_insert_with(|| {
            order.push(id);
            PartSizes::named(&column.part.name, &column.part.type_name)
        });
        if let Some(part) = parts.get_mut(&id) {
            part.add(&column.part);
        }
    }
    order.iter().filter_map(|id| parts.remove(id)).collect()
}
