//! The memory of one who fills: a share of the whole, cut into parts.

use super::{MIN_UNZIPPED_PAGE, Options, SealSettings};
use crate::error::{Error, Result};
use crate::schema::Schema;

/// One part in so many of the memory is for what the file needs: known pages, page lists, the write
/// buffer.
const FILE_SHARE: u64 = 8;
/// A page takes at most one part in so many of its filler's memory.
const PAGE_SHARE: u64 = 64;
/// Threads that seal take at most one part in so many of their filler's memory.
const SEALING_SHARE: u64 = 4;
/// Rows are looked at in pieces of one part in so many.
const PIECE_SHARE: u64 = 16;
/// Pages that sealing one needs besides: its elements, encoded, compressed at worst, and exact;
/// and a buffer that grows.
const PAGES_PER_LANE: u64 = 6;

/// Memory of one filler, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// Open pages and sealed pages together.
    pub(super) room: u64,
    /// Open pages alone.
    pub(super) open: u64,
    /// Largest page before compression.
    pub(super) page: usize,
    /// Threads that seal at once.
    pub(super) lanes: usize,
    /// What each of these takes.
    pub(super) lane: u64,
    /// Rows that are looked at together.
    pub(super) piece: u64,
}

impl Budget {
    /// The share of one in `fillers`, who seals on `threads` threads.
    ///
    /// # Errors
    /// `LimitExceeded` when the memory cannot hold the first page of every column.
    pub(super) fn new(
        schema: &Schema,
        settings: &SealSettings,
        options: &Options,
        fillers: usize,
        threads: usize,
    ) -> Result<Self> {
        let memory = (options.memory - options.memory / FILE_SHARE) / (fillers as u64).max(1);
        let page = usize::try_from(memory / PAGE_SHARE).unwrap_or(usize::MAX);
        let page = page.clamp(MIN_UNZIPPED_PAGE, options.max_unzipped_page);
        let lane = PAGES_PER_LANE * page as u64 + compressors(settings, options, page);
        let lanes = usize::try_from(memory / SEALING_SHARE / lane).unwrap_or(usize::MAX);
        let lanes = lanes.clamp(1, threads.max(1));
        let room = memory.saturating_sub(lanes as u64 * lane);
        // Half of the room may be taken by sealed pages when open ones begin to be sealed early.
        let columns = schema.columns.len() as u64;
        let least = 2 * columns * MIN_UNZIPPED_PAGE as u64;
        if room < least {
            let needed = (lane + least) * fillers as u64 * FILE_SHARE / (FILE_SHARE - 1);
            return Err(Error::limit(format!(
                "{} bytes of memory cannot hold the pages of {columns} columns for {fillers} fill \
                 contexts with {}: give at least {}, or use fewer contexts or a cheaper compression",
                options.memory,
                options.compression,
                needed.next_multiple_of(1 << 20),
            )));
        }
        let scale = if options.compression.setting() == 0 { 1 } else { 2 };
        let open = options
            .page_buffer_budget
            .unwrap_or(options.approx_zipped_cluster.saturating_mul(scale))
            .clamp(least / 2, room);
        Ok(Self { room, open, page, lanes, lane, piece: (memory / PIECE_SHARE).max(1) })
    }
}

/// Bytes of the compressors that a thread keeps.
fn compressors(settings: &SealSettings, options: &Options, page: usize) -> u64 {
    let codecs = settings.codecs(options);
    codecs.iter().map(|codec| codec.memory(page)).sum()
}
