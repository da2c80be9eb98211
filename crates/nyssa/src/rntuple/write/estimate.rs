//! How much memory writing will take, before anything is written.

use super::budget::{Budget, file_share};
use super::{Options, SealSettings};
use crate::error::Result;
use crate::rntuple::schema::Schema;

/// The most that is held at once while one RNTuple is written, bytes. What the caller holds (the
/// arrays of one call, per thread) comes on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MemoryEstimate {
    /// Open pages: elements that are not sealed yet.
    pub buffers: u64,
    /// Sealed pages that wait for their cluster.
    pub sealed: u64,
    /// Compressors and scratch of the threads that seal.
    pub compressors: u64,
    /// Page lists, known pages and the write buffer of the file.
    pub file: u64,
    /// All together; at most [`Options::memory`]. Less than the sum where open and sealed pages share
    /// their room.
    pub total: u64,
}

/// What writing rows of `schema` takes: with as many fill contexts as `contexts`, each sealing on its
/// own thread, or with one [`super::TableWriter`] that seals on `threads` where that is `None`.
///
/// # Errors
/// `InvalidArgument` for options that cannot be; `LimitExceeded`, with what to do, when the memory
/// cannot hold so many columns and contexts.
pub fn estimate(
    schema: &Schema,
    options: &Options,
    contexts: Option<usize>,
    threads: usize,
) -> Result<MemoryEstimate> {
    options.validate()?;
    let settings = SealSettings::new(schema, options);
    let (builders, workers) = contexts.map_or((1, threads), |contexts| (contexts, 1));
    let budget = Budget::new(schema, &settings, options, builders, workers)?;
    let builders = builders as u64;
    // A column holds less than one and a half pages, and what its buffer grew by.
    let pages = (schema.columns.len() as u64).saturating_mul(2 * budget.page as u64);
    let buffers = pages.min(budget.open).saturating_mul(builders);
    let sealed = match options.buffered {
        true => options.approx_zipped_cluster.min(budget.room),
        false => budget.piece,
    };
    let sealed = sealed.saturating_mul(builders);
    let compressors = (budget.workers as u64 * budget.worker + budget.piece) * builders;
    let file = file_share(options);
    let room = buffers.saturating_add(sealed).min(budget.room * builders);
    Ok(MemoryEstimate { buffers, sealed, compressors, file, total: room + compressors + file })
}
