//! Finds the baskets of a branch, from `fBasketSeek`, `fBasketBytes` and `fBasketEntry` of `TBranch`. Baskets
//! that were still in memory when the tree was written are streamed inside it (`fBaskets`).
//!
//! The tables have `fMaxBaskets` elements. `fWriteBasket` is the number of baskets that were written, and the
//! index of the basket that is being filled.

use std::ops::Range;

use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::values::{Numbers, Value, View};

use super::Basket;

/// The baskets of a branch.
pub(crate) struct BasketTable {
    /// The baskets that contain entries, in order.
    pub baskets: Vec<Basket>,
    /// Whether the baskets hold all entries of the branch, with the reason if they do not.
    pub complete: std::result::Result<(), String>,
}

impl BasketTable {
    /// Adds `start` to the offsets of all baskets, for a file that begins at byte `start` of the source. Offsets
    /// beyond `most` exist in no file and stay beyond the end of this file.
    pub(crate) fn shift(&mut self, start: u64, most: u64) {
        let stored = self.baskets.iter_mut().filter(|basket| basket.embedded.is_none());
        stored.for_each(|basket| basket.seek = basket.seek.min(most).saturating_add(start));
    }
}

/// Reads the baskets of a branch that has the `entries` of the tree.
pub(crate) fn basket_table(view: View<'_>, entries: Range<u64>) -> Result<BasketTable> {
    let written = view.usize("fWriteBasket")?;
    let starts = view.i64s("fBasketEntry")?;
    let memory = view.list("fBaskets")?;
    // Old ROOT versions store the sizes only in the keys of the baskets, and the oldest versions do not store the
    // positions either.
    let table = |name: &str| match view.get(name) {
        Some(_) => view.i64s(name).map(Some),
        None => Ok(None),
    };
    let sizes = table("fBasketBytes")?.unwrap_or_default();
    let seeks = match table("fBasketSeek")? {
        Some(seeks) => seeks,
        None => memory
            .iter()
            .map(|basket| basket.map_or(Ok(0), |basket| basket.i64("fSeekKey")))
            .collect::<Result<_>>()?,
    };
    let Range { start: first, end: entries } = entries;
    let begins = starts.first().map_or(first, |&start| u64::try_from(start).unwrap_or(0));
    let mut baskets = Vec::new();
    let mut next = begins;
    let mut missing = None;
    for index in 0..=written {
        let Some(&start) = starts.get(index) else { break };
        let end = match starts.get(index + 1) {
            Some(&end) if index < written => end,
            _ => i64::try_from(entries).unwrap_or(i64::MAX),
        };
        let (Ok(start), Ok(end)) = (u64::try_from(start), u64::try_from(end)) else {
            return Err(wrong(index, start, end));
        };
        // After the last entry, the elements of the tables are unused.
        if start == entries && index == written {
            break;
        }
        if end < start {
            return Err(wrong(index, start, end));
        }
        let at = |table: &[i64]| table.get(index).and_then(|&n| u64::try_from(n).ok()).unwrap_or(0);
        let (seek, bytes) = (at(&seeks), at(&sizes));
        let embedded = match memory.get(index).copied().flatten() {
            // Old ROOT versions store a position but no size for baskets that were never written.
            Some(basket) if seek == 0 || bytes == 0 && holds_data(basket)? => streamed(basket),
            _ => None,
        };
        if start == end {
            continue;
        }
        if seek == 0 && embedded.is_none() {
            missing.get_or_insert(start);
            continue;
        }
        let basket = Basket { seek, bytes, first_entry: start, entries: end - start, embedded };
        next = end;
        baskets.push(basket);
    }
    let complete = match missing {
        Some(start) => Err(format!("the basket with entry {start} is not in the file")),
        None if begins != first => {
            Err(format!("its baskets start at entry {begins}, and not at entry {first}"))
        }
        None if next != entries => Err(format!("its baskets hold {next} of {entries} entries")),
        None => Ok(()),
    };
    Ok(BasketTable { baskets, complete })
}

/// Returns the streamed bytes of a basket, unless it is empty, like the baskets of split branches.
fn streamed(basket: View<'_>) -> Option<std::sync::Arc<[u8]>> {
    if basket.i64("fNevBuf").ok()? == 0 {
        return None;
    }
    match basket.get("streamed") {
        Some(Value::Numbers(Numbers::UInt8(bytes))) => Some((&**bytes).into()),
        _ => None,
    }
}

/// Returns whether more than the header of a basket was streamed (the flag in `TBasket::Streamer`).
fn holds_data(basket: View<'_>) -> Result<bool> {
    let flag = basket.i64("flag")?;
    let kind = if flag >= 80 { flag - 80 } else { flag };
    Ok(kind == 1 || kind > 10)
}

fn wrong(basket: usize, start: impl std::fmt::Display, end: impl std::fmt::Display) -> Error {
    Error::out_of_spec(format!("a basket goes from entry {start} to entry {end}"))
        .at(|place| place.basket = Some(basket as u64))
}
