//! Keeps decompressed baskets for the next group: a basket of a small branch has entries of several groups.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nyssa_ttree::repack::OpenedBasket;

/// One basket of each branch, at most.
pub(super) struct OpenedBaskets {
    state: Mutex<BasketsByBranch>,
    /// The largest number of bytes in memory.
    most: u64,
}

#[derive(Default)]
struct BasketsByBranch {
    /// The number of the basket in its branch, and the basket, by branch.
    baskets: HashMap<usize, (usize, Arc<OpenedBasket>)>,
    bytes: u64,
}

impl OpenedBaskets {
    /// Keeps up to `most` bytes.
    pub(super) fn new(most: u64) -> Self {
        Self { state: Mutex::default(), most }
    }

    /// Takes the basket of a branch, if it is the basket `number`.
    pub(super) fn take(&self, branch: usize, number: usize) -> Option<Arc<OpenedBasket>> {
        let mut state = self.lock();
        let known = state.baskets.get(&branch).is_some_and(|(known, _)| *known == number);
        let (_, basket) = if known { state.baskets.remove(&branch)? } else { return None };
        state.bytes = state.bytes.saturating_sub(basket.memory() as u64);
        Some(basket)
    }

    /// Keeps the basket `number` of a branch, if there is room.
    pub(super) fn keep(&self, branch: usize, number: usize, basket: Arc<OpenedBasket>) {
        let mut state = self.lock();
        if let Some((_, old)) = state.baskets.remove(&branch) {
            state.bytes = state.bytes.saturating_sub(old.memory() as u64);
        }
        let bytes = state.bytes.saturating_add(basket.memory() as u64);
        if bytes <= self.most {
            state.bytes = bytes;
            state.baskets.insert(branch, (number, basket));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BasketsByBranch> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
