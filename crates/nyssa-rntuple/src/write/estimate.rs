//! Estimates the memory of a writer before anything is written.

use nyssa_root::error::Result;

use super::RNTupleWriteOptions;
use super::budget::{Budget, file_memory};
use crate::schema::Schema;

/// The maximum memory of a writer of one RNTuple, in bytes. The arrays of the caller (for one call in each thread)
/// are not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MemoryEstimate {
    /// The memory of open pages, whose elements are not sealed yet.
    pub buffers: u64,
    /// The memory of sealed pages of open clusters.
    pub sealed: u64,
    /// The memory of the compressors and buffers of the sealing threads.
    pub compressors: u64,
    /// The memory of the file: page lists, known pages and the write buffer.
    pub file: u64,
    /// The total memory. It is at most [`RNTupleWriteOptions::memory`]. It is less than the sum if open and sealed
    /// pages share memory.
    pub total: u64,
}

/// Estimates the memory to write rows of `schema`. With `contexts`, this number of fill contexts seal on their own
/// threads. Without, one [`super::TableWriter`] seals on `threads` threads.
///
/// # Errors
/// `InvalidArgument` for impossible options; `LimitExceeded`, with advice, when there is not enough memory
/// for this number of columns and contexts.
pub fn estimate(
    schema: &Schema,
    options: &RNTupleWriteOptions,
    contexts: Option<usize>,
    threads: usize,
) -> Result<MemoryEstimate> {
    options.validate()?;
    let settings = options.seal_settings(schema);
    let (builders, workers) = contexts.map_or((1, threads), |contexts| (contexts, 1));
    let budget = Budget::new(schema, &settings, options, builders, workers)?;
    let builders = builders as u64;
    // A column holds less than one and a half pages, and the growth of its buffer.
    let pages = (schema.columns.len() as u64).saturating_mul(2 * budget.page as u64);
    let buffers = pages.min(budget.open_pages).saturating_mul(builders);
    let sealed = match options.buffered {
        true => options.approx_zipped_cluster.min(budget.pages),
        false => budget.batch,
    };
    let sealed = sealed.saturating_mul(builders);
    let compressors = (budget.workers as u64 * budget.worker + budget.batch) * builders;
    let file = file_memory(options);
    let pages_memory = buffers.saturating_add(sealed).min(budget.pages * builders);
    Ok(MemoryEstimate {
        buffers,
        sealed,
        compressors,
        file,
        total: pages_memory + compressors + file,
    })
}
