//! Lists the constants of heuristics: numbers that measurements or experience gave, not a format or a protocol. Each has
//! its unit and its reason. Numbers in parentheses are pages of docs/decisions.

/// What all jobs plan.
pub(crate) mod job {
    /// The fraction by which the size of a cluster may differ, if it then ends where a cluster of the input ends
    /// (0011).
    pub(crate) const SLACK: f64 = 0.03;
    /// The fraction by which the size of a cluster may differ, if it then ends with the last entry, so that no small
    /// cluster follows (0011).
    pub(crate) const LAST_SLACK: f64 = 0.25;
    /// The factor that multiplies the weight of the size of a cluster for each cluster that follows: neighbours are
    /// similar (0011).
    pub(crate) const FORGET: f64 = 0.5;
    /// The number of clusters that may be planned before earlier clusters are written. With fewer, threads would wait
    /// at the end of each cluster; with more, real sizes would correct plans later (0011).
    pub(crate) const CLUSTERS_AHEAD: usize = 2;
    /// A note reports a part that exceeds its planned memory by more than the memory divided by this: smaller excesses
    /// are no surprise.
    pub(crate) const NOTE_DIVISOR: u64 = 4;
    /// The number of bytes of baskets that are read at once: many baskets for one request, and little memory.
    pub(crate) const STORED_BYTES: u64 = 1 << 20;
}

/// Conversions of TTrees, and back.
pub(crate) mod convert {
    /// The number of decoded bytes of a branch that are stored in columns and as a streamer field, to compare both: a
    /// few full pages.
    pub(crate) const STREAMER_SAMPLE_BYTES: u64 = 4 << 20;
    /// The memory divided by this is the maximum for one branch of a cluster, so that several branches are read at the
    /// same time.
    pub(crate) const BRANCH_DIVISOR: u64 = 4;
    /// The number of decoded bytes for each compressed byte of a branch whose decoded size is not known before it is
    /// read. It is an upper limit for most branches.
    pub(crate) const EXPANSION: f64 = 6.0;
    /// The number of bytes of an offset in memory while it is sealed: 8 in the array, and 8 as an element.
    pub(crate) const OFFSET_BYTES: f64 = 16.0;
    /// The bytes of a cluster divided by this are the bytes of the sample that is sealed to estimate sizes: 3 % of the
    /// work of a cluster (0011).
    pub(crate) const SIZE_SAMPLE_DIVISOR: u64 = 32;
    /// The minimum size of this sample in bytes, unless the cluster is smaller: small pages would compress worse
    /// (0011).
    pub(crate) const MIN_SIZE_SAMPLE_BYTES: u64 = 1 << 20;
    /// The number of spans of equal length for which the sizes of the tree are summed, in addition to its own clusters,
    /// so that a tree with few clusters shows where its data are dense.
    pub(crate) const SPANS: u64 = 256;
    /// The memory of a conversion divided by this is the maximum memory of the baskets that samples have fetched. The
    /// rest is for clusters.
    pub(crate) const SAMPLE_BASKETS_DIVISOR: u64 = 8;
    /// The number of units up to which more clusters are planned ahead, so that all threads have work.
    pub(crate) const UNITS_AHEAD: usize = 64;
    /// The number of clusters that are fetched at the same time: the current cluster and the next cluster.
    pub(crate) const CLUSTERS_FETCHED: u64 = 2;
    /// The number of bytes of memory that a unit takes for each decoded byte: it is in memory in decoded and in sealed
    /// form.
    pub(crate) const COPIES: f64 = 2.0;
    /// The memory divided by this is for the arrays that are read. The other half is for open baskets and their
    /// compressed form.
    pub(crate) const READ_DIVISOR: u64 = 2;
    /// The largest number of keys that are read. The baskets of these keys are probably the largest.
    pub(crate) const LARGEST_KEYS: usize = 64;
}

