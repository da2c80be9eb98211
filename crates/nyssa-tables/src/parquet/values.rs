//! Shows a Parquet file as a dataset, whose clusters are the row groups. The columns of the row groups that hold the
//! requested entries are fetched and decoded on all threads.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_schema::Field;
use bytes::Bytes;
use nyssa_data::dataset::{Arrays, ColumnBytes, Format};
use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::fetch::on_all_threads;
use nyssa_root::problem::DatasetCheck;

use super::chunks::{leaves, positive};
use super::layout::layout;
use super::read::{Piece, RowGroups};
use super::verify::check;
use crate::guard::guarded;
use crate::layout::Layout;
use crate::table::{Head, Values, joined};

impl Values for RowGroups {
    const FORMAT: Format = Format::Parquet;

    fn read(
        &self,
        head: &Head,
        columns: &[(usize, Field)],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Arrays> {
        let mut distinct = columns.to_vec();
        distinct.sort_by_key(|(index, _)| *index);
        distinct.dedup_by_key(|(index, _)| *index);
        let pieces = self.pieces(head, &distinct, entries, context)?;
        let work = |_: &mut (), piece: Piece, bytes: Result<&mut [Bytes]>| {
            let bytes = bytes?;
            let (name, group, column) = (piece.field.name().clone(), piece.group, piece.column);
            let array = guarded(|| self.decode(head, piece, bytes)).in_field(&name)?;
            Ok((group, column, array))
        };
        let mut arrays = on_all_threads(&head.source, pieces, context, || (), work)?;
        arrays.sort_by_key(|(group, ..)| *group);
        let column = |(index, field): &(usize, Field)| {
            let own = arrays.iter().filter(|(_, column, _)| column == index);
            joined(&own.map(|(.., array)| ArrayRef::clone(array)).collect::<Vec<_>>(), field)
        };
        columns.iter().map(column).collect()
    }

    fn layout(&self, head: &Head, context: &Context) -> Result<Layout> {
        layout(self, head, context)
    }

    fn check(&self, head: &Head, context: &Context) -> Result<DatasetCheck> {
        check(self, head, context)
    }

    fn column_bytes(&self, column: usize) -> Option<ColumnBytes> {
        let mut bytes = ColumnBytes::default();
        let metadata = self.metadata.metadata();
        for group in metadata.row_groups() {
            for leaf in leaves(metadata, column) {
                let chunk = group.column(leaf);
                bytes.compressed =
                    bytes.compressed.saturating_add(positive(chunk.compressed_size()));
                bytes.uncompressed =
                    bytes.uncompressed.saturating_add(positive(chunk.uncompressed_size()));
            }
        }
        Some(bytes)
    }
}
