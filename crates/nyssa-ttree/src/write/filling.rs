//! Takes the rows of one caller. They are filled here, and their full baskets are compressed by other threads.
//!
//! The first cluster of [`AutoFlush::Bytes`](super::AutoFlush) ends where its compressed baskets have enough bytes, and
//! later rows go into baskets of other sizes. So these rows are copied, and the threads that compress fill them, too. When
//! these threads have nothing left to do, the filler comes back.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use nyssa_root::error::Result;
use nyssa_root::fill::Line;

use super::background::{Baskets, Rows};
use super::columns::BranchValues;
use super::filler::Filler;
use super::target::BasketTarget;
use crate::heuristics::write;

/// A filler and its baskets.
pub(super) struct Filling<T: BasketTarget + 'static> {
    filler: Filler,
    pub baskets: Baskets<T>,
    /// Whether the open baskets are lent to the thread that compresses.
    lent: bool,
}

impl<T: BasketTarget + 'static> Filling<T> {
    /// Starts with a filler for `target`. Threads work in the order of `line`, or the caller without a line.
    pub(super) fn new(mut filler: Filler, target: T, line: Option<&Arc<Line>>) -> Self {
        let how = filler.compressing().clone();
        if line.is_some() {
            filler.fill_alone();
        }
        Self { filler, baskets: Baskets::new(target, how, line), lent: false }
    }

    /// Returns the filler. Its open baskets may be lent: only its entries, plan and errors are up to date.
    pub(super) fn filler(&self) -> &Filler {
        &self.filler
    }

    /// Appends rows: one array of the same length for each column, in order.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit; then no row of this call is taken. `Cancelled`; the error of earlier
    /// rows.
    pub(super) fn extend(&mut self, arrays: Vec<ArrayRef>) -> Result<()> {
        self.baskets.check()?;
        self.filler.check()?;
        let rows = arrays.first().map_or(0, |array| array.len());
        let values = self.filler.split(&arrays)?;
        if self.lent && self.baskets.is_idle() {
            self.settled()?;
        }
        if !self.lent && (self.baskets.is_inline() || !self.filler.waits_for_sizes()) {
            drop(arrays);
            return self.filler.fill_rows(values, rows, &mut self.baskets);
        }
        let each = (self.filler.bytes(&values) / rows.max(1)).max(1);
        let step = (write::LENT_BYTES / each).max(1);
        if rows <= step {
            drop(arrays);
            return self.lend(values, rows, each);
        }
        drop(values);
        for start in (0..rows).step_by(step) {
            let count = step.min(rows - start);
            let slices = arrays.iter().map(|array| array.slice(start, count));
            let values = self.filler.split(&slices.collect::<Vec<_>>())?;
            self.lend(values, count, each)?;
        }
        Ok(())
    }

    /// Lets the thread that compresses fill rows, which have about `each` bytes. Rows for which there is no room are not
    /// copied: the caller fills them when all others are done.
    fn lend(&mut self, mut values: Vec<BranchValues>, count: usize, each: usize) -> Result<()> {
        let context = &self.filler.compressing().context;
        context.check().map_err(|error| self.baskets.fail(error))?;
        let bytes = each.saturating_mul(count) as u64;
        if !self.baskets.has_room(bytes) {
            let (filler, baskets) = self.settled()?;
            return filler.fill_rows(values, count, baskets);
        }
        values.iter_mut().try_for_each(BranchValues::own)?;
        let filler = (!self.lent).then(|| self.filler.lend());
        self.lent = true;
        self.filler.count_lent(count);
        self.baskets.fill(filler, Rows { values, count }, bytes)
    }

    /// Ends the open cluster.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.baskets.check()?;
        let (filler, baskets) = self.settled()?;
        filler.flush(baskets)
    }

    /// Returns the filler, with its open baskets, and the full baskets.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub(super) fn settled(&mut self) -> Result<(&mut Filler, &mut Baskets<T>)> {
        if self.lent {
            if let Some(filler) = self.baskets.take_filler()? {
                self.filler.take_back(filler);
            }
            self.lent = false;
        }
        Ok((&mut self.filler, &mut self.baskets))
    }

    /// Passes on the remaining baskets, and returns the filler and the target when all are stored.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub(super) fn finish(mut self) -> Result<(Filler, T)> {
        let (filler, baskets) = self.settled()?;
        filler.finish(baskets)?;
        Ok((self.filler, self.baskets.finish()?))
    }
}
