//! Lists the constants of heuristics: numbers that measurements or experience gave, not the format. Each has its unit and
//! its reason. Numbers in parentheses are pages of docs/decisions.

/// Reading baskets.
pub(crate) mod read {
    /// The memory that is reserved for the values of later baskets, relative to the size that the first basket suggests.
    /// The factor is more than 1 because sizes vary a little.
    pub(crate) const RESERVE_FACTOR: f64 = 1.1;
    /// The number of units of work for each thread. With several units, all threads finish at about the same time.
    pub(crate) const GROUPS_PER_THREAD: u64 = 8;
    /// The smallest number of bytes that is fetched in a separate request.
    pub(crate) const MIN_FETCH_BYTES: u64 = 128 << 10;
    /// The largest scratch memory in bytes that a thread keeps after a read. Only the basket of a very large entry has more.
    pub(crate) const SCRATCH_KEPT: usize = 16 << 20;
    /// The number of bytes that are read of a basket. Its key and its header fit, unless its names are very long.
    pub(crate) const BASKET_HEAD: u64 = 512;
    /// The smallest number of stored bytes of a cluster, for trees that do not store where their clusters start.
    /// ROOT's default for flushing a tree is 30 MB too.
    pub(crate) const CLUSTER_BYTES: u64 = 30_000_000;
}

/// Filling and sealing baskets.
pub(crate) mod write {
    /// The number of bytes that each thread takes from the rows at once.
    pub(crate) const STEP_PER_THREAD: usize = 2 << 20;
    /// The number of bytes of baskets that wait before compression: about a cluster.
    pub(crate) const WAITING_BASKETS: u64 = 64 << 20;
    /// The number of bytes of rows that another thread fills at once: little of [`WAITING_BASKETS`], and enough baskets for
    /// many threads to compress.
    pub(crate) const LENT_BYTES: usize = 8 << 20;
    /// Baskets with fewer bytes than this have the codec of the level. They take little time.
    pub(crate) const MIN_BYTES: usize = 4 << 10;
    /// The largest size of a sample in bytes. It has at most half of a basket.
    pub(crate) const MAX_SAMPLE: usize = 32 << 10;
    /// Offsets of fewer bytes than this are compressed together with the entries.
    pub(crate) const MIN_OFFSETS: usize = 2 << 10;
    /// The number of bytes of clusters that wait for their turn in memory. Further clusters wait in a temporary file.
    pub(crate) const WAITING: u64 = 128 << 20;
    /// The largest memory of a basket that is reused, in bytes. Only the basket of a very large entry has more.
    pub(crate) const MAX_REUSED: usize = 32 << 20;
}
