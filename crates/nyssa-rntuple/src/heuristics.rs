//! Lists the constants of heuristics: numbers that measurements or experience gave, not the format. Each has its unit and
//! its reason. Numbers in parentheses are pages of docs/decisions.

/// Samples, forms and codecs.
pub(crate) mod choose {
    /// For [`Goal::Time`](nyssa_root::effort::Goal), the number of elements of a page divided by this is the maximum
    /// size of a sample: compressing it takes time, too.
    pub(crate) const SAMPLE_DIVISOR: usize = 4;
    /// The maximum number of elements of this sample.
    pub(crate) const SAMPLE_ELEMENTS: usize = 8 << 10;
    /// For `Goal::Size`, a sample has at most this number of bytes in memory: samples took 0.3 s of a conversion,
    /// however large it was (0021).
    pub(crate) const SAMPLE_BYTES: usize = 32 << 10;
    /// For `Goal::Size`, a sample of values that repeat has at most this number of bytes, since a compressor then finds
    /// more in a larger page (0021).
    pub(crate) const SAMPLE_BYTES_OF_REPEATS: usize = 128 << 10;
    /// For `Goal::Time`, a branch with fewer decoded bytes than this has no sample, since it cannot save enough.
    pub(crate) const MIN_BRANCH_BYTES: u64 = 64 << 10;
    /// For `Goal::Size`, a branch with fewer decoded bytes than this has no sample, since it cannot save enough.
    pub(crate) const MIN_BRANCH_BYTES_FOR_SIZE: u64 = 1 << 10;
    /// The bytes of a large branch divided by this are the bytes of its sample, so that samples take less than a
    /// percent of the time.
    pub(crate) const BRANCH_DIVISOR: u64 = 128;
    /// For `Goal::Time`, the smallest sample of a branch in bytes: a few hundred entries, and at most an eighth of a
    /// page.
    pub(crate) const MIN_BRANCH_SAMPLE: u64 = 8 << 10;
    /// The largest sample of a branch with few columns, in bytes, which limits the time of samples.
    pub(crate) const MAX_BRANCH_SAMPLE: u64 = 128 << 10;
    /// For `Goal::Size`, the bytes of a small branch divided by this are the bytes of its sample (0021).
    pub(crate) const SMALL_BRANCH_DIVISOR: u64 = 16;
    /// The minimum and maximum number of bytes of this sample for each column (0021).
    pub(crate) const COLUMN_SAMPLE: [u64; 2] = [4 << 10, SAMPLE_BYTES as u64];
    /// The number of values that are examined for repetitions: they take less time than a sample.
    pub(crate) const EXAMINED: usize = 256;
    /// The minimum number of different values for which a larger sample is worth its time: fewer are small in any form.
    pub(crate) const MIN_DIFFERENT: usize = 8;
    /// The factor by which the sample of a branch grows if values repeat: a column then has a larger sample.
    pub(crate) const LONGER: u64 = 16;
    /// A run of byte planes that does not become smaller than this fraction of its content has no separate chunk. ROOT
    /// demands that each chunk is smaller than its content, and pages differ from the sample.
    pub(crate) const MAX_RATIO: f64 = 0.97;
    /// The size of the pages of a cluster divided by this is the minimum that a new representation in another type than
    /// ROOT's must save (0006).
    pub(crate) const SWITCH_GAIN: u64 = 10;
    /// The minimum number of bytes in a cluster that such a representation must save: more than its description takes
    /// (0006).
    pub(crate) const SWITCH_BYTES: u64 = 1 << 10;
}

/// Sealed pages.
pub(crate) mod seal {
    /// Planes with fewer bytes than this have no separate codecs, since each codec takes a header.
    pub(crate) const MIN_PLANE: usize = 2 << 10;
    /// A page whose ratio is at least this factor times the ratio of the sample contains data of another kind than the
    /// sample (0021).
    pub(crate) const DRIFT: f64 = 1.1;
    /// The maximum number of compressors of a thread. Each may have megabytes of tables.
    pub(crate) const MAX_COMPRESSORS: usize = 8;
    /// The size of a block of copied elements in bytes: less than a page, so that blocks of sealed elements are freed
    /// early.
    pub(crate) const BLOCK: usize = 16 << 10;
    /// The initial size of the first block in bytes. A column with few elements should not take a whole block.
    pub(crate) const FIRST_BLOCK: usize = 256;
}

/// Memory and clusters of a writer (0005).
pub(crate) mod write {
    /// The whole memory divided by this is the memory of the file: known pages, page lists, the write buffer.
    pub(crate) const FILE_DIVISOR: u64 = 8;
    /// The memory of a cluster builder divided by this is the maximum size of its pages, so that many are open.
    pub(crate) const PAGE_DIVISOR: u64 = 64;
    /// The memory of a cluster builder divided by this is the maximum memory for sealing one page. Pages become smaller
    /// if it takes more.
    pub(crate) const WORKER_DIVISOR: u64 = 2;
    /// The memory of a cluster builder divided by this is the maximum memory of all its sealing threads. Most is for
    /// pages.
    pub(crate) const SEALING_DIVISOR: u64 = 4;
    /// The memory of a cluster builder divided by this is the maximum size of a batch of rows, which is in memory twice
    /// while it is sealed.
    pub(crate) const BATCH_DIVISOR: u64 = 16;
    /// The memory to seal one page, as a number of pages: its elements, the encoded page, the compressed page in the
    /// worst case, its exact copy, and a buffer that grows.
    pub(crate) const PAGES_PER_WORKER: u64 = 6;
    /// The whole memory divided by this is the memory of clusters that wait for their turn, in a fixed order.
    pub(crate) const WAITING_DIVISOR: u64 = 8;
    /// The whole memory divided by this is the memory of known pages: a quarter of the memory of the file.
    pub(crate) const KNOWN_PAGES_DIVISOR: u64 = 32;
    /// The whole memory divided by this is the memory of the page records of a cluster group: another quarter.
    pub(crate) const PAGE_RECORDS_DIVISOR: u64 = 32;
    /// The elements of each open page divided by this are sealed to estimate the first cluster: enough to see how the
    /// data compress.
    pub(crate) const ESTIMATE_DIVISOR: usize = 4;
    /// The memory of all pages divided by this is the limit of sealed pages. When they exceed it, the cluster ends, and
    /// no page is sealed early.
    pub(crate) const SEALED_DIVISOR: u64 = 2;
    /// The number of quarters of the open pages that remain open when pages are sealed early, so that pages stay large.
    pub(crate) const KEPT_QUARTERS: u64 = 3;
}

/// Reads.
pub(crate) mod read {
    /// The size in bytes from which the page lists of a remote RNTuple are read only when they are needed. Fewer bytes
    /// take less time than another round trip.
    pub(crate) const LATER_BYTES: u64 = 64 << 10;
    /// The maximum number of pages in a unit of work that fetches nothing, so that all threads have work.
    pub(crate) const KNOWN_PAGES: usize = 32;
    /// The size in bytes of a unit of work. It is so small that the bytes are still in the CPU cache when they are
    /// decompressed.
    pub(crate) const FETCH_BYTES: u64 = 256 << 10;
}
