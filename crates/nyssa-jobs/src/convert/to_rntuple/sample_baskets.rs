//! Stores the baskets of samples for the clusters that read them again. A remote tree then sends them only once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::heuristics::convert;
use nyssa_io::fetch::{Announced, Held};
use nyssa_root::Context;

/// Copies of baskets, by their place in the file.
pub(super) struct SampleBaskets(Mutex<BasketStore>);

struct BasketStore {
    baskets: HashMap<Range<u64>, Arc<Held>>,
    /// The number of bytes that may still be stored.
    left: u64,
}

impl SampleBaskets {
    /// Makes an empty store of baskets. `memory` is the memory of the conversion in bytes.
    pub(super) fn new(memory: u64, context: &Context) -> Arc<Self> {
        let left = (memory / convert::SAMPLE_BASKETS_DIVISOR).min(context.ahead_bytes());
        Arc::new(Self(Mutex::new(BasketStore { baskets: HashMap::new(), left })))
    }

    /// Stores the baskets that have arrived, as long as there is memory for them.
    pub(super) fn add(&self, announced: &Announced, ranges: &[Range<u64>]) {
        let mut state = self.state();
        for range in ranges {
            let bytes = range.end.saturating_sub(range.start);
            if bytes > state.left || state.baskets.contains_key(range) {
                continue;
            }
            if let Some(held) = announced.keep(range) {
                state.left -= bytes;
                state.baskets.insert(range.clone(), Arc::new(held));
            }
        }
    }

    /// Removes the stored baskets from `ranges`. They are read without a request.
    pub(super) fn skip(&self, ranges: &mut Vec<Range<u64>>) {
        let state = self.state();
        ranges.retain(|range| !state.baskets.contains_key(range));
    }

    /// Removes the stored baskets from `ranges`, and returns them.
    pub(super) fn take(&self, ranges: &mut Vec<Range<u64>>) -> Vec<Arc<Held>> {
        let mut state = self.state();
        let mut taken = Vec::new();
        ranges.retain(|range| match state.baskets.remove(range) {
            Some(held) => {
                taken.push(held);
                false
            }
            None => true,
        });
        taken
    }

    fn state(&self) -> MutexGuard<'_, BasketStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
