//! The baskets of units are fetched before the units are read, where the tree is far away.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use nyssa_io::fetch::{Announced, Held};

use super::counters::needed;
use super::model::{Input, OutputField, Source};
use crate::Context;
use crate::ttree::{CountSource, Reader};

/// Fetches the baskets that several units read, before they need them.
pub(super) struct UnitReadAhead {
    /// The baskets of counters come first, then those of each unit.
    announced: Announced,
    counters: OnceLock<Option<Held>>,
}

impl UnitReadAhead {
    /// Begins to fetch what each unit reads of the entries that `entries` tells for its index. `None` where
    /// the tree is near.
    pub fn begin(
        reader: &Reader,
        inputs: &[Input<'_>],
        units: &[OutputField],
        entries: impl Fn(usize) -> Option<Range<u64>>,
        bytes: u64,
    ) -> Option<Self> {
        if !reader.reads_ahead() {
            return None;
        }
        let each = || units.iter().enumerate();
        let counters = each().filter_map(|(index, unit)| {
            Some(counter_ranges(reader, needed(inputs, unit)?, &entries(index)?))
        });
        let mut seen = HashSet::new();
        let counters: Vec<_> =
            counters.flatten().filter(|range| seen.insert(range.clone())).collect();
        let mut plan = vec![counters];
        plan.extend(each().map(|(index, unit)| match entries(index) {
            Some(entries) => {
                let mut ranges = ranges(reader, inputs, unit, &entries);
                ranges.retain(|range| !seen.contains(range));
                ranges
            }
            None => Vec::new(),
        }));
        let announced = reader.announce(plan, bytes)?;
        Some(Self { announced, counters: OnceLock::new() })
    }

    /// Waits for what a unit reads. It is at hand until the value is dropped.
    pub fn hold(&self, unit: usize, context: &Context) -> Option<Held> {
        let stopped = || context.is_cancelled();
        self.counters.get_or_init(|| self.announced.hold(0, &stopped));
        self.announced.hold(unit + 1, &stopped)
    }
}

/// The baskets of the branch of a unit.
fn ranges(
    reader: &Reader,
    inputs: &[Input<'_>],
    unit: &OutputField,
    entries: &Range<u64>,
) -> Vec<Range<u64>> {
    let (Source::Branch(index) | Source::Items(index) | Source::Streamed(index)) = unit.source
    else {
        return Vec::new();
    };
    let Some(input) = inputs.get(index) else { return Vec::new() };
    let leaves = reader.leaves(&input.path);
    leaves.into_iter().flat_map(|branch| reader.basket_ranges(branch, entries)).collect()
}

fn counter_ranges(reader: &Reader, counter: &CountSource, entries: &Range<u64>) -> Vec<Range<u64>> {
    let branch = reader.branch(&counter.branch);
    branch.map(|branch| reader.basket_ranges(branch, entries)).unwrap_or_default()
}
