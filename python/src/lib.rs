//! `nyssa._core` is the thin layer between Python and the Rust core.
//!
//! Every call that may take time goes through [`job::Job`], which lets other Python threads run,
//! polls for Ctrl-C, reports progress and turns errors and panics into Python exceptions. What comes
//! back crosses as Arrow PyCapsules, or as awkward Forms and buffers ([`form`]), without copies.

// Python hands over owned objects; pyo3's generated code needs them by value.
#![allow(clippy::needless_pass_by_value)]

mod array;
mod branches;
mod bridge;
mod buffer;
mod cache;
mod capsule;
mod chain;
mod classes;
mod cli;
mod column_form;
mod convert;
mod dataset;
mod digest;
mod errors;
mod field_form;
mod file;
mod fill;
mod form;
mod from_arrow;
mod from_buffers;
mod job;
mod keywords;
mod layout;
mod merge;
mod objects;
mod observe;
mod options;
mod process;
mod query;
mod relations;
mod report;
mod rewrite;
mod rules;
mod step_size;
mod steps;
mod tree_options;
mod tune;
mod verify;
mod write;

use pyo3::prelude::*;

/// Makes the extension module. Its classes are frozen, and what changes inside them is behind locks, so that it
/// needs no global lock of the interpreter.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    bridge::install();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<array::Array>()?;
    module.add_class::<array::Table>()?;
    module.add_class::<buffer::Buffer>()?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<file::File>()?;
    module.add_class::<fill::FillContext>()?;
    module.add_class::<observe::Monitor>()?;
    module.add_class::<query::Query>()?;
    module.add_class::<observe::Profiler>()?;
    module.add_class::<observe::Profile>()?;
    module.add_class::<steps::Steps>()?;
    module.add_class::<write::Writer>()?;
    module.add_function(wrap_pyfunction!(chain::chain, module)?)?;
    module.add_function(wrap_pyfunction!(chain::join, module)?)?;
    module.add_function(wrap_pyfunction!(branches::branches, module)?)?;
    module.add_function(wrap_pyfunction!(relations::relations, module)?)?;
    module.add_function(wrap_pyfunction!(relations::with_friends, module)?)?;
    module.add_function(wrap_pyfunction!(rules::with_rules, module)?)?;
    module.add_function(wrap_pyfunction!(file::open, module)?)?;
    module.add_function(wrap_pyfunction!(file::did_you_mean, module)?)?;
    module.add_function(wrap_pyfunction!(file::split_path, module)?)?;
    module.add_function(wrap_pyfunction!(file::file_name, module)?)?;
    module.add_function(wrap_pyfunction!(file::query_digest, module)?)?;
    module.add_function(wrap_pyfunction!(file::name_of, module)?)?;
    module.add_function(wrap_pyfunction!(file::files, module)?)?;
    module.add_function(wrap_pyfunction!(file::absolute, module)?)?;
    module.add_function(wrap_pyfunction!(file::size, module)?)?;
    module.add_function(wrap_pyfunction!(file::about, module)?)?;
    module.add_function(wrap_pyfunction!(file::identity, module)?)?;
    module.add_function(wrap_pyfunction!(file::identity_of, module)?)?;
    module.add_function(wrap_pyfunction!(file::shown, module)?)?;
    module.add_function(wrap_pyfunction!(file::printable, module)?)?;
    module.add_function(wrap_pyfunction!(file::printable_message, module)?)?;
    module.add_function(wrap_pyfunction!(convert::convert, module)?)?;
    module.add_function(wrap_pyfunction!(convert::convert_job, module)?)?;
    module.add_function(wrap_pyfunction!(convert::convert_many, module)?)?;
    module.add_function(wrap_pyfunction!(digest::digest, module)?)?;
    module.add_class::<observe::Recording>()?;
    module.add_function(wrap_pyfunction!(observe::io_stats, module)?)?;
    module.add_function(wrap_pyfunction!(observe::io_stats_lines, module)?)?;
    module.add_function(wrap_pyfunction!(observe::record, module)?)?;
    module.add_function(wrap_pyfunction!(observe::trace_summary, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite::rewrite, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite::check_rewrite, module)?)?;
    module.add_function(wrap_pyfunction!(tune::tune, module)?)?;
    module.add_function(wrap_pyfunction!(tune::tune_page, module)?)?;
    module.add_function(wrap_pyfunction!(tune::tune_body, module)?)?;
    module.add_function(wrap_pyfunction!(verify::diff, module)?)?;
    module.add_function(wrap_pyfunction!(verify::diff_files, module)?)?;
    module.add_function(wrap_pyfunction!(verify::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(verify::inspect_page, module)?)?;
    module.add_function(wrap_pyfunction!(verify::verify, module)?)?;
    module.add_function(wrap_pyfunction!(fill::column_precision, module)?)?;
    module.add_function(wrap_pyfunction!(fill::estimate_write_memory, module)?)?;
    module.add_function(wrap_pyfunction!(merge::merge, module)?)?;
    module.add_function(wrap_pyfunction!(cli::exit_code, module)?)?;
    module.add_function(wrap_pyfunction!(cli::run_cli, module)?)
}
