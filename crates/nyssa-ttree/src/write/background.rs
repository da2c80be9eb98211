//! Compresses the baskets of a filler on other threads ([`Background`]), and stores them in their order.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use nyssa_root::error::{Error, Result};
use nyssa_root::fill::{Background, Line, Room, Worker};

use super::compress::CompressedPayload;
use super::in_order::{self, Compressing, Done, Full};
use super::target::{BasketTarget, BranchState, CompressedBasket};
use crate::heuristics::write;

/// The name of the object that is written, for messages.
pub(super) const OBJECT: &str = "TTree";

/// The baskets of one filler.
pub(super) struct Baskets<T: BasketTarget + 'static> {
    background: Background<Storing<T>>,
}

impl<T: BasketTarget + 'static> Baskets<T> {
    /// Starts without baskets. Threads work in the order of `line`, or the caller without a line.
    pub(super) fn new(target: T, how: Compressing, line: Option<&Arc<Line>>) -> Self {
        let context = how.context.clone();
        let room = Room { limit: write::WAITING_BASKETS, least: 0 };
        let background = Background::new(Storing { target, how }, &context, line, room);
        Self { background }
    }

    /// Returns the time that the filler waited until others had compressed enough.
    pub(super) fn stalled(&self) -> Duration {
        self.background.stalled()
    }

    /// Returns whether an error ended the work.
    pub(super) fn is_broken(&self) -> bool {
        self.background.is_broken()
    }

    /// Checks that no error ended the work.
    ///
    /// # Errors
    /// The error of earlier baskets. After the first time it says that the tree cannot be completed.
    pub(super) fn check(&self) -> Result<()> {
        self.background.check()
    }

    /// Takes full baskets, in the order in which they became full. Baskets of any size may wait if no others do.
    ///
    /// # Errors
    /// The error of earlier baskets.
    pub(super) fn take_full(&mut self, full: Vec<Full>) -> Result<()> {
        if full.is_empty() {
            return Ok(());
        }
        let bytes = full.iter().map(|item| item.basket.len_with_offsets() as u64).sum();
        self.background.has_room(bytes);
        self.background.submit(Work::Full(full), bytes)
    }

    /// Takes the next compressed basket.
    ///
    /// # Errors
    /// The error of earlier baskets.
    pub(super) fn store(&mut self, basket: CompressedBasket) -> Result<()> {
        let bytes = basket.payload.len() as u64;
        self.background.has_room(bytes);
        self.background.submit(Work::Done(basket), bytes)
    }

    /// Ends a cluster before the entry `end`, counted by the filler. `branches` contains the state of each branch.
    ///
    /// # Errors
    /// The error of earlier baskets.
    pub(super) fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()> {
        self.background.submit(Work::End(end, branches), 0)
    }

    /// Waits until all baskets are stored.
    ///
    /// # Errors
    /// The error of earlier baskets.
    pub(super) fn drain(&mut self) -> Result<()> {
        self.background.drain()
    }

    /// Runs `access` on the target when all baskets are stored.
    ///
    /// # Errors
    /// The error of earlier baskets, and of `access`.
    pub(super) fn with<R>(&mut self, access: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        self.background.with(|storing| access(&mut storing.target))
    }

    /// Runs `access` on the target when all baskets are stored or have failed.
    pub(super) fn at_rest<R>(&self, access: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.background.at_rest(|storing| access(&mut storing.target))
    }

    /// Returns the target when all baskets are stored.
    ///
    /// # Errors
    /// The error of earlier baskets.
    pub(super) fn finish(self) -> Result<T> {
        Ok(self.background.finish()?.target)
    }
}

/// The part that works in the background.
struct Storing<T> {
    target: T,
    how: Compressing,
}

/// A piece of its work.
enum Work {
    /// Baskets to compress.
    Full(Vec<Full>),
    /// A compressed basket.
    Done(CompressedBasket),
    /// The end of a cluster, before this entry, and the state of each branch.
    End(u64, Vec<BranchState>),
}

impl<T: BasketTarget + 'static> Worker for Storing<T> {
    type Work = Work;

    const OBJECT: &'static str = OBJECT;

    fn run(&mut self, work: Work) -> Result<()> {
        let Self { target, how } = self;
        let mut store = |basket| {
            if let Some(free) = target.store(basket)? {
                how.compressors.recycle(free);
            }
            Ok(())
        };
        match work {
            Work::Full(full) => in_order::compress_all(full, how, |done| store(done.stored())),
            Work::Done(basket) => store(basket),
            Work::End(end, branches) => {
                how.codecs.lock().unwrap_or_else(PoisonError::into_inner).end_cluster();
                target.end_cluster(end, branches)
            }
        }
    }

    fn failed(&mut self, error: &Error) {
        self.target.failed(error);
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
