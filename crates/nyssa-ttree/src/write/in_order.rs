//! Compresses baskets on many threads, and hands them over in their order as soon as they are ready.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::pipeline::{Next, Pipeline, Plan, Threads};

use super::basket::Basket;
use super::codec::BasketCodecs;
use super::seal::{Compressors, Sealed};

/// The threads that fill and compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workers {
    /// All threads of the context.
    All,
    /// The thread that calls.
    Caller,
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
    pub codecs: BasketCodecs,
}

/// A basket with the branch to which it belongs, sealed.
pub(super) struct Done {
    /// The index of the branch.
    pub branch: usize,
    pub basket: Basket,
    pub sealed: Sealed,
}

/// Compresses baskets, and calls `store` for each in their order, from one thread at a time.
///
/// # Errors
/// `LimitExceeded` for baskets of more than 1 GiB; `Cancelled`; the errors of `store`.
pub(super) fn seal_all(
    baskets: Vec<Full>,
    (workers, context): (Workers, &Context),
    compressors: &Compressors,
    mut store: impl FnMut(Done) -> Result<()> + Send,
) -> Result<()> {
    let seal = |full: Full| {
        let Full { branch, name, keylen, mut basket, codecs } = full;
        let _span = tracing::trace_span!("seal", column = name.as_str()).entered();
        let sealed = compressors.seal(&mut basket, keylen, &codecs).in_field(&name)?;
        Ok(Done { branch, basket, sealed })
    };
    if workers == Workers::Caller || baskets.len() < 2 {
        return baskets.into_iter().try_for_each(|full| store(seal(full)?));
    }
    let plan = EachOnce(0..baskets.len());
    let baskets: Vec<_> = baskets.into_iter().map(|full| Mutex::new(Some(full))).collect();
    let make = |&at: &usize, (): &mut ()| {
        let full =
            baskets.get(at).map(|one| one.lock().unwrap_or_else(PoisonError::into_inner).take());
        full.flatten().map(seal).transpose()
    };
    // All baskets are in memory already.
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
