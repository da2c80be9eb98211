//! Reads how large baskets are when they are unpacked. Only their keys say it, so only keys are read.

use std::ops::Range;

use super::Reader;
use super::basket::payload_size;
use crate::error::Result;
use crate::fetch::read_all;
use crate::ttree::model::Basket;

/// The number of bytes that are read of a basket. Its key and its header fit, unless its names are very long.
const HEAD: u64 = 512;

impl Reader {
    /// Returns the unpacked size of each basket in bytes, if its key has names of an ordinary length.
    ///
    /// # Errors
    /// The errors of the source, and baskets that lie beyond the end of the file.
    pub(crate) fn unpacked_sizes(&self, baskets: &[&Basket]) -> Result<Vec<Option<u64>>> {
        let head =
            |basket: &&Basket| basket.seek..basket.seek.saturating_add(basket.bytes.min(HEAD));
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
}
