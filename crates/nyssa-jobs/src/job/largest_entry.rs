//! Finds the largest entries of an RNTuple before its data are read: from its page lists, and from the offsets of
//! lists if a field of a cluster is so large that one of its entries may not fit into the memory.

use std::ops::Range;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use nyssa_rntuple::read::{Element, Reader};
use nyssa_rntuple::schema::{Cluster, ColumnId, FieldId, Schema, Structure};
use nyssa_root::Context;

use super::largest_part::DataPart;

/// Finds the largest entry of some top-level fields.
pub(crate) struct Search<'a> {
    pub reader: &'a Reader,
    pub entries: &'a Range<u64>,
    /// The memory of the job in bytes.
    pub memory: u64,
    pub context: &'a Context,
}

impl Search<'_> {
    /// Returns the largest entry of one field.
    pub(crate) fn of_field(&self, field: FieldId) -> DataPart {
        let schema = self.reader.schema();
        let columns = columns_below(schema, field);
        let parts = self.clusters().map(|cluster| {
            let part = part_of(schema, cluster, &columns);
            let bytes = bytes_of(schema, cluster, &columns);
            match cluster.entries > 1 && bytes.saturating_mul(2) > self.memory {
                true => self.largest_list(cluster, field).unwrap_or_default().or_larger(part),
                false => part,
            }
        });
        parts.fold(DataPart::default(), DataPart::or_larger)
    }

    /// Returns the largest entry of fields that are read together. The known sizes of single fields also count.
    pub(crate) fn of_fields(&self, fields: &[FieldId]) -> DataPart {
        let schema = self.reader.schema();
        let mut columns: Vec<_> =
            fields.iter().flat_map(|&field| columns_below(schema, field)).collect();
        columns.sort_unstable();
        columns.dedup();
        let together = self.clusters().map(|cluster| part_of(schema, cluster, &columns));
        let alone = fields.iter().map(|&field| self.of_field(field));
        together.chain(alone).fold(DataPart::default(), DataPart::or_larger)
    }

    /// Returns the clusters that have some of the entries. Page lists that cannot be read are an error when their clusters
    /// are read.
    fn clusters(&self) -> impl Iterator<Item = &Cluster> {
        let clusters = self.reader.clusters_info().ok().into_iter().flatten();
        clusters.filter(|cluster| {
            let range = range(cluster);
            range.start < self.entries.end && range.end > self.entries.start
        })
    }

    /// Returns the entry of a cluster with the most items in the outermost lists of a field, by their offsets. Only
    /// bytes that each item certainly has count.
    fn largest_list(&self, cluster: &Cluster, field: FieldId) -> Option<DataPart> {
        let schema = self.reader.schema();
        let all = range(cluster);
        let name = &schema.field(field).name;
        let quiet = self.context.quiet();
        // Offsets that cannot be read are an error when the values are read.
        let lists = self.reader.lengths(name, &all, &quiet).ok()?;
        let mut bytes = vec![0u64; lists.first()?.1.len()];
        for (list, lengths) in lists {
            let lengths = lengths.as_primitive_opt::<UInt64Type>()?.values();
            let items = lengths.iter().fold(0, |sum: u64, &length| sum.saturating_add(length));
            let each = bytes_of_items(schema, cluster, list) as f64 / items.max(1) as f64;
            for (bytes, &length) in bytes.iter_mut().zip(lengths) {
                *bytes = bytes.saturating_add((length as f64 * each) as u64);
            }
        }
        let entries = (all.start..).zip(&bytes).filter(|(entry, _)| self.entries.contains(entry));
        let (entry, &bytes) = entries.max_by_key(|(_, bytes)| **bytes)?;
        Some(DataPart::new(entry..entry + 1, bytes, 0))
    }
}

/// Returns the bytes of the items of a list in a cluster, without the bytes of inner lists.
fn bytes_of_items(schema: &Schema, cluster: &Cluster, list: FieldId) -> u64 {
    // A string has its characters in a second column.
    let mut columns: Vec<ColumnId> = schema.data_columns(list).iter().skip(1).copied().collect();
    let mut open = schema.field(list).children.clone();
    while let Some(id) = open.pop() {
        let field = schema.field(id);
        let own = schema.data_columns(id);
        if matches!(field.structure, Structure::Leaf | Structure::Record) && own.len() < 2 {
            columns.extend(own);
            open.extend(&field.children);
        } else {
            // Offsets, or the switches of a variant.
            columns.extend(own.first());
        }
    }
    bytes_of(schema, cluster, &columns)
}

/// Returns the part of a cluster for columns that are read together, by their numbers of elements.
pub(crate) fn part_of(schema: &Schema, cluster: &Cluster, columns: &[ColumnId]) -> DataPart {
    let pages = columns.iter().filter_map(|&id| {
        let element = element(schema, id)?;
        let pages = cluster.columns.get(id.0 as usize)?.pages.iter();
        pages.map(|page| element.bytes_of(page.elements.into())).max()
    });
    let page = pages.max().unwrap_or(0);
    DataPart::new(range(cluster), bytes_of(schema, cluster, columns), page)
}

/// Returns the decoded bytes of columns in a cluster.
pub(crate) fn bytes_of(schema: &Schema, cluster: &Cluster, columns: &[ColumnId]) -> u64 {
    let bytes = columns.iter().filter_map(|&id| {
        let elements = cluster.columns.get(id.0 as usize)?.elements;
        Some(element(schema, id)?.bytes_of(elements))
    });
    bytes.fold(0, u64::saturating_add)
}

fn element(schema: &Schema, column: ColumnId) -> Option<Element> {
    schema.column(column).column_type.map(Element::of_column)
}

fn range(cluster: &Cluster) -> Range<u64> {
    cluster.first_entry..cluster.first_entry.saturating_add(cluster.entries)
}

/// Returns the columns of a field and of its subfields, each once.
fn columns_below(schema: &Schema, field: FieldId) -> Vec<ColumnId> {
    let mut columns = Vec::new();
    schema.each_below(field, &mut |id| columns.extend(schema.data_columns(id)));
    columns.sort_unstable();
    columns.dedup();
    columns
}
