//! Fetches the baskets of the tasks of a group before the tasks need them, if their files are remote.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use nyssa_io::Source;
use nyssa_io::fetch::{Announced, Held, ReadAhead};
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::fetch::read_all;

use super::joined::{Joined, JoinedBasket};
use crate::heuristics::tree;

/// The source of a tree.
struct TreeSource {
    source: Arc<dyn Source>,
    /// The read-ahead of a remote source, which is then `source`.
    ahead: Option<Arc<ReadAhead>>,
}

/// The sources of the trees.
pub(super) struct Sources {
    each: Vec<TreeSource>,
    /// The largest number of bytes of a group that are fetched and not yet used.
    bytes: u64,
}

/// The baskets of the tasks of a group, which are being fetched.
pub(super) struct GroupAhead(Vec<Option<Announced>>);

impl Sources {
    /// Makes the sources of all trees.
    pub(super) fn new(joined: &Joined<'_>, context: &Context) -> Result<Self> {
        let each = (0..joined.trees()).map(|number| {
            let source = Arc::clone(joined.source(number)?);
            if source.limits().is_near() {
                return Ok(TreeSource { source, ahead: None });
            }
            let ahead = ReadAhead::new(source);
            Ok(TreeSource { source: Arc::clone(&ahead) as _, ahead: Some(ahead) })
        });
        let bytes = context.ahead_bytes() / tree::GROUPS_FETCHED;
        Ok(Self { each: each.collect::<Result<_>>()?, bytes })
    }

    /// Returns whether baskets are fetched ahead.
    pub(super) fn reads_ahead(&self) -> bool {
        self.each.iter().any(|item| item.ahead.is_some())
    }

    /// Begins to fetch baskets: for each task, the tree and the place of each basket.
    pub(super) fn announce(&self, tasks: &[Vec<(usize, Range<u64>)>]) -> GroupAhead {
        let of = |(number, item): (usize, &TreeSource)| {
            let own = |(tree, range): &(usize, Range<u64>)| {
                let size = range.end.saturating_sub(range.start);
                (*tree == number && size <= self.bytes).then(|| range.clone())
            };
            let units: Vec<Vec<_>> =
                tasks.iter().map(|task| task.iter().filter_map(own).collect()).collect();
            let ahead =
                item.ahead.as_ref().filter(|_| units.iter().any(|unit| !unit.is_empty()))?;
            Some(ahead.announce(units, self.bytes))
        };
        GroupAhead(self.each.iter().enumerate().map(of).collect())
    }

    /// Reads baskets. Those inside a tree have no bytes of their own.
    ///
    /// # Errors
    /// `OutOfSpecification` for baskets beyond the end of their file; an error if a source cannot be read.
    pub(super) fn read<'b>(
        &self,
        joined: &Joined<'_>,
        baskets: impl Iterator<Item = &'b JoinedBasket>,
    ) -> Result<Vec<Bytes>> {
        let mut ranges: Vec<(usize, Vec<Range<u64>>)> = Vec::new();
        for basket in baskets {
            let range = joined.range(basket)?.unwrap_or(0..0);
            match ranges.last_mut() {
                Some((tree, ranges)) if *tree == basket.tree => ranges.push(range),
                _ => ranges.push((basket.tree, vec![range])),
            }
        }
        let mut all = Vec::new();
        for (number, ranges) in ranges {
            let source = self.each.get(number).map(|item| &item.source);
            all.extend(read_all(source.unwrap_or(joined.source(number)?), &ranges)?);
        }
        Ok(all)
    }
}

impl GroupAhead {
    /// Waits for the baskets of a task. They are read without a request until the returned value is dropped.
    pub(super) fn hold(&self, task: usize, context: &Context) -> Vec<Held> {
        let hold = |announced: &Announced| announced.hold(task, &|| context.is_cancelled());
        self.0.iter().flatten().filter_map(hold).collect()
    }
}
