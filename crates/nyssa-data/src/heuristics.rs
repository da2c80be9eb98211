//! Lists the constants of heuristics: numbers that measurements or experience gave, not a format or a protocol. Each has
//! its unit and its reason.

/// Steps through the entries of a dataset.
pub(crate) mod steps {
    use std::time::Duration;

    /// The fraction of the memory that is planned for. The rest is a reserve, because entries differ.
    pub(crate) const PLANNED: f64 = 0.92;
    /// The memory that reading takes besides arrays, in bytes: fetched bytes and buffers of threads.
    pub(crate) const SCRATCH_BYTES: f64 = 10e6;
    /// The largest fraction of the planned memory that [`SCRATCH_BYTES`] may take.
    pub(crate) const MAX_SCRATCH: f64 = 0.1;
    /// The fraction of the scratch memory that is for fetched bytes.
    pub(crate) const FETCHED: f64 = 0.5;
    /// The largest fraction of the memory for pages and baskets of later steps. If all of them need more, none of them
    /// stays in memory: larger steps save more than a few pages.
    pub(crate) const MAX_OPENED: f64 = 0.6;
    /// The largest fraction of the memory for the pages or baskets that threads decompress at one time.
    pub(crate) const MAX_IN_USE: f64 = 0.25;
    /// The largest fraction of the memory for the objects around the arrays of a step.
    pub(crate) const MAX_OBJECTS: f64 = 0.25;
    /// The memory of the objects around one column of a step, in bytes.
    pub(crate) const COLUMN_BYTES: f64 = 2000.0;
    /// The number of steps in memory at once: the step of the caller and the next step.
    pub(crate) const STEPS: f64 = 2.0;
    /// The size of a window, in bytes of arrays.
    pub(crate) const WINDOW_BYTES: f64 = 32e6;
    /// The largest factor between the numbers of steps of a window and of the previous window.
    pub(crate) const GROWTH: u64 = 8;
    /// A window is small if it takes less than this fraction of the stated memory.
    pub(crate) const SMALL: f64 = 0.1;
    /// The number of clusters from which some entries are read, to estimate the size of an entry.
    pub(crate) const SAMPLES: usize = 5;
    /// The factor between the sizes of a sample of the first entries and of the previous sample.
    pub(crate) const SAMPLE_GROWTH: u64 = 16;
    /// The size of a sample that is large enough to estimate the size of the other entries, in bytes.
    pub(crate) const SAMPLE_BYTES: u64 = 256 << 10;
    /// Reading starts after this time. The caller drops the old step only after it has received the new step, and only
    /// then is the memory of the old step free.
    pub(crate) const HANDOVER: Duration = Duration::from_millis(1);
    /// The limit for pages and baskets in memory, in bytes, if the user has not set a memory.
    pub(crate) const OPENED_BYTES: u64 = 1 << 30;
    /// The maximum number of parts that are opened before the previous part is at its end. Together with the parts that
    /// the steps use, at most 16 files are open, as in a chain.
    pub(crate) const MOST_PARTS: f64 = 8.0;
}

/// Reads of parts of a dataset.
pub(crate) mod dataset {
    /// The number of entries that are read first, to measure their size.
    pub(crate) const PROBE_ENTRIES: u64 = 1000;
    /// The number of entries of the first window. Their size determines how many entries the next window has.
    pub(crate) const FIRST_ENTRIES: u64 = 256;
    /// The approximate size in bytes of the arrays of a window.
    pub(crate) const WINDOW_BYTES: u64 = 64 << 20;
    /// The largest distance of two entries of one cluster that are read together. Read one by one, they would
    /// decompress the same pages or baskets twice.
    pub(crate) const GAP: u64 = 4096;
}

/// Cuts.
pub(crate) mod view {
    /// The number of entries on which a cut is evaluated at once.
    pub(crate) const CUT_ENTRIES: u64 = 1 << 16;
    /// The number of bytes of the columns of a cut that stay in memory, so that they are not read again.
    pub(crate) const CUT_BYTES: u64 = 64 << 20;
    /// The number of bytes of the pages and baskets that stay in memory for the next piece.
    pub(crate) const OPENED_BYTES: u64 = 256 << 20;
}

/// Histograms.
pub(crate) mod histogram {
    /// The memory of the columns that are read and filled, in bytes.
    pub(crate) const STEP_BYTES: u64 = 128 << 20;
    /// The number of entries that a thread fills at once: so few that their values stay in its cache.
    pub(crate) const PIECE_ENTRIES: usize = 1 << 12;
    /// The number of bins of the histograms of all pieces of a step.
    pub(crate) const PIECE_BINS: usize = 1 << 24;
}
