//! Fetches baskets before their branches are read.

use std::ops::Range;
use std::sync::Arc;

use nyssa_io::fetch::{Announced, ReadAhead};

use super::Reader;
use crate::model::{Basket, Branch};

impl Reader {
    /// Returns this reader, prepared to fetch baskets ahead if its source is remote.
    #[must_use]
    pub fn reading_ahead(mut self) -> Self {
        if !self.source.limits().is_near() {
            let ahead = ReadAhead::new(Arc::clone(&self.source));
            self.source = Arc::clone(&ahead) as _;
            self.ahead = Some(ahead);
        }
        self
    }

    /// Begins to fetch the baskets of `units`. At most `bytes` are fetched and not yet used. Returns `None`
    /// when nothing is fetched ahead.
    pub fn announce(&self, units: Vec<Vec<Range<u64>>>, bytes: u64) -> Option<Announced> {
        Some(self.ahead.as_ref()?.announce(units, bytes))
    }

    /// Returns whether baskets are fetched ahead.
    pub fn reads_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// Returns the byte ranges of the baskets that hold `entries` of a branch. Baskets that are not in the
    /// file, or have no known size, are left out.
    pub fn basket_ranges(&self, branch: &Branch, entries: &Range<u64>) -> Vec<Range<u64>> {
        self.baskets_in_file(branch, entries).map(range).collect()
    }

    /// Returns the baskets that hold `entries` of a branch. Baskets that are not in the file, or have no known
    /// size, are left out.
    pub(super) fn baskets_in_file<'b>(
        &self,
        branch: &'b Branch,
        entries: &Range<u64>,
    ) -> impl Iterator<Item = &'b Basket> {
        let Range { start, end } = *entries;
        let holds = move |basket: &&Basket| {
            basket.first_entry < end && basket.first_entry.saturating_add(basket.entries) > start
        };
        branch.baskets.iter().filter(holds).filter(|basket| self.is_in_file(basket))
    }

    /// Returns whether a basket is in the file and its size is known.
    pub(super) fn is_in_file(&self, basket: &Basket) -> bool {
        let known = basket.embedded.is_none() && basket.bytes > 0;
        known && self.check_in_file(&range(basket)).is_ok()
    }
}

/// Returns the byte range of a basket.
pub(super) fn range(basket: &Basket) -> Range<u64> {
    basket.seek..basket.seek.saturating_add(basket.bytes)
}
