//! Options that come from Python: of jobs as objects, of writers as a dict. What is missing or `None` keeps its
//! default.

use std::ops::Range;
use std::str::FromStr;

use nyssa::Error;
use nyssa::Result;
use nyssa::compression::Compression;
use nyssa::rntuple::write::{CompressionChoice, Effort, FieldOptions, Options, default_memory};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// The option `name`, if it is given.
pub fn get<'py, T: FromPyObjectOwned<'py>>(
    options: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    match options.get_item(name)? {
        Some(value) if !value.is_none() => value.extract().map(Some).map_err(Into::into),
        _ => Ok(None),
    }
}

/// The option `name`, given as text or a number, in a type of the core.
pub fn parse<T: FromStr<Err = Error>>(
    options: &Bound<'_, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    match options.get_item(name)? {
        Some(value) if !value.is_none() => {
            let text = value.str()?.to_string();
            text.parse().map(Some).map_err(|error| errors::to_python(options.py(), &error))
        }
        _ => Ok(None),
    }
}

/// Compression and effort: a level that is named is used, else effort is chosen.
pub fn compression(options: &Bound<'_, PyDict>) -> PyResult<(Compression, Effort)> {
    let choice: CompressionChoice = parse(options, "compression")?.unwrap_or_default();
    Ok((choice.compression, choice.effort(parse(options, "effort")?)))
}

/// A number of bytes, at most what memory can hold.
pub fn memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// `nyssa._job.OutputOptions`: the options that all jobs share. An option that is `None` keeps its default.
#[derive(FromPyObject)]
pub struct OutputOptions {
    name: Option<String>,
    compression: String,
    effort: Option<String>,
    encoding: String,
    by_field: ByField,
    cluster_size: Option<u64>,
    page_size: Option<u64>,
    memory: Option<u64>,
    carry: bool,
    verify: bool,
    force: bool,
    reproducible: bool,
}

impl OutputOptions {
    /// The same in the types of the core.
    pub fn parse(self) -> Result<nyssa::job::OutputOptions> {
        let default = nyssa::job::OutputOptions::default();
        let compression: CompressionChoice = self.compression.parse()?;
        let effort = self.effort.map(|effort| effort.parse()).transpose()?;
        Ok(nyssa::job::OutputOptions {
            name: self.name,
            compression: compression.compression,
            effort: compression.effort(effort),
            encoding: self.encoding.parse()?,
            field_options: by_field(self.by_field)?,
            cluster_size: self.cluster_size.unwrap_or(default.cluster_size),
            page_size: self.page_size.map_or(default.page_size, memory),
            memory: self.memory,
            carry: self.carry,
            verify: self.verify,
            force: self.force,
            reproducible: self.reproducible,
        })
    }
}

/// Globs, each with names and values of options.
pub type ByField = Vec<(String, Vec<(String, String)>)>;

/// Options by field.
pub fn by_field(given: ByField) -> Result<Vec<FieldOptions>> {
    let parse = |(glob, options): (String, Vec<(String, String)>)| {
        let none = FieldOptions::new(&glob)?;
        options.iter().try_fold(none, |options, (name, value)| options.with(name, value))
    };
    given.into_iter().map(parse).collect()
}

/// The option `name`, options by field.
pub fn get_by_field(options: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<FieldOptions>> {
    let given = get(options, name)?.unwrap_or_default();
    by_field(given).map_err(|error| errors::to_python(options.py(), &error))
}

/// A range of entries as Python counts: from the end when negative, all when not given.
pub fn entry_range(start: Option<i64>, stop: Option<i64>, entries: u64) -> Range<u64> {
    let bound = |given: Option<i64>, default| match given {
        None => default,
        Some(value) if value < 0 => entries.saturating_sub(value.unsigned_abs()),
        Some(value) => value.unsigned_abs().min(entries),
    };
    let start = bound(start, 0);
    start..bound(stop, entries).max(start)
}

/// The options of writing.
pub fn write_options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    // Python has no other floats, and NumPy makes them unless told otherwise.
    let mut options = Options { round_doubles: true, ..Options::default() };
    (options.compression, options.effort) = compression(given)?;
    if let Some(bytes) = get(given, "cluster_size")? {
        options.approx_zipped_cluster = bytes;
        // As ROOT's default relates to its other default.
        options.max_unzipped_cluster = options.max_unzipped_cluster.max(bytes.saturating_mul(10));
    }
    if let Some(bytes) = get(given, "max_unzipped_cluster_size")? {
        options.max_unzipped_cluster = bytes;
    }
    if let Some(bytes) = get(given, "page_size")? {
        options.max_unzipped_page = memory(bytes);
        options.initial_unzipped_page = options.initial_unzipped_page.min(memory(bytes));
    }
    if let Some(bytes) = get(given, "initial_page_size")? {
        options.initial_unzipped_page = memory(bytes);
    }
    options.page_buffer_budget = get(given, "page_buffer_budget")?;
    if let Some(buffered) = get(given, "buffered")? {
        options.buffered = buffered;
    }
    if let Some(checksums) = get(given, "checksums")? {
        options.checksums = checksums;
    }
    if let Some(encodings) = parse(given, "encoding")? {
        options.encodings = encodings;
    }
    if let Some(merging) = get(given, "same_page_merging")? {
        options.same_page_merging = merging;
    }
    let memory: Option<u64> = get(given, "memory")?;
    options.memory = memory.unwrap_or_else(|| default_memory(options.approx_zipped_cluster));
    options.fields = get_by_field(given, "field_options")?;
    options.contexts = get(given, "fill_contexts")?;
    Ok(options)
}
