//! Records pages that are in the file, so that equal pages are stored once (specification: locators may refer to the
//! same byte range).

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::MAX_REMEMBERED_PAGES;
use crate::page::SealedPage;

/// The identity of the bytes of a sealed page: two independent hashes (XXH3-64 and XXH3-128) and the length. Two
/// different pages would be taken as equal only if all of them collide, which is much less likely than an unnoticed
/// error of memory or disk. The bytes themselves are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PageKey {
    hash: u128,
    checksum: u64,
    len: u64,
}

impl PageKey {
    pub(super) fn of(page: &SealedPage) -> Self {
        let hash = page.identity.unwrap_or_else(|| xxh3_128(&page.bytes));
        Self { hash, checksum: page.checksum, len: page.bytes.len() as u64 }
    }
}

/// The memory of each recorded page, in bytes. It includes the free part of a table.
const BYTES_PER_PAGE: u64 = 192;

/// The positions of known pages. When there are too many, all are dropped. This limits the memory, and depends only
/// on the written pages.
#[derive(Debug)]
pub(super) struct KnownPages {
    places: HashMap<PageKey, u64>,
    max_pages: usize,
}

impl KnownPages {
    /// Makes an empty table for at most [`MAX_REMEMBERED_PAGES`] pages and this number of bytes of memory.
    pub(super) fn within(bytes: u64) -> Self {
        let max_pages = usize::try_from(bytes / BYTES_PER_PAGE).unwrap_or(usize::MAX);
        Self { places: HashMap::new(), max_pages: max_pages.clamp(1, MAX_REMEMBERED_PAGES) }
    }

    /// Returns the position of the page in the file.
    pub(super) fn find(&self, key: &PageKey) -> Option<u64> {
        self.places.get(key).copied()
    }

    /// Records a page.
    pub(super) fn insert(&mut self, key: PageKey, offset: u64) {
        if self.places.len() >= self.max_pages {
            self.places.clear();
        }
        self.places.insert(key, offset);
    }
}
