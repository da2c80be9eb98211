//! Fetches the baskets of units before the units are read, if the tree is remote. A basket that two clusters share is
//! fetched once, and so is a basket that a sample was taken from.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use nyssa_io::fetch::{Announced, Held};
use nyssa_root::Context;
use nyssa_ttree::{CountSource, Reader};

use super::counters::needed;
use super::model::{Input, OutputField};
use super::sample_baskets::SampleBaskets;

/// The baskets that several units read, fetched before the units need them.
pub(super) struct UnitReadAhead {
    /// The announced baskets: first the baskets of counters, then the baskets of each unit.
    announced: Announced,
    /// The bytes of the baskets, in this order.
    states: Vec<OnceLock<Mutex<UnitBytes>>>,
    /// The baskets that the next cluster also reads, in this order. If samples are read, these are all baskets.
    shared: Vec<Vec<Range<u64>>>,
    /// The baskets that samples have fetched, in this order.
    given: Mutex<Vec<Vec<Arc<Held>>>>,
    /// The store for the baskets of samples. `None` if clusters are read.
    sample_baskets: Option<Arc<SampleBaskets>>,
    /// The previous cluster, until all shared bytes were taken over.
    before: Mutex<Option<Arc<UnitReadAhead>>>,
    /// The number of states that have not begun.
    left: AtomicUsize,
}

/// The bytes of the baskets of a unit.
#[derive(Default)]
struct UnitBytes {
    /// Its own bytes, until the unit is read.
    own: Vec<Arc<Held>>,
    /// The bytes that the next cluster also reads, until it takes them over.
    shared: Vec<Arc<Held>>,
}

/// The entries that the units read.
pub(super) struct Plan<'a> {
    pub reader: &'a Reader,
    pub inputs: &'a [Input<'a>],
    pub units: &'a [OutputField],
    /// The baskets that samples have fetched.
    pub sample_baskets: &'a Arc<SampleBaskets>,
}

impl Plan<'_> {
    /// Returns the baskets of counters, followed by the other baskets of each unit. A unit reads the entries
    /// that `entries` returns for its index.
    fn ranges(&self, entries: impl Fn(usize) -> Option<Range<u64>>) -> Vec<Vec<Range<u64>>> {
        let Self { reader, inputs, units, .. } = *self;
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
        plan
    }

    /// Begins to fetch the baskets for the sample of each unit: the entries that `entries` returns for its index. The
    /// baskets stay in memory for the clusters. Returns `None` if the tree is local.
    pub(super) fn begin_samples(
        &self,
        entries: impl Fn(usize) -> Option<Range<u64>>,
        bytes: u64,
    ) -> Option<UnitReadAhead> {
        if !self.reader.reads_ahead() {
            return None;
        }
        let mut ranges = self.ranges(entries);
        ranges.iter_mut().for_each(|ranges| self.sample_baskets.skip(ranges));
        let (shared, sample_baskets) = (ranges.clone(), Some(Arc::clone(self.sample_baskets)));
        let ahead = self.announce(ranges, bytes)?;
        Some(UnitReadAhead { shared, sample_baskets, ..ahead })
    }

    /// Begins to fetch the baskets of all units for the entries of a cluster, except baskets shared with the previous
    /// cluster `before`. Returns `None` if the tree is local.
    pub(super) fn begin_cluster(
        &self,
        entries: &Range<u64>,
        before: Option<Arc<UnitReadAhead>>,
        bytes: u64,
    ) -> Option<UnitReadAhead> {
        if !self.reader.reads_ahead() {
            return None;
        }
        let mut ranges = self.ranges(|_| Some(entries.clone()));
        let next = self.ranges(|_| Some(entries.end..entries.end.saturating_add(1)));
        let both = |(here, next): (&Vec<Range<u64>>, &Vec<Range<u64>>)| {
            next.iter().filter(|range| here.contains(range)).cloned().collect()
        };
        let shared = ranges.iter().zip(&next).map(both).collect();
        if let Some(before) = &before {
            for (ranges, shared) in ranges.iter_mut().zip(&before.shared) {
                ranges.retain(|range| !shared.contains(range));
            }
        }
        let given =
            Mutex::new(ranges.iter_mut().map(|ranges| self.sample_baskets.take(ranges)).collect());
        let ahead = self.announce(ranges, bytes)?;
        Some(UnitReadAhead { shared, given, before: Mutex::new(before), ..ahead })
    }

    /// Begins to fetch ranges. A basket with more than `bytes` would wait in memory beside its values, so it is fetched when
    /// it is read.
    fn announce(&self, mut ranges: Vec<Vec<Range<u64>>>, bytes: u64) -> Option<UnitReadAhead> {
        for ranges in &mut ranges {
            ranges.retain(|range| range.end.saturating_sub(range.start) <= bytes);
        }
        let count = ranges.len();
        Some(UnitReadAhead {
            announced: self.reader.announce(ranges, bytes)?,
            states: (0..count).map(|_| OnceLock::new()).collect(),
            shared: Vec::new(),
            given: Mutex::default(),
            sample_baskets: None,
            before: Mutex::default(),
            left: AtomicUsize::new(count),
        })
    }
}

impl UnitReadAhead {
    /// Waits for the baskets of a unit. The bytes stay available until the returned value is dropped.
    pub(super) fn hold(&self, unit: usize, context: &Context) -> Vec<Arc<Held>> {
        self.state(0, context);
        let state = self.state(unit + 1, context);
        state.map(|mut state| std::mem::take(&mut state.own)).unwrap_or_default()
    }

    /// Waits for the bytes of counters (index 0) or of a unit (index from 1 on).
    fn state(&self, index: usize, context: &Context) -> Option<MutexGuard<'_, UnitBytes>> {
        let state = self.states.get(index)?.get_or_init(|| Mutex::new(self.fetch(index, context)));
        Some(state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn fetch(&self, index: usize, context: &Context) -> UnitBytes {
        let mut own: Vec<Arc<Held>> = Vec::new();
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(mut before) = before.as_ref().and_then(|before| before.state(index, context)) {
            own.append(&mut before.shared);
        }
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.get_mut(index).into_iter().for_each(|given| own.append(given));
        drop(given);
        let fetched = self.announced.hold(index, &|| context.is_cancelled());
        // All units read the counters. A copy of these releases the other bytes of their requests.
        let fetched = fetched.map(|held| if index == 0 { held.into_copy() } else { held });
        own.extend(fetched.map(Arc::new));
        let shared = self.shared.get(index).map_or(&[][..], Vec::as_slice);
        let keep = |range| self.announced.keep(range).map(Arc::new);
        let shared = match &self.sample_baskets {
            Some(sample_baskets) => {
                sample_baskets.add(&self.announced, shared);
                Vec::new()
            }
            None => shared.iter().filter_map(keep).collect(),
        };
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        UnitBytes { own, shared }
    }
}

/// Returns the baskets of the branch of a unit.
fn ranges(
    reader: &Reader,
    inputs: &[Input<'_>],
    unit: &OutputField,
    entries: &Range<u64>,
) -> Vec<Range<u64>> {
    let input = unit.input().and_then(|index| inputs.get(index));
    let Some(input) = input else { return Vec::new() };
    let leaves = reader.leaves(&input.path);
    leaves.into_iter().flat_map(|branch| reader.basket_ranges(branch, entries)).collect()
}

fn counter_ranges(reader: &Reader, counter: &CountSource, entries: &Range<u64>) -> Vec<Range<u64>> {
    let branch = reader.branch(&counter.branch);
    branch.map(|branch| reader.basket_ranges(branch, entries)).unwrap_or_default()
}
