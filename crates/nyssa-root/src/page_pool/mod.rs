//! Keeps decompressed pages and baskets that two reads have in common (a page pool, in the words of ROOT).
//!
//! A page may hold entries of two neighbouring reads. Such reads share one [`PagePool`] through their
//! [`Context`](crate::Context): the first read keeps the page and the second read finds it. Every page and basket that
//! fits into memory is then fetched, checked and decompressed once. If pages of a remote source may not fit into
//! memory, their compressed bytes are kept on the local disk, so that they are fetched once, too.

mod compressed;

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nyssa_io::Source;

use self::compressed::CompressedFile;
pub use self::compressed::CompressedPage;
use crate::heuristics::container;

/// The identity of a page or basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The number of the reader that opened the page or basket, see [`PagePool::new_owner`].
    pub owner: u64,
    /// The number of the column or branch.
    pub column: u64,
    /// The place of the page or basket in its column.
    pub place: u64,
}

/// Whether a page or basket holds entries that a later read needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeededLater {
    /// No: the last entry of the page is among the entries of this read.
    No,
    /// Yes: the page also has entries that come after the entries of this read.
    Yes,
}

/// Decompressed pages and baskets, up to a number of bytes. Threads share it by reference.
pub struct PagePool(Mutex<Pages>);

struct Pages {
    pages: HashMap<Key, CacheEntry>,
    /// The compressed pages and baskets on the local disk.
    compressed: HashMap<Key, CompressedEntry>,
    compressed_bytes: u64,
    compressed_file: CompressedFile,
    /// Whether the limit may become smaller than the pages in the pool.
    shrinks: bool,
    bytes: u64,
    most: u64,
    all: bool,
    turn: u64,
    /// The number of bytes of the pages and baskets that did not fit since the last call of [`PagePool::turn`].
    refused: u64,
    /// The number of bytes of the largest page or basket that was opened so far.
    largest: u64,
}

struct CacheEntry {
    opened: Arc<dyn Any + Send + Sync>,
    bytes: u64,
    turn: u64,
}

struct CompressedEntry {
    page: CompressedPage,
    turn: u64,
}

/// Returns whether compressed pages of a source are kept on the local disk: fetching them again would wait for a
/// server, and no cache has them.
pub fn keeps_compressed(source: &Arc<dyn Source>) -> bool {
    let is_remote = nyssa_io::is_remote(source.name()) || !source.limits().is_near();
    is_remote && source.unpacked().is_none()
}

impl PagePool {
    /// Makes an empty cache that will hold `most` bytes at most.
    pub fn new(most: u64) -> Self {
        Self(Mutex::new(Pages {
            pages: HashMap::new(),
            compressed: HashMap::new(),
            compressed_bytes: 0,
            compressed_file: CompressedFile::default(),
            shrinks: false,
            bytes: 0,
            most,
            all: false,
            turn: 0,
            refused: 0,
            largest: 0,
        }))
    }

    /// Returns a number that no other reader of this process has.
    pub fn new_owner() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the bytes in the pool, plus the bytes that did not fit.
    pub fn wanted(&self) -> u64 {
        let inner = self.lock();
        inner.bytes.saturating_add(inner.refused)
    }

    /// Returns the bytes of the largest page or basket that was opened so far.
    pub fn largest(&self) -> u64 {
        self.lock().largest
    }

    /// Sets the limit to `most` bytes. If the pool holds more now, everything is dropped: keeping a part would save
    /// little.
    pub fn set_most(&self, most: u64) {
        let mut inner = self.lock();
        inner.most = most;
        inner.shrinks = true;
        if inner.bytes > most {
            inner.pages.clear();
            inner.bytes = 0;
        }
    }

    /// Sets which pages and baskets are pages: all of them if `all` is true, because the same entries will be read
    /// again. Otherwise only pages and baskets with later entries are kept.
    pub fn keep_all(&self, all: bool) {
        self.lock().all = all;
    }

    /// Finds the page or basket `key`. It is dropped from the cache unless a later read needs it.
    pub fn find<T: Any + Send + Sync>(
        &self,
        key: &Key,
        needed_later: NeededLater,
    ) -> Option<Arc<T>> {
        let mut inner = self.lock();
        let turn = inner.turn;
        let entry = inner.pages.get_mut(key)?;
        entry.turn = turn;
        let opened = Arc::clone(&entry.opened);
        if let Some(compressed) = inner.compressed.get_mut(key) {
            compressed.turn = turn;
        }
        if needed_later == NeededLater::No && !inner.all {
            inner.remove(key);
            inner.remove_compressed(key);
        }
        opened.downcast().ok()
    }

    /// Finds the compressed form of the page or basket `key` on the local disk. The form is dropped from there unless
    /// a later read needs it.
    pub fn find_compressed(&self, key: &Key, needed_later: NeededLater) -> Option<CompressedPage> {
        let mut inner = self.lock();
        let turn = inner.turn;
        let compressed = inner.compressed.get_mut(key)?;
        compressed.turn = turn;
        let page = compressed.page.clone();
        if !page.is_here() || needed_later == NeededLater::No && !inner.all {
            inner.remove_compressed(key);
        }
        page.is_here().then_some(page)
    }

    /// Returns whether a page or basket of `bytes` bytes should be kept.
    pub fn wants(&self, bytes: usize, needed_later: NeededLater) -> bool {
        let mut inner = self.lock();
        inner.largest = inner.largest.max(bytes as u64);
        let wanted = inner.all || needed_later == NeededLater::Yes;
        let fits = inner.bytes.saturating_add(bytes as u64) <= inner.most;
        if wanted && !fits {
            inner.refused = inner.refused.saturating_add(bytes as u64);
        }
        wanted && fits
    }

