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

/// Bytes of memory for each page that is remembered, those included that a table keeps free.
const BYTES_PER_PAGE: u64 = 192;

/// Where known pages lie. Starts afresh once too many are known, which bounds the memory and depends
/// only on what was written.
#[derive(Debug)]
pub(super) struct KnownPages {
    places: HashMap<PageKey, u64>,
    most: usize,
}

impl KnownPages {
    /// None yet, and never more than fit into so many bytes or [`MAX_REMEMBERED_PAGES`].
    pub(super) fn within(bytes: u64) -> Self {
        let most = usize::try_from(bytes / BYTES_PER_PAGE).unwrap_or(usize::MAX);
        Self { places: HashMap::new(), most: most.clamp(1, MAX_REMEMBERED_PAGES) }
    }

    /// File offset of the bytes.
    pub(super) fn find(&self, key: &PageKey) -> Option<u64> {
        self.places.get(key).copied()
    }

    /// Remembers a page.
    pub(super) fn insert(&mut self, key: PageKey, offset: u64) {
        if self.places.len() >= self.most {
            self.places.clear();
        }
        self.places.insert(key, offset);
    }
}
