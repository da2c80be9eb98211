//! Pages that are already in the file, so that equal ones are stored once (specification: locators may
//! reference identical byte ranges).

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::MAX_REMEMBERED_PAGES;

/// Identity of sealed bytes: two independent hashes (the page's XXH3-64 and XXH3-128) and the
/// length. Telling unequal pages equal would take a collision of 128 bits or more, which is far less
/// likely than an unnoticed fault of memory or disk; the bytes themselves are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PageKey {
    hash: u128,
    checksum: u64,
    len: u64,
}

impl PageKey {
    pub(super) fn new(bytes: &[u8], checksum: u64) -> Self {
        Self { hash: xxh3_128(bytes), checksum, len: bytes.len() as u64 }
    }
}

/// Where known pages lie. Starts afresh once [`MAX_REMEMBERED_PAGES`] are known, which bounds the
/// memory and depends only on what was written.
#[derive(Debug, Default)]
pub(super) struct KnownPages(HashMap<PageKey, u64>);

impl KnownPages {
    /// File offset of the bytes.
    pub(super) fn find(&self, key: &PageKey) -> Option<u64> {
        self.0.get(key).copied()
    }

    /// Remembers a page.
    pub(super) fn insert(&mut self, key: PageKey, offset: u64) {
        if self.0.len() >= MAX_REMEMBERED_PAGES {
            self.0.clear();
        }
        self.0.insert(key, offset);
    }
}
