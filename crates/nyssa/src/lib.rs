//! The formats of nyssa: the ROOT file container, TTree and RNTuple. They can be read, written,
//! converted, rewritten, merged and compared.
//!
//! # How data flows
//!
//! plan → fetch → unseal → decode → array; array → encode → seal → commit.
//!
//! # What is public
//!
//! [`open`] returns a [`Dataset`]; [`view`] combines datasets into others; [`convert`], [`rewrite`], [`merge`]
//! and [`update`] write files; [`verify`], [`compare`] and [`tune`] check, compare and describe them. The
//! formats are in [`rootfile`], [`rntuple`], [`ttree`] and [`streamer`].
//!
//! # The modules
//!
//! A module may use the modules below it, never one above it. `tests/architecture` reads the imports and
//! checks this.
//!
//! ```text
//! tune                                   describes files and datasets, and tries how they are stored best
//! update | merge | convert | rewrite     jobs: files to files
//! job                                    what jobs share: their steps
//! verify                                 is everything in a file sound?
//! compare                                do two datasets hold the same values?
//! open                                   path -> file, dataset: the only module that knows all formats
//! view                                   datasets made of datasets: chain, join, rules, selection, slice
//! rntuple::read | rntuple::write | ttree::read | ttree::write     (they do not use each other)
//! cut                                    the language of selections
//! dataset                                the trait `Dataset`, columns, steps
//! rntuple::choose                        choice of column types, from samples
//! rntuple::page                          sealed page <-> elements
//! rntuple::format | ttree::stored        anchor, envelope, frame, page list | a stored tree that gets more baskets
//! rntuple::schema | ttree::model         fields and columns | branches, leaves, baskets
//! rntuple::encoding                      column types: elements <-> bits
//! shared_file · fill                     a file that several RNTuples and TTrees share · many threads fill one of them
//! streamer                               objects <-> arrays, by streamer info
//! rootfile | unpacked                    the container: keys, directories, free segments | pages that a cache keeps
//! effort                                 choice of codecs and effort, from samples
//! profile                                where the time and the memory go
//! type_name · arrow · compression · monitor
//! error · guard · cursor · arena · context · pipeline · fetch · distinct · page_pool · names · problem ·
//! process · waiting
//! ```

mod arena;
mod cursor;
mod distinct;
mod fetch;
mod fill;
mod page_pool;
mod pipeline;
mod problem;
mod process;
mod shared_file;
mod unpacked;
mod waiting;

pub mod arrow;
pub mod compare;
pub mod compression;
pub mod context;
pub mod convert;
pub mod cut;
pub mod dataset;
pub mod effort;
pub mod error;
pub mod job;
pub mod merge;
pub mod monitor;
pub mod open;
pub mod profile;
pub mod rewrite;
pub mod rntuple;
pub mod rootfile;
pub mod streamer;
pub mod ttree;
pub mod tune;
pub mod update;
pub mod verify;
pub mod view;

// The command line, the Python package and fuzz targets use these small helpers. They may change at any time.
#[doc(hidden)]
pub mod guard;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod type_name;

pub use context::Context;
pub use dataset::Dataset;
pub use error::{Error, Kind, Result};
pub use problem::{DatasetCheck, Problem};
