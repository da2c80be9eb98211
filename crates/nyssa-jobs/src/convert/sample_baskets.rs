//! Keeps the baskets that samples were taken from, for the clusters that read them again. A far tree then sends
//! them only once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nyssa_io::fetch::{Announced, Held};
use nyssa_root::Context;

/// The memory of a conversion divided by this is the most that the kept baskets take.
const MEMORY_DIVISOR: u64 = 8;

/// Copies of baskets, by their place in the file.
pub(super) struct KeptBaskets(Mutex<State>);

struct State {
    baskets: HashMap<Range<u64>, Arc<Held>>,
    /// The number of bytes that may still be kept.
    left: u64,
}

impl KeptBaskets {
    /// Makes an empty store of baskets. `memory` is the memory of the conversion in bytes.
    pub fn new(memory: u64, context: &Context) -> Arc<Self> {
        let left = (memory / MEMORY_DIVISOR).min(context.ahead_bytes());
        Arc::new(Self(Mutex::new(State { baskets: HashMap::new(), left })))
    }

    /// Keeps those baskets that have arrived, as long as there is memory for them.
    pub fn add(&self, announced: &Announced, ranges: &[Range<u64>]) {
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

    /// Removes the baskets that are kept from `ranges`. They are read without a request.
    pub fn skip(&self, ranges: &mut Vec<Range<u64>>) {
        let state = self.state();
        ranges.retain(|range| !state.baskets.contains_key(range));
    }

    /// Removes the baskets that are kept from `ranges`, and returns them.
    pub fn take(&self, ranges: &mut Vec<Range<u64>>) -> Vec<Arc<Held>> {
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
