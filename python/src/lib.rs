//! `nyssa._core` is the thin layer between Python and the Rust core.
//!
//! Every call that may take time goes through [`job::Job`], which lets other Python threads run,
//! polls for Ctrl-C, reports progress and turns errors and panics into Python exceptions. What comes
//! back crosses as Arrow PyCapsules, or as awkward Forms and buffers ([`form`]), without copies.

#![deny(missing_docs, unreachable_pub)]
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
mod histogram;
mod job;
mod keywords;
mod layout;
mod merge;
mod objects;
mod observe;
mod options;
mod process;
mod query;
mod records;
mod relations;
mod report;
mod rewrite;
mod rules;
mod skim;
mod step_size;
mod steps;
mod tree_options;
mod tune;
mod verify;
mod write;

use pyo3::pymodule;

/// The extension module. Its classes are frozen, and what changes inside them is behind locks, so that it needs no
/// global lock of the interpreter.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::array::{Array, Table};
    #[pymodule_export]
    use crate::branches::branches;
    #[pymodule_export]
    use crate::buffer::Buffer;
    #[pymodule_export]
    use crate::chain::{chain, join};
    #[pymodule_export]
    use crate::cli::{CommandOptions, divide_options, exit_code, run_cli};
    #[pymodule_export]
    use crate::convert::{convert, convert_job, convert_many};
    #[pymodule_export]
    use crate::dataset::Dataset;
    #[pymodule_export]
    use crate::digest::digest;
    #[pymodule_export]
    use crate::file::{
        File, about, absolute, did_you_mean, file_name, files, identity, identity_of, name_of,
        open, open_table, printable, printable_message, query_digest, shown, size, split_path,
    };
    #[pymodule_export]
    use crate::fill::{FillContext, column_precision, estimate_write_memory};
    #[pymodule_export]
    use crate::histogram::{fill_histograms, kinds};
    #[pymodule_export]
    use crate::merge::merge;
    #[pymodule_export]
    use crate::observe::{
        Monitor, Profile, Profiler, Recording, io_stats, io_stats_lines, record, release_memory,
        trace_summary,
    };
    #[pymodule_export]
    use crate::query::Query;
    #[pymodule_export]
    use crate::records::{ntuple_pages, ntuple_records};
    #[pymodule_export]
    use crate::relations::{relations, with_friends};
    #[pymodule_export]
    use crate::rewrite::{check_rewrite, rewrite};
    #[pymodule_export]
    use crate::rules::with_rules;
    #[pymodule_export]
    use crate::skim::skim;
    #[pymodule_export]
    use crate::steps::Steps;
    #[pymodule_export]
    use crate::tune::{tune, tune_body, tune_page, tune_text};
    #[pymodule_export]
    use crate::verify::{diff, diff_files, inspect, inspect_page, verify};
    #[pymodule_export]
    use crate::write::Writer;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::bridge::install();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
