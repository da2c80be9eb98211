//! Lists the constants of heuristics: numbers that measurements gave. Each has its unit and its reason. Numbers in
//! parentheses are pages of docs/decisions.

/// The choice of codecs. Times are nominal seconds of one core for each byte before compression, in byte planes and not,
/// measured on NanoAOD (0004).
pub(crate) mod effort {
    /// The fraction of the sample that another form must save at least, for [`Goal::Size`](crate::effort::Goal) (0006).
    pub(crate) const MIN_GAIN: f64 = 0.01;
    /// The hardest codec is tried only if other codecs have saved at least this fraction of the price of their time
    /// (0021).
    pub(crate) const SAVED_BEFORE: f64 = 0.5;
    /// The lowest level of ROOT with at least the effort of the strong codec (0010).
    pub(crate) const STRONG_FROM: u8 = 3;
    /// A codec that takes more than these seconds for each byte is not tried everywhere (0021).
    pub(crate) const HARD: f64 = 2.0e-8;
    /// The highest level of ROOT at which the strong codec saves more than the level itself (0010).
    pub(crate) const STRONG_LEVEL: u8 = 6;
    /// For time, a second of CPU time must save this number of bytes (0004).
    pub(crate) const BYTES_PER_SECOND: f64 = 3.0e6;
    /// For size, a second of CPU time must save this number of bytes (0021).
    pub(crate) const BYTES_PER_SECOND_FOR_SIZE: f64 = 1.5e6;
    /// The time of a level that a user names, and of ROOT's default level (0006).
    pub(crate) const LEVEL: [f64; 2] = [8.0e-9, 8.0e-9];
    /// The time of entropy coding without a search for matches.
    pub(crate) const ENTROPY: [f64; 2] = [0.75e-9, 0.9e-9];
    /// The time of two hash tables for long matches.
    pub(crate) const FAST: [f64; 2] = [1.25e-9, 2.6e-9];
    /// The time of the best of several matches at each place.
    pub(crate) const STRONG: [f64; 2] = [3.1e-9, 6.2e-9];
    /// The time of matches of four bytes and more, for baskets (0023).
    pub(crate) const SHORT_MATCHES: [f64; 2] = [7.2e-9, 7.2e-9];
    /// The time of optimal parsing (0006).
    pub(crate) const OPTIMAL: [f64; 2] = [40.0e-9, 40.0e-9];
}

/// Filling.
pub(crate) mod fill {
    /// The number of bytes that wait before a thread is woken to work: less takes no longer than to wake it.
    pub(crate) const WAKE_BYTES: u64 = 64 << 10;
}

/// Reading and writing files.
pub(crate) mod container {
    /// The size of the first read of a file in bytes. It holds the header and, nearly always, the top directory record.
    pub(crate) const FIRST_READ: u64 = 1024;
    /// A streamer info record up to this size in bytes is fetched together with the top key list. This saves a request
    /// for every TTree.
    pub(crate) const EAGER_STREAMER_INFO: u64 = 256 * 1024;
    /// The largest record in bytes of a tree or another description that stays in memory until it is read once more. A
    /// larger one is fetched twice.
    pub(crate) const LAST_METADATA: usize = 4 << 20;
    /// The size in bytes of the blocks that are written behind: a few calls of the system for a cluster (0026).
    pub(crate) const BLOCK: usize = 1 << 20;
    /// The largest number of blocks that wait: 32 MiB, so that a cluster of TTrees (30 MB) does not wait for the sink.
    pub(crate) const WAITING: usize = 32;
    /// The number of bytes after which the sink makes them durable, so that the commit waits for only a few bytes.
    pub(crate) const SYNCED: usize = 32 << 20;
    /// The maximum number of bytes of compressed pages and baskets on the local disk: a part of the disk for temporary
    /// files.
    pub(crate) const COMPRESSED_BYTES: u64 = 4 << 30;
    /// The size in bytes of a temporary file after which a new file begins. A file is removed when nothing in it is
    /// needed, so large files would stay long.
    pub(crate) const FILE_BYTES: u64 = 16 << 20;
}
