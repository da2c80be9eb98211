//! Declares the options of RNTuples that callers fill.

use nyssa_rntuple::choose::FieldOptions;
use nyssa_rntuple::write::{Order, RNTupleWriteOptions, default_memory};
use nyssa_root::error::{Error, Result};

use crate::job::{OutputOptions, StorageOptions};

/// The options of RNTuples that callers fill. An option that is `None` keeps its default.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct FillOptions {
    /// zstd, zlib, lz4 or lzma, with or without a level from 1 to 9; a ROOT setting such as 505; or none.
    #[cfg_attr(feature = "cli", arg(long))]
    pub compression: Option<nyssa_root::effort::CompressionChoice>,
    /// The time that compression may take: auto or full.
    #[cfg_attr(feature = "cli", arg(long))]
    pub effort: Option<nyssa_root::effort::Effort>,
    /// How the fields are stored.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub storage: StorageOptions,
    /// Largest size of a cluster before compression. The default is 1280MiB, or ten times the compressed size.
    #[cfg_attr(feature = "cli", arg(long, value_parser = nyssa_io::parse_size))]
    pub max_unzipped_cluster_size: Option<u64>,
    /// Size of the open page of a column at first.
    #[cfg_attr(feature = "cli", arg(long, value_parser = nyssa_io::parse_size))]
    pub initial_page_size: Option<u64>,
    /// Largest memory of all open pages of a fill context.
    #[cfg_attr(feature = "cli", arg(long, value_parser = nyssa_io::parse_size))]
    pub page_buffer_budget: Option<u64>,
    /// Whether pages stay in memory until their cluster is complete.
    #[cfg_attr(feature = "cli", arg(long))]
    pub buffered: Option<bool>,
    /// Whether pages have checksums.
    #[cfg_attr(feature = "cli", arg(long))]
    pub checksums: Option<bool>,
    /// Whether equal pages are stored once.
    #[cfg_attr(feature = "cli", arg(long))]
    pub same_page_merging: Option<bool>,
    /// Largest memory of everything that the writer holds.
    #[cfg_attr(feature = "cli", arg(long, value_parser = nyssa_io::parse_size))]
    pub memory: Option<u64>,
    /// Largest number of fill contexts.
    #[cfg_attr(feature = "cli", arg(long))]
    pub fill_contexts: Option<usize>,
    /// Order of the clusters of fill contexts: completion or round-robin.
    #[cfg_attr(feature = "cli", arg(long))]
    pub fill_order: Option<Order>,
}

impl FillOptions {
    /// Returns the order of the clusters of fill contexts.
    pub fn order(&self) -> Order {
        self.fill_order.unwrap_or_default()
    }

    /// Returns the options of the writer. `fields` are more options of fields.
    ///
    /// # Errors
    /// `NotFound` for a profile that is missing; `InvalidArgument` for one that is none.
    pub fn write_options(self, fields: Vec<FieldOptions>) -> Result<RNTupleWriteOptions> {
        let mut options = RNTupleWriteOptions::default();
        if let Some(profile) = &self.storage.profile
            && nyssa_io::kind(profile)?.is_none()
        {
            return Err(Error::not_found(format!("there is no profile {profile}")));
        }
        let (mut storage, mut output) = (self.storage, OutputOptions::default());
        (output.compression, output.effort) = (self.compression, self.effort);
        storage.settle(&mut output)?;
        options.compression = output.compression();
        options.effort = output.effort();
        options.encodings = storage.encoding();
        options.approx_zipped_cluster = storage.cluster_size();
        // The defaults of ROOT have the same ratio.
        options.max_unzipped_cluster =
            options.max_unzipped_cluster.max(storage.cluster_size().saturating_mul(10));
        options.max_unzipped_page = storage.page_size();
        options.initial_unzipped_page = options.initial_unzipped_page.min(storage.page_size());
        if let Some(bytes) = self.max_unzipped_cluster_size {
            options.max_unzipped_cluster = bytes;
        }
        if let Some(bytes) = self.initial_page_size {
            options.initial_unzipped_page = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        options.page_buffer_budget = self.page_buffer_budget;
        options.buffered = self.buffered.unwrap_or(options.buffered);
        options.checksums = self.checksums.unwrap_or(options.checksums);
        options.same_page_merging = self.same_page_merging.unwrap_or(options.same_page_merging);
        let default = default_memory(options.approx_zipped_cluster);
        options.memory = self.memory.unwrap_or(default);
        options.fields = storage.field_options.into_iter().chain(fields).collect();
        options.contexts = self.fill_contexts;
        Ok(options)
    }
}
