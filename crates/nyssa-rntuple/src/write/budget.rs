//! Divides the memory of a writer between its parts.

use std::sync::Arc;

use nyssa_root::compression::Codec;
use nyssa_root::effort::Chooser;
use nyssa_root::error::{Error, Result};

use super::RNTupleWriteOptions;
use crate::heuristics::{seal, write};
use crate::schema::Schema;
use crate::seal::{ColumnSettings, SealSettings};

const MEBIBYTE: u64 = 1 << 20;

/// The memory of the parts of one cluster builder, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// The memory of open and sealed pages together.
    pub(super) pages: u64,
    /// The memory of open pages.
    pub(super) open_pages: u64,
    /// The maximum size of a page before compression, in bytes.
    pub(super) page: usize,
    /// The number of threads that seal at the same time.
    pub(super) workers: usize,
    /// The memory of each of these threads.
    pub(super) worker: u64,
    /// The size of the rows that are converted together.
    pub(super) batch: u64,
}

impl Budget {
    /// Computes the budget of one of `builders` cluster builders. Each seals on `threads` threads.
    ///
    /// # Errors
    /// `LimitExceeded` when the memory cannot hold the first page of every column.
    pub(super) fn new(
        schema: &Schema,
        settings: &SealSettings,
        options: &RNTupleWriteOptions,
        builders: usize,
        threads: usize,
    ) -> Result<Self> {
        let memory = (options.memory - file_memory(options)) / (builders as u64).max(1);
        let (page, worker) = page_and_worker(settings, options, memory);
        let workers =
            usize::try_from(memory / write::SEALING_DIVISOR / worker).unwrap_or(usize::MAX);
        let workers = workers.clamp(1, threads.max(1));
        let batch = (memory / write::BATCH_DIVISOR).max(1);
        // A batch may be in memory twice while it is sealed.
        let pages = memory.saturating_sub(workers as u64 * worker + batch);
        // Sealed pages may take half of this memory when the builder starts to seal open pages early.
        let columns = schema.columns.len() as u64;
        let least = columns.saturating_mul(2 * options.initial_unzipped_page as u64);
        if pages < least {
            let fits = |memory: &u64| {
                let (_, worker) = page_and_worker(settings, options, *memory);
                memory.saturating_sub(worker + memory / write::BATCH_DIVISOR) >= least
            };
            let larger = std::iter::successors(Some(least), |memory| Some(memory / 4 * 5 + 4096));
            let needed = larger.take(u64::BITS as usize * 4).find(fits).unwrap_or(u64::MAX);
            let needed = needed.saturating_mul(builders as u64) / (write::FILE_DIVISOR - 1);
            return Err(Error::limit(format!(
                "{} bytes of memory cannot hold the pages of {columns} columns for {builders} fill \
                 contexts with {}: give at least {}, or use fewer contexts or a cheaper compression",
                options.memory,
                options.compression,
                (needed.saturating_mul(write::FILE_DIVISOR) / MEBIBYTE + 1)
                    .saturating_mul(MEBIBYTE),
            )));
        }
        let scale = if options.compression.setting() == 0 { 1 } else { 2 };
        let open_pages = options
            .page_buffer_budget
            .unwrap_or(options.approx_zipped_cluster.saturating_mul(scale))
            .clamp(least / 2, pages);
        Ok(Self { pages, open_pages, page, workers, worker, batch })
    }
}

/// Returns the maximum size of a page for a builder with `memory`, and the memory of a thread that seals it.
/// Compressors of high levels need less memory for smaller pages.
fn page_and_worker(
    settings: &SealSettings,
    options: &RNTupleWriteOptions,
    memory: u64,
) -> (usize, u64) {
    let page = usize::try_from(memory / write::PAGE_DIVISOR).unwrap_or(usize::MAX);
    let least = options.initial_unzipped_page;
    let largest = settings.columns.iter().map(|column| column.page_bytes).fold(least, usize::max);
    let mut page = page.clamp(least, largest);
    let worker =
        |page: usize| write::PAGES_PER_WORKER * page as u64 + compressors(settings, options, page);
    // Pages are halved only while this saves memory: the tables of low levels do not depend on the page size.
    let helps = |page: usize| worker(page / 2) < worker(page) / 8 * 7;
    while page / 2 >= least && worker(page) > memory / write::WORKER_DIVISOR && helps(page) {
        page /= 2;
    }
    (page, worker(page))
}

/// Returns the memory of the file, in bytes.
pub(super) fn file_memory(options: &RNTupleWriteOptions) -> u64 {
    options.memory / write::FILE_DIVISOR
}

/// Returns the memory of the compressors that a thread keeps, in bytes.
fn compressors(settings: &SealSettings, options: &RNTupleWriteOptions, page: usize) -> u64 {
    let chooser = options.encodings.chooser(options.compression, options.effort);
    let mut codecs: Vec<&Arc<Codec>> = chooser.iter().flat_map(Chooser::codecs).collect();
    let requested = |column: &&ColumnSettings| column.own_codec || chooser.is_none();
    for column in settings.columns.iter().filter(requested) {
        if !codecs.iter().any(|codec| Arc::ptr_eq(codec, &column.codec)) {
            codecs.push(&column.codec);
        }
    }
    // A thread has only a limited number of compressors, so the largest compressors count.
    codecs.sort_by_key(|codec| std::cmp::Reverse(codec.memory(options.max_unzipped_page)));
    codecs.iter().take(seal::MAX_COMPRESSORS).map(|codec| codec.memory(page)).sum()
}
