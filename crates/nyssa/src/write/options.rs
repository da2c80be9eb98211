//! What a writer may choose, with ROOT's defaults by name.

use crate::compression::Compression;
use crate::error::{Error, Result};

/// Compressed size that a cluster aims at, bytes (ROOT's approximate zipped cluster size).
pub const DEFAULT_APPROX_ZIPPED_CLUSTER: u64 = 128 << 20;
/// Uncompressed size that a cluster never exceeds by more than one entry, bytes; ten times the
/// zipped size, as in ROOT.
pub const DEFAULT_MAX_UNZIPPED_CLUSTER: u64 = 10 * DEFAULT_APPROX_ZIPPED_CLUSTER;
/// Uncompressed size of the largest page, bytes.
pub const DEFAULT_MAX_UNZIPPED_PAGE: usize = 1 << 20;
/// Smallest page size that may be asked for, bytes; ROOT's initial page size.
pub const MIN_UNZIPPED_PAGE: usize = 256;
/// Largest page size that may be asked for, bytes: ROOT's limit of elements per page with one-byte
/// elements would allow more, but one page has to fit into one key with room to spare.
pub const MAX_UNZIPPED_PAGE: usize = 512 << 20;
/// Memory that buffered and sealed data may take, bytes.
pub const DEFAULT_MEMORY: u64 = 1 << 30;
/// Clusters whose pages one page list describes. Bounds the metadata held while writing and read at
/// once, and keeps the footer small.
pub const DEFAULT_CLUSTERS_PER_GROUP: usize = 64;
/// Distinct pages remembered for sharing; once so many are known, the memory starts afresh.
pub const MAX_REMEMBERED_PAGES: usize = 1 << 16;

/// Options of [`super::Writer`] and [`super::TableWriter`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Compression of pages and envelopes.
    pub compression: Compression,
    /// Compressed cluster size to aim at, bytes.
    pub approx_zipped_cluster: u64,
    /// Uncompressed cluster size to stay under, bytes.
    pub max_unzipped_cluster: u64,
    /// Largest page before compression, bytes.
    pub max_unzipped_page: usize,
    /// An XXH3 checksum follows every page.
    pub checksums: bool,
    /// Pages with the same bytes are stored once.
    pub same_page_merging: bool,
    /// Arrays in double precision may fill fields of type `float`, rounded to the nearest as C++ does
    /// it; otherwise they are refused.
    pub round_doubles: bool,
    /// Memory for buffered and sealed data, bytes.
    pub memory: u64,
    /// Clusters per page list.
    pub clusters_per_group: usize,
    /// Description of the RNTuple, free text.
    pub description: String,
    /// The program that writes, recorded in the header.
    pub writer: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compression: Compression::DEFAULT,
            approx_zipped_cluster: DEFAULT_APPROX_ZIPPED_CLUSTER,
            max_unzipped_cluster: DEFAULT_MAX_UNZIPPED_CLUSTER,
            max_unzipped_page: DEFAULT_MAX_UNZIPPED_PAGE,
            checksums: true,
            same_page_merging: true,
            round_doubles: false,
            memory: DEFAULT_MEMORY,
            clusters_per_group: DEFAULT_CLUSTERS_PER_GROUP,
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
        if self.approx_zipped_cluster == 0 || self.max_unzipped_cluster == 0 {
            return wrong("cluster sizes must be at least one byte".to_owned());
        }
        if self.clusters_per_group == 0 {
            return wrong("a cluster group needs at least one cluster".to_owned());
        }
        if !(MIN_UNZIPPED_PAGE..=MAX_UNZIPPED_PAGE).contains(&self.max_unzipped_page) {
            return wrong(format!(
                "a page size of {} bytes is outside {MIN_UNZIPPED_PAGE} to {MAX_UNZIPPED_PAGE}",
                self.max_unzipped_page
            ));
        }
        Ok(())
    }
}
