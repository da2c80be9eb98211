//! What one read has opened and the next one needs again: pages and baskets that reach beyond the
//! entries of a read.
//!
//! Reads of neighbouring ranges share one [`Leftovers`] through their
//! [`Context`](crate::Context). Each takes what it finds there and leaves what reaches beyond its end,
//! so that every page and basket that fits is fetched, checked and decompressed once.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a page or basket is: the reader that opened it, its column, its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// See [`Leftovers::new_owner`].
    pub owner: u64,
    /// Number of the column or branch.
    pub column: u64,
    /// Its place among those of the column.
    pub place: u64,
}

/// Whether something that was opened is needed once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It ends with the entries that are read.
    Ends,
    /// Entries behind those that are read are in it, too.
    Beyond,
}

/// Opened pages and baskets of some memory at most. Shared between threads by reference.
pub struct Leftovers(Mutex<Inner>);

struct Inner {
    kept: HashMap<Key, Kept>,
    bytes: u64,
    most: u64,
    all: bool,
    turn: u64,
    /// Bytes of what found no room in this turn.
    refused: u64,
    /// Bytes of the largest that was opened so far.
    largest: u64,
}

struct Kept {
    opened: Arc<dyn Any + Send + Sync>,
    bytes: u64,
    turn: u64,
}

impl Leftovers {
    /// Nothing yet, and never more than `most` bytes.
    pub fn new(most: u64) -> Self {
        let kept = HashMap::new();
        let (bytes, turn, refused, largest) = (0, 0, 0, 0);
        Self(Mutex::new(Inner { kept, bytes, most, all: false, turn, refused, largest }))
    }

    /// A number for a reader, which no other one in this process has.
    pub fn new_owner() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// Bytes that are kept, and those that would be if there were room.
    pub fn wanted(&self) -> u64 {
        let inner = self.lock();
        inner.bytes.saturating_add(inner.refused)
    }

    /// Bytes of the largest page or basket that was opened so far.
    pub fn largest(&self) -> u64 {
        self.lock().largest
    }

    /// Keeps no more than `most` bytes from now on. If there is more, all of it goes: a part would save
    /// little.
    pub fn set_most(&self, most: u64) {
        let mut inner = self.lock();
        inner.most = most;
        if inner.bytes > most {
            inner.kept.clear();
            inner.bytes = 0;
        }
    }

    /// Keeps everything that is opened from now on, or again only what reaches beyond: for a read whose
    /// entries are read again.
    pub fn keep_all(&self, all: bool) {
        self.lock().all = all;
    }

    /// What is kept under `key`. It stays only when it is needed once more.
    pub fn find<T: Any + Send + Sync>(&self, key: &Key, reach: Reach) -> Option<Arc<T>> {
        let mut inner = self.lock();
        let turn = inner.turn;
        let kept = inner.kept.get_mut(key)?;
        kept.turn = turn;
        let opened = Arc::clone(&kept.opened);
        if reach == Reach::Ends && !inner.all {
            inner.remove(key);
        }
        opened.downcast().ok()
    }

    /// Whether what is opened now, of so many bytes, is to be kept.
    pub fn wants(&self, bytes: usize, reach: Reach) -> bool {
        let mut inner = self.lock();
        inner.largest = inner.largest.max(bytes as u64);
        let wanted = inner.all || reach == Reach::Beyond;
        let fits = inner.bytes.saturating_add(bytes as u64) <= inner.most;
        if wanted && !fits {
            inner.refused = inner.refused.saturating_add(bytes as u64);
        }
        wanted && fits
    }

    /// Keeps something of `bytes` bytes, if it may.
    pub fn keep<T: Any + Send + Sync>(&self, key: Key, opened: Arc<T>, bytes: usize) {
        let mut inner = self.lock();
        inner.remove(&key);
        let (bytes, turn) = (bytes as u64, inner.turn);
        if inner.bytes.saturating_add(bytes) <= inner.most {
            inner.bytes += bytes;
            inner.kept.insert(key, Kept { opened, bytes, turn });
        }
    }

    /// Lets go of what no read has opened or used since the last call: nobody comes back to it.
    pub fn turn(&self) {
        let mut inner = self.lock();
        let Inner { kept, bytes, turn, refused, .. } = &mut *inner;
        kept.retain(|_, one| {
            let used = one.turn == *turn;
            *bytes -= if used { 0 } else { one.bytes };
            used
        });
        *turn += 1;
        *refused = 0;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn remove(&mut self, key: &Key) {
        if let Some(kept) = self.kept.remove(key) {
            self.bytes -= kept.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(place: u64) -> Key {
        Key { owner: 0, column: 0, place }
    }

    #[test]
    fn what_reaches_beyond_is_kept_until_it_ends() {
        let leftovers = Leftovers::new(10);
        assert!(!leftovers.wants(4, Reach::Ends));
        assert!(leftovers.wants(4, Reach::Beyond));
        leftovers.keep(key(1), Arc::new(vec![1u8; 4]), 4);
        leftovers.keep(key(2), Arc::new(vec![2u8; 6]), 6);
        leftovers.keep(key(3), Arc::new(vec![3u8; 1]), 1);
        assert!(!leftovers.wants(1, Reach::Beyond));
        assert_eq!((leftovers.wanted(), leftovers.largest()), (11, 4));
        leftovers.turn();
        assert_eq!(leftovers.wanted(), 10);
        assert!(leftovers.find::<Vec<u8>>(&key(3), Reach::Ends).is_none());
        assert_eq!(*leftovers.find::<Vec<u8>>(&key(1), Reach::Beyond).unwrap(), [1; 4]);
        assert_eq!(*leftovers.find::<Vec<u8>>(&key(1), Reach::Ends).unwrap(), [1; 4]);
        assert!(leftovers.find::<Vec<u8>>(&key(1), Reach::Ends).is_none());
        assert_eq!(leftovers.wanted(), 6);
    }

    #[test]
    fn what_nobody_uses_goes_with_the_turn() {
        let leftovers = Leftovers::new(10);
        leftovers.keep(key(1), Arc::new(1u8), 1);
        leftovers.keep(key(2), Arc::new(2u8), 1);
        leftovers.turn();
        assert!(leftovers.find::<u8>(&key(1), Reach::Beyond).is_some());
        leftovers.turn();
        assert_eq!(leftovers.wanted(), 1);
        assert!(leftovers.find::<u8>(&key(2), Reach::Beyond).is_none());
        leftovers.keep_all(true);
        assert!(leftovers.wants(1, Reach::Ends));
        assert!(leftovers.find::<u8>(&key(1), Reach::Ends).is_some());
        assert!(leftovers.find::<u8>(&key(1), Reach::Ends).is_some());
        leftovers.set_most(0);
        assert!(leftovers.find::<u8>(&key(1), Reach::Ends).is_none());
    }
}
