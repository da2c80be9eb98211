//! Keeps the codecs of all branches of a filler, and chooses them again after some clusters.

use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use rayon::prelude::*;

use super::basket::Basket;
use super::codec::{BasketCodecs, BranchCodec};
use super::workers::Workers;

/// The codecs of the branches of one filler.
#[derive(Debug)]
pub(super) struct Codecs {
    branches: Vec<BranchCodec>,
    /// The number of complete clusters.
    complete: u64,
}

impl Codecs {
    /// Starts without a choice.
    pub(super) fn new(branches: impl Iterator<Item = BranchCodec>) -> Self {
        Self { branches: branches.collect(), complete: 0 }
    }

    /// Restarts without a choice.
    pub(super) fn fork(&self) -> Self {
        let mut branches = self.branches.clone();
        branches.iter_mut().for_each(BranchCodec::forget);
        Self { branches, complete: 0 }
    }

    /// Adds the codecs of branches that come behind these branches.
    pub(super) fn extend(&mut self, branches: impl Iterator<Item = BranchCodec>) {
        self.branches.extend(branches);
    }

    /// Sets the codec of the next baskets of a branch.
    pub(super) fn set(&mut self, branch: usize, codec: BranchCodec) {
        if let Some(old) = self.branches.get_mut(branch) {
            *old = codec;
        }
    }

    /// Chooses the codecs of branches without a codec, by the first basket that is large enough. The choice does not
    /// depend on the number of baskets that come at once. Baskets come with the index and the name of their branch.
    ///
    /// # Errors
    /// `LimitExceeded` if a library cannot allocate its state.
    pub(super) fn choose<'a>(
        &mut self,
        full: impl Iterator<Item = (usize, &'a str, &'a Basket)>,
        workers: Workers,
        context: &Context,
    ) -> Result<()> {
        let mut first: Vec<Option<(&str, &Basket)>> = vec![None; self.branches.len()];
        for (branch, name, basket) in full {
            if first[branch].is_none() && self.branches[branch].wants(basket) {
                first[branch] = Some((name, basket));
            }
        }
        let chosen = self.branches.iter_mut().zip(first);
        let chosen: Vec<_> = chosen.filter_map(|(codec, first)| Some((codec, first?))).collect();
        let choose = |(codec, (name, basket)): (&mut BranchCodec, (&str, &Basket))| {
            let _stage = nyssa_observe::stage!("choose", column = name);
            codec.choose(basket).in_field(name)
        };
        match workers {
            Workers::Caller => chosen.into_iter().try_for_each(choose),
            Workers::All => context.pool().install(|| chosen.into_par_iter().try_for_each(choose)),
        }
    }

    /// Returns the codecs of a basket, which lacks its offsets.
    pub(super) fn of(&self, branch: usize, basket: &Basket) -> BasketCodecs {
        self.branches[branch].of(basket)
    }

    /// Forgets choices by baskets with entries from `end` on.
    pub(super) fn forget_behind(&mut self, end: u64) {
        self.branches.iter_mut().for_each(|codec| codec.forget_behind(end));
    }

    /// Ends a cluster. Later data may differ, and the size of baskets changes. The choice is made again in clusters 2, 3,
    /// 5, 9, ....
    pub(super) fn end_cluster(&mut self) {
        self.complete += 1;
        if self.complete.is_power_of_two() {
            self.branches.iter_mut().for_each(BranchCodec::forget);
        }
    }
}