    /// Keeps a page or basket of `bytes` bytes if it fits.
    pub fn keep<T: Any + Send + Sync>(&self, key: Key, opened: Arc<T>, bytes: usize) {
        let mut inner = self.lock();
        inner.remove(&key);
        let (bytes, turn) = (bytes as u64, inner.turn);
        if inner.bytes.saturating_add(bytes) <= inner.most {
            inner.bytes += bytes;
            inner.pages.insert(key, CacheEntry { opened, bytes, turn });
        }
    }

    /// Keeps the compressed form of a page or basket on the local disk, if a later read needs it and memory may have
    /// no room for the decompressed form until then. This is for sources behind a network. If the disk is full, the
    /// page is fetched again.
    pub fn keep_compressed(&self, key: Key, compressed: &[u8], needed_later: NeededLater) {
        let mut inner = self.lock();
        let is_wanted = inner.all || needed_later == NeededLater::Yes;
        let stays = inner.pages.contains_key(&key) && !inner.shrinks;
        let is_full = inner.compressed_bytes.saturating_add(compressed.len() as u64)
            > container::COMPRESSED_BYTES;
        if !is_wanted || stays || is_full || inner.compressed.contains_key(&key) {
            return;
        }
        if let Ok(page) = inner.compressed_file.append(compressed) {
            inner.compressed_bytes += page.size();
            let turn = inner.turn;
            inner.compressed.insert(key, CompressedEntry { page, turn });
        }
    }

    /// Drops the pages that no read has opened or used since the last call.
    pub fn turn(&self) {
        let mut inner = self.lock();
        let Pages { pages, bytes, turn, refused, compressed, compressed_bytes, .. } = &mut *inner;
        compressed.retain(|_, entry| {
            let used = entry.turn == *turn;
            *compressed_bytes -= if used { 0 } else { entry.page.size() };
            used
        });
        pages.retain(|_, entry| {
            let used = entry.turn == *turn;
            *bytes -= if used { 0 } else { entry.bytes };
            used
        });
        *turn += 1;
        *refused = 0;
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.pages.remove(key) {
            self.bytes -= entry.bytes;
        }
    }

    fn remove_compressed(&mut self, key: &Key) {
        if let Some(compressed) = self.compressed.remove(key) {
            self.compressed_bytes -= compressed.page.size();
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
        let page_pool = PagePool::new(10);
        assert!(!page_pool.wants(4, NeededLater::No));
        assert!(page_pool.wants(4, NeededLater::Yes));
        page_pool.keep(key(1), Arc::new(vec![1u8; 4]), 4);
        page_pool.keep(key(2), Arc::new(vec![2u8; 6]), 6);
        page_pool.keep(key(3), Arc::new(vec![3u8; 1]), 1);
        assert!(!page_pool.wants(1, NeededLater::Yes));
        assert_eq!((page_pool.wanted(), page_pool.largest()), (11, 4));
        page_pool.turn();
        assert_eq!(page_pool.wanted(), 10);
        assert!(page_pool.find::<Vec<u8>>(&key(3), NeededLater::No).is_none());
        assert_eq!(*page_pool.find::<Vec<u8>>(&key(1), NeededLater::Yes).unwrap(), [1; 4]);
        assert_eq!(*page_pool.find::<Vec<u8>>(&key(1), NeededLater::No).unwrap(), [1; 4]);
        assert!(page_pool.find::<Vec<u8>>(&key(1), NeededLater::No).is_none());
        assert_eq!(page_pool.wanted(), 6);
    }

    #[test]
    fn what_nobody_uses_goes_with_the_turn() {
        let page_pool = PagePool::new(10);
        page_pool.keep(key(1), Arc::new(1u8), 1);
        page_pool.keep(key(2), Arc::new(2u8), 1);
        page_pool.turn();
        assert!(page_pool.find::<u8>(&key(1), NeededLater::Yes).is_some());
        page_pool.turn();
        assert_eq!(page_pool.wanted(), 1);
        assert!(page_pool.find::<u8>(&key(2), NeededLater::Yes).is_none());
        page_pool.keep_all(true);
        assert!(page_pool.wants(1, NeededLater::No));
        assert!(page_pool.find::<u8>(&key(1), NeededLater::No).is_some());
        assert!(page_pool.find::<u8>(&key(1), NeededLater::No).is_some());
        page_pool.set_most(0);
        assert!(page_pool.find::<u8>(&key(1), NeededLater::No).is_none());
    }

    #[test]
    fn compressed_pages_stay_on_disk_until_they_end() {
        let page_pool = PagePool::new(10);
        page_pool.keep_compressed(key(1), b"one", NeededLater::No);
        assert!(page_pool.find_compressed(&key(1), NeededLater::Yes).is_none());
        // Pages that stay in memory are not written.
        page_pool.keep(key(1), Arc::new(1u8), 1);
        page_pool.keep_compressed(key(1), b"one", NeededLater::Yes);
        assert!(page_pool.find_compressed(&key(1), NeededLater::Yes).is_none());
        // The page may not stay in memory if the limit may shrink.
        page_pool.set_most(10);
        page_pool.keep_compressed(key(1), b"one", NeededLater::Yes);
        page_pool.keep_compressed(key(2), b"second", NeededLater::Yes);
        page_pool.set_most(0);
        page_pool.turn();
        let bytes = page_pool.find_compressed(&key(1), NeededLater::Yes).unwrap();
        assert_eq!(&bytes.read().unwrap()[..], b"one");
        page_pool.turn();
        assert!(page_pool.find_compressed(&key(2), NeededLater::Yes).is_none());
        assert!(page_pool.find_compressed(&key(1), NeededLater::No).is_some());
        assert!(page_pool.find_compressed(&key(1), NeededLater::No).is_none());
    }
}
