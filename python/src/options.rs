//! Reads options that come from Python as dataclasses. An option that is `None` keeps its default.

use nyssa_jobs::job::{OutputOptions, StorageOptions};
use nyssa_rntuple::write::{FieldOptions, Order, RNTupleWriteOptions, default_memory};
use nyssa_root::{Error, Result};
use pyo3::prelude::*;

/// Returns a number of bytes, at most as many as memory can have.
pub fn memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Globs, each with names and values of options.
pub type ByField = Vec<(String, Vec<(String, String)>)>;

/// Returns the options of fields.
pub fn by_field(given: ByField) -> Result<Vec<FieldOptions>> {
    let parse = |(glob, options): (String, Vec<(String, String)>)| {
        let none = FieldOptions::new(&glob)?;
        options.iter().try_fold(none, |options, (name, value)| options.with(name, value))
    };
    given.into_iter().map(parse).collect()
}

/// The options of writing, from a `nyssa.write.options.WriteOptions`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct WriteOptions {
    compression: Option<String>,
    effort: Option<String>,
    encoding: Option<String>,
    profile: Option<String>,
    cluster_size: Option<u64>,
    max_unzipped_cluster_size: Option<u64>,
    page_size: Option<u64>,
    initial_page_size: Option<u64>,
    page_buffer_budget: Option<u64>,
    buffered: Option<bool>,
    checksums: Option<bool>,
    same_page_merging: Option<bool>,
    memory: Option<u64>,
    field_options: Option<ByField>,
    fill_contexts: Option<usize>,
    fill_order: Option<String>,
    /// The number of threads.
    pub threads: Option<usize>,
}

impl WriteOptions {
    /// Returns the order of the clusters of fill contexts.
    pub fn fill_order(&self) -> Result<Order> {
        self.fill_order.as_deref().map_or_else(|| Ok(Order::default()), str::parse)
    }

    /// Returns the same in the types of the core.
    pub fn parse(self) -> Result<RNTupleWriteOptions> {
        // The floats of Python are doubles, and so are the floats of NumPy by default.
        let mut options =
            RNTupleWriteOptions { round_doubles: true, ..RNTupleWriteOptions::default() };
        if let Some(profile) = &self.profile
            && nyssa_io::kind(profile)?.is_none()
        {
            return Err(Error::not_found(format!("there is no profile {profile}")));
        }
        let mut output = OutputOptions {
            compression: self.compression.map(|text| text.parse()).transpose()?,
            effort: self.effort.map(|text| text.parse()).transpose()?,
            ..OutputOptions::default()
        };
        let mut storage = StorageOptions {
            encoding: self.encoding.map(|text| text.parse()).transpose()?,
            profile: self.profile,
            cluster_size: self.cluster_size,
            page_size: self.page_size,
            ..StorageOptions::default()
        };
        storage.settle(&mut output)?;
        options.compression = output.compression();
        options.effort = output.effort();
        options.encodings = storage.encoding.unwrap_or_default();
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
            options.initial_unzipped_page = memory(bytes);
        }
        options.page_buffer_budget = self.page_buffer_budget;
        options.buffered = self.buffered.unwrap_or(options.buffered);
        options.checksums = self.checksums.unwrap_or(options.checksums);
        options.same_page_merging = self.same_page_merging.unwrap_or(options.same_page_merging);
        let default = default_memory(options.approx_zipped_cluster);
        options.memory = self.memory.unwrap_or(default);
        options.fields = by_field(self.field_options.unwrap_or_default())?;
        options.contexts = self.fill_contexts;
        Ok(options)
    }
}
