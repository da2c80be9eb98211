//! Defines the options of a writer, with the defaults of ROOT.

use nyssa_root::compression::Compression;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::info::StreamerList;

use super::blob::check_key_size;
use super::limits::{check_cluster, check_memory};
use crate::choose::{Encodings, FieldOptions};
use crate::format::DEFAULT_MAX_KEY_SIZE;
use crate::schema::{Classes, Schema};
use crate::seal::{SealSettings, check_page};

/// The default compressed size of a cluster in bytes (the approximate zipped cluster size of ROOT).
pub const DEFAULT_APPROX_ZIPPED_CLUSTER: u64 = 128 << 20;
/// The default maximum of the uncompressed size of a cluster in bytes. A cluster exceeds it by one entry at
/// most. As in ROOT, it is ten times the compressed size.
pub const DEFAULT_MAX_UNZIPPED_CLUSTER: u64 = 10 * DEFAULT_APPROX_ZIPPED_CLUSTER;
/// The default maximum size of an uncompressed page, in bytes.
pub const DEFAULT_MAX_UNZIPPED_PAGE: usize = 1 << 20;
/// The default memory in bytes of an open page that every column may use, even if memory is short.
pub const DEFAULT_INITIAL_UNZIPPED_PAGE: usize = 256;
/// The default memory of a writer in bytes. It is enough for a cluster of the default size with some hundred columns,
/// or for two fill contexts with clusters of half this size.
pub const DEFAULT_MEMORY: u64 = default_memory(DEFAULT_APPROX_ZIPPED_CLUSTER);
/// The default number of clusters in a cluster group, whose pages one page list describes. It limits the
/// metadata in memory, and keeps the footer small.
pub const DEFAULT_CLUSTERS_PER_GROUP: usize = 64;
/// Returns the memory for clusters of this compressed size, and at least for clusters of the default size. With more
/// columns than this memory allows, clusters are smaller (`budget.rs`).
pub const fn default_memory(cluster: u64) -> u64 {
    let cluster = if cluster > DEFAULT_APPROX_ZIPPED_CLUSTER {
        cluster
    } else {
        DEFAULT_APPROX_ZIPPED_CLUSTER
    };
    (cluster / 2).saturating_mul(3)
}

/// The options of [`super::Writer`], [`super::TableWriter`] and [`super::ParallelWriter`]. Options of ROOT's
/// `RNTupleWriteOptions` have their meaning and their defaults here.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let options = nyssa::RNTupleWriteOptions {
///     compression: "zstd:9".parse()?,
///     memory: 200_000_000,
///     ..Default::default()
/// };
/// assert!(options.checksums);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RNTupleWriteOptions {
    /// The compression of pages and envelopes.
    pub compression: Compression,
    /// The CPU time that compression may take.
    pub effort: Effort,
    /// The way in which column types are chosen.
    pub encodings: Encodings,
    /// The options of some fields, by glob. The last match wins. Attribute sets ignore them.
    pub fields: Vec<FieldOptions>,
    /// The compressed size of a cluster, in bytes. Clusters are smaller if memory is short.
    pub approx_zipped_cluster: u64,
    /// The maximum uncompressed size of a cluster, in bytes.
    pub max_unzipped_cluster: u64,
    /// The initial size of the open page of a column, in bytes. It grows with its elements. The memory must be
    /// enough for such a page of every column.
    pub initial_unzipped_page: usize,
    /// The maximum size of a page before compression, in bytes. Pages are smaller if memory is short.
    pub max_unzipped_page: usize,
    /// The maximum memory of all open pages of a fill context, in bytes. `None` takes twice the compressed
    /// cluster size (once without compression), as ROOT does. The limit [`Self::memory`] holds in any case.
    pub page_buffer_budget: Option<u64>,
    /// Whether sealed pages stay in memory until their cluster is complete, so that the pages of a column lie
    /// together in the file. Otherwise they are written as soon as they are full, which needs little memory.
    pub buffered: bool,
    /// Whether an XXH3 checksum follows every page.
    pub checksums: bool,
    /// Whether equal pages are stored once.
    pub same_page_merging: bool,
    /// Whether arrays of doubles may fill fields of type `float`, rounded to the nearest as in C++. Otherwise
    /// they are refused.
    pub round_doubles: bool,
    /// The maximum memory of everything that the writer holds, for all fill contexts together, in bytes.
    pub memory: u64,
    /// The maximum number of fill contexts of a [`super::ParallelWriter`]. Each gets an equal part of the
    /// memory. `None` takes the number of threads.
    pub contexts: Option<usize>,
    /// The number of clusters in a cluster group.
    pub clusters_per_group: usize,
    /// The maximum payload of one key, in bytes. Larger pages and envelopes are split over several keys.
    pub max_key_size: u64,
    /// The streamer infos of streamed classes, for the extra type information and for the list of the file.
    pub streamer_infos: StreamerList,
    /// The classes of fields as users define them. Their fields get the checksums that ROOT computes, and the list of the
    /// file their streamer infos. Other classes are described as their fields show them, where an array of C++ is a
    /// `std::array`, and keep their checksums.
    pub classes: Classes,
    /// The description of the RNTuple in free text.
    pub description: String,
    /// The name of the program that writes. The header records it.
    pub writer: String,
}

impl Default for RNTupleWriteOptions {
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
            classes: Classes::default(),
            description: String::new(),
            writer: concat!("nyssa ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl RNTupleWriteOptions {
    /// Returns the settings with which the columns of `schema` are sealed. They are equal for all columns, except for
    /// [`Self::fields`].
    pub fn seal_settings(&self, schema: &Schema) -> SealSettings {
        let mut settings = SealSettings::new(schema, self.compression, self.max_unzipped_page);
        settings.round_doubles = self.round_doubles;
        self.fields.iter().for_each(|options| options.apply(schema, &mut settings.columns));
        settings
    }

    /// Checks that the numbers are in their ranges.
    ///
    /// # Errors
    /// `InvalidArgument` with the name of the option.
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