/// Rewrites of RNTuples.
pub(crate) mod rewrite {
    /// The number of batches that are made at the same time: one batch is read while another is sealed.
    pub(crate) const BATCHES: usize = 2;
    /// The memory divided by this is the maximum for the arrays of one batch. Two batches are in memory, one of them
    /// also in its sealed form, and compressors need memory, too.
    pub(crate) const BATCH_DIVISOR: u64 = 4;
    /// The memory divided by this is the maximum for one field of a cluster, since one field is read while another is
    /// sealed.
    pub(crate) const FIELD_DIVISOR: u64 = 4;
    /// The maximum number of decoded bytes of a field that are sealed to estimate its stored size: half of a page of
    /// the default size.
    pub(crate) const RATIO_SAMPLE_BYTES: u64 = 512 << 10;
    /// The minimum number of these bytes: fewer show little, since tables and headers take most of them.
    pub(crate) const MIN_SAMPLE_BYTES: u64 = 4 << 10;
    /// The memory divided by this is the maximum for the fields of the cut. One chunk is read while the cut is
    /// evaluated on another chunk, and its numbers are copied to 64 bits.
    pub(crate) const CHUNK_DIVISOR: u64 = 8;
    /// The smallest number of entries for which one thread evaluates the cut at a time, so that the work is more than
    /// the cost of giving it to a thread.
    pub(crate) const SLICE_ENTRIES: usize = 4096;
}

/// Writing TTrees again.
pub(crate) mod tree {
    /// The number of groups whose baskets are fetched at the same time: the group that is packed, and the next group.
    pub(crate) const GROUPS_FETCHED: u64 = 2;
    /// The number of branches of which the first baskets are read at once for samples: few requests, and little memory.
    pub(crate) const SAMPLES_AT_ONCE: usize = 256;
    /// The number of stored bytes of inputs of a merge that are packed together. Baskets end where such a part ends, so
    /// that small files share their baskets.
    pub(crate) const JOINED_BYTES: u64 = 256 << 20;
    /// The largest number of inputs that are packed together: each of them is open.
    pub(crate) const JOINED_INPUTS: usize = 64;
    /// The largest number of bytes of baskets inside the trees that are packed together: they are in memory.
    pub(crate) const JOINED_EMBEDDED: u64 = 64 << 20;
    /// The number of stored bytes of the clusters that are written together. Small clusters share a group, so that a
    /// task is more than the work of starting it; readers find a cluster within this distance.
    pub(crate) const GROUP_BYTES: f64 = 8e6;
    /// The largest number of stored bytes of a group. A tree without clusters would be one group, and its branches would
    /// follow each other in the file.
    pub(crate) const LARGEST_GROUP_BYTES: f64 = 64e6;
    /// The largest number of bytes of a branch before compression that one task packs, for its memory.
    pub(crate) const PART_BYTES: f64 = 32e6;
    /// The memory divided by this is for baskets that stay decompressed for the next group.
    pub(crate) const OPENED_DIVISOR: u64 = 4;
    /// The memory divided by this is for tasks and for baskets that are not written yet.
    pub(crate) const FLIGHT_DIVISOR: u64 = 4;
    /// The size of the basket by which the compression of a branch is estimated: ROOT's default.
    pub(crate) const SAMPLE_BASKET: usize = 32_000;
    /// The smallest size of a basket that is used where a branch states less.
    pub(crate) const MIN_BASKET: usize = 256;
    /// The largest size of a basket that is used where a branch states more.
    pub(crate) const MAX_BASKET: usize = 256 << 20;
}

/// Merges.
pub(crate) mod merge {
    /// The number of attributes that are read at the same time, which limits their memory.
    pub(crate) const ATTRIBUTES: u64 = 1 << 16;
    /// The maximum number of bytes from both ends of a remote file that its source stores: the metadata of most files.
    pub(crate) const ENDS_BYTES: usize = 512 << 10;
    /// The number of local inputs that are open at the same time. It is below the limit of open files of every system.
    /// The number of remote inputs is [`nyssa_root::waiting::AT_ONCE`].
    pub(crate) const OPEN_AT_ONCE: usize = 64;
    /// The maximum number of remote inputs that stay open until the merge ends. Further inputs are opened again when
    /// they are merged.
    pub(crate) const KEPT_OPEN: usize = 64;
    /// The memory divided by this is the maximum memory of the inputs that stay open.
    pub(crate) const KEPT_DIVISOR: u64 = 4;
    /// The largest number of pages of clusters that are planned together, which limits the memory of plans.
    pub(crate) const PLANNED_PAGES: usize = 1 << 16;
    /// The largest size in bytes of the pages that are in memory at the same time when pages are copied.
    pub(crate) const MOVE_MEMORY: u64 = 256 << 20;
    /// The memory divided by this is for the data that are read at one time. The rest is for writing.
    pub(crate) const READ_DIVISOR: u64 = 4;
    /// The largest ratio of the bytes of a value in memory to its bytes before compression. Offsets have 64 bits in
    /// memory, and booleans have a byte.
    pub(crate) const EXPANSION: u64 = 2;
    /// The number of loads that wait to be written. In addition, one load is being read, and one is being written.
    pub(crate) const WAITING: usize = 2;
    /// The largest number of bytes of one load: a few reads of a size that is fast for disks.
    pub(crate) const LOAD_BYTES: u64 = 16 << 20;
    /// The largest number of recorded pages of zeros, which limits their memory. When there are more, all of them are
    /// dropped.
    pub(crate) const ZERO_PAGES: usize = 1 << 16;
}

