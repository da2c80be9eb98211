//! Makes statistics of a table, from the headers of its pages or record batches.

use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_tables::{Leaf, Reader};

use super::{ClusterPart, ColumnPart, Distribution, Groups, Inspection, PartSizes};
use crate::open::table_format;

/// Returns the statistics of a table. Reads the header of every page.
///
/// # Errors
/// `OutOfSpecification` for damaged headers; `Io`.
pub(super) fn inspect(reader: &Reader) -> Result<Inspection> {
    let dataset = &**reader.dataset();
    let layout = reader.layout(&Context::kept(None)?)?;
    let mut fields: Vec<PartSizes> = dataset
        .columns()
        .iter()
        .map(|item| PartSizes::named(&item.name, &item.type_name))
        .collect();
    let column = |(id, leaf): (usize, &Leaf)| ColumnPart {
        id: u32::try_from(id).unwrap_or(u32::MAX),
        field: leaf.path.clone(),
        column_type: leaf.stored_type.clone(),
        bits: leaf.bits,
        part: fields.get(leaf.column).map_or_else(PartSizes::default, |field| {
            PartSizes::named(&field.name, &field.type_name)
        }),
        ..ColumnPart::default()
    };
    let mut columns: Vec<ColumnPart> = layout.leaves.iter().enumerate().map(column).collect();
    let mut clusters: Vec<ClusterPart> = reader.groups().iter().map(super::tree::cluster).collect();
    let mut sizes = vec![Vec::new(); columns.len()];
    let (mut encodings, mut compressions) = (Groups::default(), Groups::default());
    for page in &layout.pages {
        let part = PartSizes {
            pages: 1,
            elements: page.values,
            stored_bytes: page.bytes,
            uncompressed_bytes: page.uncompressed,
            ..PartSizes::default()
        };
        if !page.encoding.is_empty() {
            encodings.add(page.encoding, &part);
        }
        compressions.add(page.codec, &part);
        if let Some(cluster) = clusters.get_mut(page.cluster) {
            cluster.part.add(&part);
        }
        let (Some(column), Some(leaf)) = (columns.get_mut(page.leaf), layout.leaves.get(page.leaf))
        else {
            continue;
        };
        column.part.add(&part);
        if !column.codecs.contains(&page.codec) {
            column.codecs.push(page.codec);
        }
        sizes[page.leaf].push(page.bytes);
        if let Some(field) = fields.get_mut(leaf.column) {
            field.add(&part);
        }
    }
    for (column, sizes) in columns.iter_mut().zip(&sizes) {
        column.pages = Distribution::of(sizes.clone());
    }
    let pages = Distribution::of(sizes.concat());
    Ok(Inspection {
        file: dataset.file().to_owned(),
        name: dataset.name().to_owned(),
        format: table_format(reader),
        entries: dataset.num_entries(),
        file_bytes: reader.file_bytes(),
        stored_bytes: pages.total,
        uncompressed_bytes: fields.iter().map(|part| part.uncompressed_bytes).sum(),
        fields,
        columns,
        encodings: encodings.largest_first(),
        compressions: compressions.largest_first(),
        pages,
        clusters: Distribution::of(clusters.iter().map(|item| item.part.stored_bytes).collect()),
        cluster_entries: Distribution::of(clusters.iter().map(|item| item.entries).collect()),
        cluster_parts: clusters,
        ..Inspection::default()
    })
}
