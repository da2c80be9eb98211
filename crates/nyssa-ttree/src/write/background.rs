//! Compresses the baskets of a filler on other threads ([`Background`]), and stores them in their order. Until the end of the
//! first cluster is known, these threads fill, too.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use nyssa_root::error::{Error, Result};
use nyssa_root::fill::{Background, Line, Room, Worker};

use super::columns::BranchValues;
use super::compress::CompressedPayload;
use super::filler::Filler;
use super::in_order::{self, Compressing, Done, Full};
use super::target::{BasketTarget, BranchState, CompressedBasket, FilledTarget, OBJECT};
use crate::heuristics::write;

/// The baskets of one filler.
pub(super) struct Baskets<T: BasketTarget + 'static> {
    background: Background<Sealing<T>>,
}

impl<T: BasketTarget + 'static> Baskets<T> {
    /// Starts without baskets. Threads work in the order of `line`, or the caller without a line.
    pub(super) fn new(target: T, how: Compressing, line: Option<&Arc<Line>>) -> Self {
        let context = how.context.clone();
        let room = Room { limit: write::WAITING_BASKETS, least: 0 };
        let sealing = Sealing { storing: Storing { target, how }, filler: None };
        Self { background: Background::new(sealing, &context, line, room) }
    }

    /// Returns the time that the filler waited until others had compressed enough.
    pub(super) fn stalled(&self) -> Duration {
        self.background.stalled()
    }

    /// Returns whether an error ended the work.
    pub(super) fn is_broken(&self) -> bool {
        self.background.is_broken()
    }

    /// Returns whether the caller does the work.
    pub(super) fn is_inline(&self) -> bool {
        self.background.is_inline()
    }

    /// Returns whether all work is done.
    pub(super) fn is_idle(&self) -> bool {
        self.background.is_idle()
    }

    /// Checks that no error ended the work.
    ///
    /// # Errors
    /// The error of earlier baskets. After the first time it says that the tree cannot be completed.
    pub(super) fn check(&self) -> Result<()> {
        self.background.check()
    }

    /// Ends the work because of an error of the caller, which is returned.
    pub(super) fn fail(&self, error: Error) -> Error {
        self.background.fail(error)
    }

    /// Waits until rows of `bytes` bytes may wait, or all work is done. Returns whether they may wait.
    pub(super) fn has_room(&mut self, bytes: u64) -> bool {
        self.background.has_room(bytes)
    }

    /// Takes rows, and the filler for them if it is not here yet.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub(super) fn fill(&mut self, filler: Option<Filler>, rows: Rows, bytes: u64) -> Result<()> {
        self.background.submit(Work::Rows(filler.map(Box::new), rows), bytes)
    }

    /// Returns the filler when it has filled all rows.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub(super) fn take_filler(&mut self) -> Result<Option<Filler>> {
        self.background.with(|sealing| Ok(sealing.filler.take().map(|filler| *filler)))
    }

    /// Runs `access` on the target when all baskets are stored.
    ///
    /// # Errors
    /// The error of earlier baskets, and of `access`.
    pub(super) fn with<R>(&mut self, access: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        self.background.with(|sealing| access(&mut sealing.storing.target))
    }

    /// Runs `access` on the target when all baskets are stored or have failed.
    pub(super) fn at_rest<R>(&self, access: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.background.at_rest(|sealing| access(&mut sealing.storing.target))
    }

    /// Returns the target when all baskets are stored.
    ///
    /// # Errors
    /// The error of earlier baskets.
    pub(super) fn finish(self) -> Result<T> {
        Ok(self.background.finish()?.storing.target)
    }
}

/// Baskets of any size may wait if no others do.
impl<T: BasketTarget + 'static> FilledTarget for Baskets<T> {
    fn take_full(&mut self, full: Vec<Full>) -> Result<()> {
        if full.is_empty() {
            return Ok(());
        }
        let bytes = full.iter().map(|item| item.basket.len_with_offsets() as u64).sum();
        self.background.has_room(bytes);
        self.background.submit(Work::Full(full), bytes)
    }

    fn store(&mut self, basket: CompressedBasket) -> Result<()> {
        let bytes = basket.payload.len() as u64;
        self.background.has_room(bytes);
        self.background.submit(Work::Done(basket), bytes)
    }

    fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()> {
        self.background.submit(Work::End(end, branches), 0)
    }
}

/// Rows that are split into the values of each branch.
pub(super) struct Rows {
    pub values: Vec<BranchValues>,
    pub count: usize,
}

/// The part that works in the background.
struct Sealing<T> {
    storing: Storing<T>,
    /// The filler of the first cluster.
    filler: Option<Box<Filler>>,
}

/// A piece of its work.
enum Work {
    /// Rows to fill, and the filler if it comes with them.
    Rows(Option<Box<Filler>>, Rows),
    /// Baskets to compress.
    Full(Vec<Full>),
    /// A compressed basket.
    Done(CompressedBasket),
    /// The end of a cluster, before this entry, and the state of each branch.
    End(u64, Vec<BranchState>),
}

impl<T: BasketTarget + 'static> Worker for Sealing<T> {
    type Work = Work;

    const OBJECT: &'static str = OBJECT;

    fn run(&mut self, work: Work) -> Result<()> {
        let Self { storing, filler } = self;
        match work {
            Work::Rows(next, rows) => {
                *filler = next.or_else(|| filler.take());
                let Some(filler) = filler else { return Ok(()) };
                filler.fill_rows(rows.values, rows.count, storing)
            }
            Work::Full(full) => storing.take_full(full),
            Work::Done(basket) => storing.store(basket),
            Work::End(end, branches) => storing.end_cluster(end, branches),
        }
    }

    fn failed(&mut self, error: &Error) {
        self.storing.target.failed(error);
    }
}

/// A target with the way in which its baskets are compressed.
struct Storing<T> {
    target: T,
    how: Compressing,
}

impl<T: BasketTarget> FilledTarget for Storing<T> {
    fn take_full(&mut self, full: Vec<Full>) -> Result<()> {
        let how = self.how.clone();
        in_order::compress_all(full, &how, |done| self.store(done.stored()))
    }

    fn store(&mut self, basket: CompressedBasket) -> Result<()> {
        if let Some(free) = self.target.store(basket)? {
            self.how.compressors.recycle(free);
        }
        Ok(())
    }

    fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()> {
        self.how.codecs.lock().unwrap_or_else(PoisonError::into_inner).end_cluster();
        self.target.end_cluster(end, branches)
    }
}

impl Done {
    /// Returns the stored form of the basket. The memory that it does not need is used for the next baskets.
    pub(super) fn stored(self) -> CompressedBasket {
        let Self { branch, basket, result, spare } = self;
        let CompressedPayload { header, compressed, objlen } = result;
        let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ends) = basket.ends {
            spare.put_ends(ends);
        }
        let payload = match compressed {
            Some(payload) => {
                spare.put_entries(basket.data);
                payload
            }
            None => basket.data,
        };
        CompressedBasket { branch, first: basket.first, header, payload, objlen }
    }
}
