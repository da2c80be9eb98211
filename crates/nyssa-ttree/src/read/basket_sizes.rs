//! Reads the decompressed sizes of baskets and their entries. The key of a basket states its size, and its offsets
//! state the sizes of its entries.

use std::ops::Range;

use nyssa_root::error::Result;
use nyssa_root::fetch::{read_all, read_one};

use super::Reader;
use super::ahead::range;
use super::basket::{Opened, payload_size};
use super::basket_header::Expected;
use crate::heuristics::read;
use crate::model::Basket;

impl Reader {
    /// Returns the decompressed size of each basket in bytes, if its key has names of an ordinary length.
    ///
    /// # Errors
    /// `OutOfSpecification` for baskets beyond the end of the file; an error if the source cannot be read.
    pub fn uncompressed_sizes(&self, baskets: &[&Basket]) -> Result<Vec<Option<u64>>> {
        let head = |basket: &&Basket| {
            basket.seek..basket.seek.saturating_add(basket.bytes.min(read::BASKET_HEAD))
        };
        let stored = baskets.iter().filter(|basket| basket.embedded.is_none());
        let ranges: Vec<Range<u64>> = stored.map(head).collect();
        ranges.iter().try_for_each(|range| self.check_in_file(range))?;
        let mut heads = read_all(&self.source, &ranges)?.into_iter();
        let size = |basket: &&Basket| match &basket.embedded {
            Some(embedded) => Some(embedded.len() as u64),
            None => heads.next().and_then(|head| payload_size(&head)).map(|size| size as u64),
        };
        Ok(baskets.iter().map(size).collect())
    }

    /// Returns the size in bytes of the largest entry of a basket, if the basket has offsets. The whole basket is read.
    ///
    /// # Errors
    /// `OutOfSpecification` for damaged baskets; an error if the source cannot be read.
    pub fn largest_entry(&self, basket: &Basket) -> Result<Option<u64>> {
        if basket.embedded.is_some() {
            return Ok(None);
        }
        let range = range(basket);
        self.check_in_file(&range)?;
        let expected = Expected::of(basket);
        let opened = Opened::new(&read_one(&self.source, range)?, &expected)?;
        let rows = usize::try_from(basket.entries).unwrap_or(usize::MAX);
        let Some(offsets) = opened.contents(&expected)?.offsets(0..rows)? else { return Ok(None) };
        Ok(offsets.windows(2).map(|ends| (ends[1] - ends[0]) as u64).max())
    }
}
