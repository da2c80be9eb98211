//! Shows an Arrow IPC file or stream as a dataset, whose clusters are the record batches. Batches are fetched whole, and
//! decoded on all threads.

use std::ops::Range;

use arrow_schema::Field;
use bytes::Bytes;
use nyssa_data::dataset::{Arrays, Format};
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::fetch::on_all_threads;
use nyssa_root::problem::DatasetCheck;

use super::blocks::range_of;
use super::layout::layout;
use super::read::Batches;
use super::verify::check;
use crate::guard::guarded;
use crate::layout::Layout;
use crate::table::{Head, Values, joined};

impl Values for Batches {
    const FORMAT: Format = Format::Arrow;

    fn layout(&self, head: &Head, _context: &Context) -> Result<Layout> {
        guarded(|| layout(self, head))
    }

    fn check(&self, head: &Head, context: &Context) -> Result<DatasetCheck> {
        check(self, head, context)
    }

    fn read(
        &self,
        head: &Head,
        columns: &[(usize, Field)],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Arrays> {
        let mut units = Vec::new();
        for (index, rows) in head.parts(entries) {
            units.push((vec![range_of(&self.blocks[index], head.source.size())?], (index, rows)));
        }
        let work = |_: &mut (), unit: (usize, Range<u64>), bytes: Result<&mut [Bytes]>| {
            let (index, bytes) = (unit.0, bytes?);
            Ok((index, guarded(|| self.decode(unit, bytes, columns))?))
        };
        let mut batches = on_all_threads(&head.source, units, context, || (), work)?;
        batches.sort_by_key(|(index, _)| *index);
        let column = |(number, (_, field)): (usize, &(usize, Field))| {
            let parts = batches.iter().filter_map(|(_, arrays)| arrays.get(number).cloned());
            joined(&parts.collect::<Vec<_>>(), field)
        };
        columns.iter().enumerate().map(column).collect()
    }
}
