//! The memory of one builder of clusters: a part of the whole memory, divided for its uses.

use super::{Options, SealSettings};
use crate::error::{Error, Result};
use crate::rntuple::schema::Schema;

/// The memory divided by this is for what the file needs: known pages, page lists, the write buffer.
const FILE_DIVISOR: u64 = 8;
/// A page takes at most the memory of its builder divided by this.
const PAGE_DIVISOR: u64 = 64;
/// Sealing one page takes at most the memory of its builder divided by this. Else pages are smaller.
const WORKER_DIVISOR: u64 = 2;
/// All threads that seal take at most the memory of their builder divided by this.
const SEALING_DIVISOR: u64 = 4;
/// Rows are taken apart in pieces of the memory of the builder divided by this.
const PIECE_DIVISOR: u64 = 16;
/// Pages that sealing one needs besides: its elements, encoded, compressed at worst, and exact;
/// and a buffer that grows.
const PAGES_PER_WORKER: u64 = 6;

const MEBIBYTE: u64 = 1 << 20;

/// Memory of one builder of clusters, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// Open pages and sealed pages together.
    pub(super) room: u64,
    /// Open pages alone.
    pub(super) open: u64,
    /// Largest page before compression.
    pub(super) page: usize,
    /// Threads that seal at once.
    pub(super) workers: usize,
    /// What each of these takes.
    pub(super) worker: u64,
    /// Rows that are looked at together.
    pub(super) piece: u64,
}

impl Budget {
    /// The part of one of `builders` builders, each of which seals on `threads` threads.
    ///
    /// # Errors
    /// `LimitExceeded` when the memory cannot hold the first page of every column.
    pub(super) fn new(
        schema: &Schema,
        settings: &SealSettings,
        options: &Options,
        builders: usize,
        threads: usize,
    ) -> Result<Self> {
        let memory = (options.memory - file_share(options)) / (builders as u64).max(1);
        let (page, worker) = page_and_worker(settings, options, memory);
        let workers = usize::try_from(memory / SEALING_DIVISOR / worker).unwrap_or(usize::MAX);
        let workers = workers.clamp(1, threads.max(1));
        let piece = (memory / PIECE_DIVISOR).max(1);
        // A piece may be there twice while it is sealed.
        let room = memory.saturating_sub(workers as u64 * worker + piece);
        // Half of the room may be taken by sealed pages when open ones begin to be sealed early.
        let columns = schema.columns.len() as u64;
        let least = columns.saturating_mul(2 * options.initial_unzipped_page as u64);
        if room < least {
            let fits = |memory: &u64| {
                let (_, worker) = page_and_worker(settings, options, *memory);
                memory.saturating_sub(worker + memory / PIECE_DIVISOR) >= least
            };
            let larger = std::iter::successors(Some(least), |memory| Some(memory / 4 * 5 + 4096));
            let needed = larger.take(u64::BITS as usize * 4).find(fits).unwrap_or(u64::MAX);
            let needed = needed.saturating_mul(builders as u64) / (FILE_DIVISOR - 1);
            return Err(Error::limit(format!(
                "{} bytes of memory cannot hold the pages of {columns} columns for {builders} fill \
                 contexts with {}: give at least {}, or use fewer contexts or a cheaper compression",
                options.memory,
                options.compression,
                (needed.saturating_mul(FILE_DIVISOR) / MEBIBYTE + 1).saturating_mul(MEBIBYTE),
            )));
        }
        let scale = if options.compression.setting() == 0 { 1 } else { 2 };
        let open = options
            .page_buffer_budget
            .unwrap_or(options.approx_zipped_cluster.saturating_mul(scale))
            .clamp(least / 2, room);
        Ok(Self { room, open, page, workers, worker, piece })
    }
}

/// Bytes of the largest page of one who has so much memory, and of what a thread needs to seal it:
/// compressors of high levels take less for smaller pages.
fn page_and_worker(settings: &SealSettings, options: &Options, memory: u64) -> (usize, u64) {
    let page = usize::try_from(memory / PAGE_DIVISOR).unwrap_or(usize::MAX);
    let least = options.initial_unzipped_page;
    let mut page = page.clamp(least, settings.largest_page(options));
    let worker =
        |page: usize| PAGES_PER_WORKER * page as u64 + compressors(settings, options, page);
    // As long as that helps: tables of low levels do not depend on the page.
    let helps = |page: usize| worker(page / 2) < worker(page) / 8 * 7;
    while page / 2 >= least && worker(page) > memory / WORKER_DIVISOR && helps(page) {
        page /= 2;
    }
    (page, worker(page))
}

/// Bytes for what the file needs.
pub(super) fn file_share(options: &Options) -> u64 {
    options.memory / FILE_DIVISOR
}

/// Bytes of the compressors that a thread keeps.
fn compressors(settings: &SealSettings, options: &Options, page: usize) -> u64 {
    let codecs = settings.codecs(options);
    codecs.iter().map(|codec| codec.memory(page)).sum()
}
