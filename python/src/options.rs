//! Reads options that come from Python as dataclasses. An option that is `None` keeps its default.

use nyssa_jobs::filling::FillOptions;
use nyssa_jobs::job::StorageOptions;
use nyssa_rntuple::write::{FieldOptions, Order, RNTupleWriteOptions};
use nyssa_root::Result;
use pyo3::prelude::*;

/// Globs, each with names and values of options.
pub(crate) type ByField = Vec<(String, Vec<(String, String)>)>;

/// Returns the options of fields.
pub(crate) fn by_field(given: ByField) -> Result<Vec<FieldOptions>> {
    let parse = |(glob, options): (String, Vec<(String, String)>)| {
        let none = FieldOptions::new(&glob)?;
        options.iter().try_fold(none, |options, (name, value)| options.with(name, value))
    };
    given.into_iter().map(parse).collect()
}

/// The options of writing, from a `nyssa.write.options.WriteOptions`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WriteOptions {
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
    pub(crate) fn fill_order(&self) -> Result<Order> {
        self.fill_order.as_deref().map_or_else(|| Ok(Order::default()), str::parse)
    }

    /// Returns the same in the types of the core.
    pub(crate) fn parse(self) -> Result<RNTupleWriteOptions> {
        let options = FillOptions {
            compression: self.compression.map(|text| text.parse()).transpose()?,
            effort: self.effort.map(|text| text.parse()).transpose()?,
            storage: StorageOptions {
                encoding: self.encoding.map(|text| text.parse()).transpose()?,
                profile: self.profile,
                cluster_size: self.cluster_size,
                page_size: self.page_size,
                ..StorageOptions::default()
            },
            max_unzipped_cluster_size: self.max_unzipped_cluster_size,
            initial_page_size: self.initial_page_size,
            page_buffer_budget: self.page_buffer_budget,
            buffered: self.buffered,
            checksums: self.checksums,
            same_page_merging: self.same_page_merging,
            memory: self.memory,
            fill_contexts: self.fill_contexts,
            fill_order: None,
        };
        let options = options.write_options(by_field(self.field_options.unwrap_or_default())?)?;
        // The floats of Python are doubles, and so are the floats of NumPy by default.
        Ok(RNTupleWriteOptions { round_doubles: true, ..options })
    }
}
