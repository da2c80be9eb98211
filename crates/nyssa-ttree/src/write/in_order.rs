//! Compresses baskets on many threads, and passes them on in their order as soon as they are ready.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::pipeline::{Next, Pipeline, Plan, Threads};

use super::basket::Basket;
use super::codec::BasketCodecs;
use super::codecs::Codecs;
use super::compress::{CompressedPayload, Compressors};
use super::spare::Spare;
use super::workers::Workers;

/// The way in which the baskets of a filler are compressed.
#[derive(Clone)]
pub(super) struct Compressing {
    pub codecs: Arc<Mutex<Codecs>>,
    pub compressors: Arc<Compressors>,
    pub workers: Workers,
    pub context: Context,
}

/// A full basket of a branch.
pub(super) struct Full {
    /// The index of the branch.
    pub branch: usize,
    /// The name of the branch.
    pub name: String,
    /// The size of the key of a basket, in bytes.
    pub keylen: usize,
    pub basket: Basket,
    /// The memory for the next baskets of the branch.
    pub spare: Arc<Mutex<Spare>>,
}

/// A compressed basket with its branch.
pub(super) struct Done {
    /// The index of the branch.
    pub branch: usize,
    pub basket: Basket,
    pub result: CompressedPayload,
    /// The memory for the next baskets of the branch.
    pub spare: Arc<Mutex<Spare>>,
}

/// Chooses the codecs of branches that need one, compresses baskets, and calls `store` for each in their order, from one
/// thread at a time.
///
/// # Errors
/// `LimitExceeded` for baskets of more than 1 GiB; `Cancelled`; an error if `store` fails.
pub(super) fn compress_all(
    baskets: Vec<Full>,
    how: &Compressing,
    mut store: impl FnMut(Done) -> Result<()> + Send,
) -> Result<()> {
    let Compressing { codecs, compressors, workers, context } = how;
    let baskets: Vec<(Full, BasketCodecs)> = {
        let mut codecs = codecs.lock().unwrap_or_else(PoisonError::into_inner);
        let full = baskets.iter().map(|item| (item.branch, item.name.as_str(), &item.basket));
        codecs.choose(full, *workers, context)?;
        let with_codecs = |full: Full| {
            let own = codecs.of(full.branch, &full.basket);
            (full, own)
        };
        baskets.into_iter().map(with_codecs).collect()
    };
    let compress = |(full, codecs): (Full, BasketCodecs)| {
        let Full { branch, name, keylen, mut basket, spare } = full;
        let _stage = nyssa_observe::stage!("seal", column = name.as_str());
        let result = compressors.compress(&mut basket, keylen, &codecs).in_field(&name)?;
        Ok(Done { branch, basket, result, spare })
    };
    if *workers == Workers::Caller || baskets.len() < 2 {
        return baskets.into_iter().try_for_each(|full| {
            context.check()?;
            store(compress(full)?)
        });
    }
    let plan = EachOnce(0..baskets.len());
    let baskets: Vec<_> = baskets.into_iter().map(|full| Mutex::new(Some(full))).collect();
    let make = |&at: &usize, (): &mut ()| {
        let full =
            baskets.get(at).map(|full| full.lock().unwrap_or_else(PoisonError::into_inner).take());
        full.flatten().map(compress).transpose()
    };
    // All baskets are already in memory.
    let pipeline = Pipeline { threads: Threads::Pool, bytes: u64::MAX, context };
    pipeline.run(plan, make, |_| 0, |_, done| done.map_or(Ok(()), &mut store)).map(drop)
}

/// The numbers of the baskets.
struct EachOnce(Range<usize>);

impl Plan for EachOnce {
    type Task = usize;
    type Written = ();

    fn next(&mut self) -> Next<usize> {
        self.0.next().map_or(Next::End, |at| Next::Task(at, 0))
    }

    fn written(&mut self, _: &usize, (): ()) {}
}
