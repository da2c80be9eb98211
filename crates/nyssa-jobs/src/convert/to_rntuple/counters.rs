//! Reads the offsets of the counters once for each cluster. All branches of a counter share them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_buffer::OffsetBuffer;
use nyssa_root::error::{Error, Result};
use nyssa_ttree::{CountSource, Reader, Shape};

use super::model::{Input, OutputField, Source};

/// One counter of the conversion.
struct Counter {
    source: CountSource,
    /// The number of units that need the counter in each cluster.
    uses: usize,
    /// A branch that the counter counts. Its baskets show the lengths if the counter itself cannot be read.
    member: usize,
    readable: bool,
}

/// The offsets that units in flight need.
pub(super) struct Counters {
    counters: Vec<Counter>,
    by_source: HashMap<CountSource, usize>,
    cache: Mutex<HashMap<(usize, usize), Arc<Slot>>>,
}

#[derive(Default)]
struct Slot {
    offsets: Mutex<Option<OffsetBuffer<i64>>>,
    used: Mutex<usize>,
}

impl Counters {
    /// Finds the counters that `units` need.
    pub(super) fn new(reader: &Reader, inputs: &[Input<'_>], units: &[OutputField]) -> Self {
        let mut counters: Vec<Counter> = Vec::new();
        let mut by_source = HashMap::new();
        for unit in units {
            let Some(source) = needed(inputs, unit) else { continue };
            let index = *by_source.entry(source.clone()).or_insert_with(|| {
                let branch = reader.branch(&source.branch);
                let readable = branch.is_some_and(|branch| match &branch.shape {
                    Ok(Shape::Plain(plain)) => {
                        plain.counter.is_none() && plain.dimensions.is_empty()
                    }
                    _ => false,
                });
                let counter = Counter { source: source.clone(), uses: 0, member: 0, readable };
                counters.push(counter);
                counters.len() - 1
            });
            let Some(counter) = counters.get_mut(index) else { continue };
            counter.uses += 1;
            if let Source::Branch(member) | Source::Items(member) = unit.source {
                counter.member = member;
            }
        }
        Self { counters, by_source, cache: Mutex::default() }
    }

    /// Returns the offsets of `source` for `entries`, which are cluster number `cluster`. Each unit that needs
    /// them calls this once, and the last call frees them.
    ///
    /// # Errors
    /// Returns an error if the branch of the counter cannot be read.
    pub(super) fn offsets(
        &self,
        reader: &Reader,
        inputs: &[Input<'_>],
        source: &CountSource,
        cluster: usize,
        entries: &Range<u64>,
    ) -> Result<OffsetBuffer<i64>> {
        let index = *self.by_source.get(source).ok_or_else(|| no_counter(source))?;
        let counter = self.counters.get(index).ok_or_else(|| no_counter(source))?;
        let slot = Arc::clone(lock(&self.cache).entry((cluster, index)).or_default());
        let offsets = {
            // The lock is held while reading, so that other units wait for these offsets.
            let mut cached = lock(&slot.offsets);
            match &*cached {
                Some(offsets) => offsets.clone(),
                None => cached.insert(counter.read(reader, inputs, entries)?).clone(),
            }
        };
        let mut used = lock(&slot.used);
        *used += 1;
        if *used >= counter.uses {
            lock(&self.cache).remove(&(cluster, index));
        }
        Ok(offsets)
    }
}

impl Counter {
    fn read(
        &self,
        reader: &Reader,
        inputs: &[Input<'_>],
        entries: &Range<u64>,
    ) -> Result<OffsetBuffer<i64>> {
        if self.readable {
            return reader.offsets(&self.source, entries.clone());
        }
        let member = inputs.get(self.member).ok_or_else(|| no_counter(&self.source))?;
        let array = reader.read_branch(member.branch, entries.clone(), None)?;
        let list = array.as_list_opt::<i64>().ok_or_else(|| no_counter(&self.source))?;
        Ok(list.offsets().clone())
    }
}

/// Returns the counter that a unit needs.
pub(super) fn needed<'a>(
    inputs: &'a [Input<'_>],
    unit: &'a OutputField,
) -> Option<&'a CountSource> {
    match &unit.source {
        Source::Offsets(source) => Some(source),
        Source::Branch(index) | Source::Items(index) => {
            let branch = inputs.get(*index)?.branch;
            // A split branch reads its counters with its sub-branches.
            branch.shape.as_ref().ok().filter(|_| branch.split.is_none())?.counter()
        }
        Source::Streamed(_) => None,
    }
}

fn no_counter(source: &CountSource) -> Error {
    Error::not_found(format!("the lengths counted by {} are not known", source.branch))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