/// The search for the best options. Times are fractions of the budget.
pub(crate) mod tune {
    /// The maximum fraction of the dataset on which all candidates are tried: 18 trials then write about as much as the
    /// dataset.
    pub(crate) const FIRST_SHARE: f64 = 1.0 / 16.0;
    /// The fraction of the budget for the first trials of all candidates: half of the time in which options are
    /// searched.
    pub(crate) const FIRST_TIME: f64 = 0.3;
    /// The minimum factor by which the second sample is larger: with less, it would tell little more than the first.
    pub(crate) const LEAST_SECOND: f64 = 1.5;
    /// The maximum factor by which the second sample is larger: a few candidates then take as long as all took before.
    pub(crate) const MOST_SECOND: f64 = 4.0;
    /// The maximum fraction of the dataset in the second sample.
    pub(crate) const SECOND_SHARE: f64 = 1.0 / 8.0;
    /// The fraction of the budget that is spent after the second sample.
    pub(crate) const SECOND_TIME: f64 = 0.5;
    /// The number of codecs and encodings that are tried on the second sample: the first sample does not order similar
    /// candidates.
    pub(crate) const BEST: usize = 4;
    /// The fraction of the budget in which options are searched. The rest is for the last sample.
    pub(crate) const SEARCH_TIME: f64 = 0.6;
    /// The fraction of the budget that is spent after numbers of threads were tried.
    pub(crate) const THREADS_TIME: f64 = 0.7;
    /// The fraction of the rest of the budget for the last trials, if they write a part of the dataset, and if they
    /// write all of it. A part leaves time to measure full pages.
    pub(crate) const LAST_TIME: [f64; 2] = [0.4, 0.9];
    /// The fraction of the budget for full pages of some fields, for each of the last trials: enough fields to correct
    /// the others by.
    pub(crate) const GROWTH_TIME: f64 = 0.08;
    /// The fraction of the budget for a cluster as large as in the whole dataset.
    pub(crate) const LARGE_TIME: f64 = 0.1;
    /// The maximum number of stored bytes of the input that are stored decompressed, since the folder for temporary
    /// files may be small.
    pub(crate) const MAX_CACHED: f64 = 1e9;
    /// The fraction of the budget for the measurement of baskets.
    pub(crate) const BASKETS_TIME: f64 = 0.1;
    /// The numbers of baskets that are joined, to measure larger baskets.
    pub(crate) const MERGED: [usize; 2] = [4, 16];
    /// The number of baskets of a branch that are measured: enough for the largest joined basket.
    pub(crate) const BASKETS_OF_BRANCH: usize = 16;
    /// The maximum number of decompressed bytes of baskets that are measured, which limits the time.
    pub(crate) const BASKET_BYTES: usize = 32 << 20;
    /// The number of times that a basket is decompressed. The shortest time counts, since a single measurement is often
    /// too long by chance.
    pub(crate) const BASKET_TIMES: usize = 3;
    /// With fewer baskets of a branch in a cluster than these, on average, most baskets end with the cluster.
    pub(crate) const ONE_BASKET: f64 = 1.5;
    /// The fraction of the correction for small pages that counts as not known: pages of a sample show their cost only
    /// roughly.
    pub(crate) const UNSURE: f64 = 0.25;
    /// The fraction of the size that is not known from a sample, however large its pages are. Datasets of 100,000 and
    /// 150,000 NanoAOD events differed by up to 0.7 % (docs/tune.md).
    pub(crate) const MODEL: f64 = 0.005;
    /// The factor by which full pages take longer if the time of a codec grows, as a guess before it is measured:
    /// `zstd:9` takes 157 ns for a byte in pages of 1 MiB, and 79 ns in pages of 32 KiB (docs/tune.md).
    pub(crate) const GUESS: f64 = 2.0;
    /// The largest number of parts of a cluster that are written with small pages. Each is a separate file, which takes
    /// time.
    pub(crate) const PIECES: u64 = 8;
    /// The minimum number of elements of a page whose byte planes have separate blocks: libzstd makes no blocks smaller
    /// than 1 KiB.
    pub(crate) const PLANE_ELEMENTS: u64 = 1024;
    /// The maximum number of bytes of a job besides its units: samples, and memory that the allocator holds. From
    /// conversions of 100,000 NanoAOD events with 1, 2 and 8 threads.
    pub(crate) const JOB_BYTES: f64 = 14e6;
    /// The same for each thread: compressors, and baskets that are decompressed.
    pub(crate) const THREAD_BYTES: f64 = 14e6;
    /// The additional bytes of each thread if columns are narrower or have stronger codecs. From these conversions,
    /// too.
    pub(crate) const AUTO_BYTES: f64 = 13e6;
    /// The bytes of a rewrite besides its batches, for any encoding. Its values are in blocks that return to the
    /// system, and its samples are freed before the first batch, so the allocator holds less. From rewrites of 30,000
    /// and 60,000 NanoAOD events and of 20,000 AOD-like events with 1, 2, 4 and 8 threads.
    pub(crate) const REWRITE_BYTES: f64 = 10e6;
    /// The bytes of each thread of a rewrite. From these rewrites, too.
    pub(crate) const REWRITE_THREAD_BYTES: f64 = 5.5e6;
    /// The additional bytes of each thread if users name a level of zstd that has large tables.
    pub(crate) const TABLE_BYTES: f64 = 18e6;
    /// The lowest such level. The time of these levels grows with the pages, since they look further back.
    pub(crate) const TABLE_LEVEL: u8 = 5;
    /// The stored bytes that a place of the sample has for each column, so that a page is large enough to compress
    /// nearly as well as a full page.
    pub(crate) const COLUMN_BYTES: u64 = 4 << 10;
    /// The smallest and the largest number of stored bytes of a place, before more places are taken.
    pub(crate) const PLACE_BYTES: [u64; 2] = [1 << 20, 16 << 20];
    /// The largest number of places of a sample. Each is a separate file, which takes time.
    pub(crate) const PLACES: u64 = 8;
    /// Sizes that differ less than this fraction count as equal, so that time decides between them.
    pub(crate) const SAME_SIZE: f64 = 0.003;
    /// Times that differ less than this fraction count as equal: measurements are not more precise.
    pub(crate) const SAME_TIME: f64 = 0.03;
    /// The fraction by which an output may be larger than the smallest output, if memory counts: memory is worth that
    /// much size.
    pub(crate) const LARGER: f64 = 0.05;
    /// The bytes of one request over a link: a reader fetches as many bytes ahead.
    pub(crate) const REQUEST_BYTES: u64 = 64 << 20;
    /// The requests that open an RNTuple, one after the other, since each shows where the next bytes are.
    pub(crate) const OPEN_REQUESTS: u64 = 3;
    /// The minimum and maximum number of reads of an output. The shortest time counts, since a single measurement is
    /// often too long by chance. The first read does not count: it takes memory that the process never had.
    pub(crate) const READS: [usize; 2] = [3, 5];
    /// The seconds after which the minimum number of reads is enough.
    pub(crate) const READ_SECONDS: f64 = 0.5;
}

/// The numbers of skims.
pub(crate) mod skim {
    /// The memory of a skim divided by this is the maximum memory of the open cluster or row group. The rest is for the
    /// step that is written and the step that is read.
    pub(crate) const WRITER_DIVISOR: u64 = 4;
}
