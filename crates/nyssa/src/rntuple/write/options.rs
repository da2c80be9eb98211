//! What a writer may choose, with ROOT's defaults by name.

use super::FieldOptions;
use super::blob::check_key_size;
use super::limits::{check_cluster, check_memory, check_page};
use crate::compression::Compression;
use crate::error::{Error, Result};
use crate::rntuple::choose::{Effort, Encodings};
use crate::rntuple::format::DEFAULT_MAX_KEY_SIZE;
use crate::streamer::info::StreamerList;

/// Compressed size that a cluster aims at, bytes (ROOT's approximate zipped cluster size).
pub const DEFAULT_APPROX_ZIPPED_CLUSTER: u64 = 128 << 20;
/// Uncompressed size that a cluster never exceeds by more than one entry, bytes; ten times the
/// zipped size, as in ROOT.
pub const DEFAULT_MAX_UNZIPPED_CLUSTER: u64 = 10 * DEFAULT_APPROX_ZIPPED_CLUSTER;
/// Uncompressed size of the largest page, bytes.
pub const DEFAULT_MAX_UNZIPPED_PAGE: usize = 1 << 20;
/// Bytes of an open page that every column may hold, whatever the memory.
pub const DEFAULT_INITIAL_UNZIPPED_PAGE: usize = 256;
/// Memory for everything that is held while writing, bytes. Enough for a cluster of the default size with
/// some hundred columns, or for two fill contexts with half as much each.
pub const DEFAULT_MEMORY: u64 = default_memory(DEFAULT_APPROX_ZIPPED_CLUSTER);
/// Clusters whose pages one page list describes. Bounds the metadata held while writing and read at
/// once, and keeps the footer small.
pub const DEFAULT_CLUSTERS_PER_GROUP: usize = 64;
/// The memory for clusters of so many compressed bytes, at least that of the default size. Where there are more
/// columns than that is enough for, clusters are smaller (`budget.rs`).
pub const fn default_memory(cluster: u64) -> u64 {
    let cluster = if cluster > DEFAULT_APPROX_ZIPPED_CLUSTER {
        cluster
    } else {
        DEFAULT_APPROX_ZIPPED_CLUSTER
    };
    (cluster / 2).saturating_mul(3)
}

/// Options of [`super::Writer`], [`super::TableWriter`] and [`super::ParallelWriter`]; meaning and
/// defaults are those of ROOT's `RNTupleWriteOptions` where it has the same.
#[derive(Clone, Debug)]
pub struct Options {
    /// Compression of pages and envelopes.
    pub compression: Compression,
    /// How compression effort is spent.
    pub effort: Effort,
    /// How column types are chosen.
    pub encodings: Encodings,
    /// What holds for some fields instead, by glob; the last that match win. Not for attribute sets.
    pub fields: Vec<FieldOptions>,
    /// Compressed cluster size to aim at, bytes. Clusters are smaller where memory is short.
    pub approx_zipped_cluster: u64,
    /// Uncompressed cluster size to stay under, bytes.
    pub max_unzipped_cluster: u64,
    /// What the open page of a column takes at first, bytes; it grows as elements come. The memory
    /// has to hold so much of every column.
    pub initial_unzipped_page: usize,
    /// Largest page before compression, bytes. Pages are smaller where memory is short.
    pub max_unzipped_page: usize,
    /// Bytes that the pages of all columns that are not full yet may take for each one who fills;
    /// `None` takes twice the compressed cluster size (once without compression), as ROOT does.
    /// The memory budget is kept in any case.
    pub page_buffer_budget: Option<u64>,
    /// Sealed pages wait in memory for their cluster, in which the pages of a column then lie
    /// together. Otherwise they are written as soon as they are full, which needs little memory.
    pub buffered: bool,
    /// An XXH3 checksum follows every page.
    pub checksums: bool,
    /// Pages with the same bytes are stored once.
    pub same_page_merging: bool,
    /// Arrays in double precision may fill fields of type `float`, rounded to the nearest as C++ does
    /// it; otherwise they are refused.
    pub round_doubles: bool,
    /// Memory for everything that is held while writing, of all fill contexts together, bytes.
    pub memory: u64,
    /// Fill contexts of a [`super::ParallelWriter`], at most; each gets an equal share of the memory.
    /// `None` takes the number of threads.
    pub contexts: Option<usize>,
    /// Clusters per page list.
    pub clusters_per_group: usize,
    /// Largest payload of one key, bytes; larger pages and envelopes are split.
    pub max_key_size: u64,
    /// What the classes of streamed objects look like, for the extra type information and for the list
    /// of the file.
    pub streamer_infos: StreamerList,
    /// Description of the RNTuple, free text.
    pub description: String,
    /// The program that writes, recorded in the header.
    pub writer: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compression: Compression::DEFAULT,
            effort: Effort::default(),
            encodings: Encodings::default(),
            fields: Vec::new(),
            approx_zipped_cluster: DEFAULT_APPROX_ZIPPED_CLUSTER,
            max_unzipped_cluster: DEFAULT_MAX_UNZIPPED_CLUSTER,
            initial_unzipped_page: DEFAULT_INITIAL_UNZIPPED_PAGE,
            max_unzipped_page: DEFAULT_MAX_UNZIPPED_PAGE,
            page_buffer_budget: None,
            buffered: true,
            checksums: true,
            same_page_merging: true,
            round_doubles: false,
            memory: DEFAULT_MEMORY,
            contexts: None,
            clusters_per_group: DEFAULT_CLUSTERS_PER_GROUP,
            max_key_size: DEFAULT_MAX_KEY_SIZE,
            streamer_infos: StreamerList::default(),
            description: String::new(),
            writer: concat!("nyssa ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl Options {
    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// `InvalidArgument` naming the option.
    pub fn validate(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::invalid_argument(message));
        check_cluster(self.approx_zipped_cluster)?;
        if self.max_unzipped_cluster < self.approx_zipped_cluster {
            return wrong(format!(
                "a compressed cluster of {} bytes cannot be reached when uncompressed ones are at \
                 most {}",
                self.approx_zipped_cluster, self.max_unzipped_cluster
            ));
        }
        check_memory(self.memory)?;
        if self.contexts == Some(0) {
            return wrong("the number of fill contexts must be at least 1".to_owned());
        }
        if self.clusters_per_group == 0 {
            return wrong("a cluster group needs at least one cluster".to_owned());
        }
        check_key_size(self.max_key_size)?;
        for page in [self.initial_unzipped_page, self.max_unzipped_page] {
            check_page(page)?;
        }
        if self.initial_unzipped_page > self.max_unzipped_page {
            return wrong(format!(
                "pages of at first {} bytes are larger than the largest, {}",
                self.initial_unzipped_page, self.max_unzipped_page
            ));
        }
        self.fields.iter().try_for_each(FieldOptions::validate)
    }
}
