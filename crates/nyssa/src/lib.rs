//! The formats of nyssa: the ROOT file container, TTree and RNTuple. They can be read, written,
//! converted, rewritten, merged and compared.
//!
//! # The way of data
//!
//! plan → fetch → unseal → decode → array; array → encode → seal → commit.
//!
//! # What is public
//!
//! [`open`] gives a [`Dataset`]; [`view`] makes datasets of datasets; [`convert`], [`rewrite`], [`merge`] and
//! [`update`] make files; [`verify`], [`compare`] and [`tune`] tell what is in them. The formats themselves are
//! in [`rootfile`], [`rntuple`], [`ttree`] and [`streamer`].
//!
//! # The rooms
//!
//! A room may use the rooms below it, never one above it. `tests/architecture` reads the imports and
//! checks this.
//!
//! ```text
//! update | merge | convert | rewrite     jobs: files to files
//! job                                    what they share: the way through a job, the ordered pipeline
//! tune                                   what files and columns take
//! verify                                 is everything in a file sound?
//! compare                                do two datasets hold the same values?
//! open                                   path -> file, dataset: the one place that knows all formats
//! view                                   datasets made of datasets: chain, join, rules, selection, slice
//! rntuple::read | rntuple::write | ttree::read     (blind to each other)
//! cut                                    the language of selections
//! dataset                                the trait `Dataset`, and what a column is
//! rntuple::choose                        which encoding, codec and effort, by looking at samples
//! rntuple::page                          sealed page <-> elements
//! rntuple::format                        anchor, envelope, frame, page list
//! rntuple::schema | ttree::model         fields and columns | branches, leaves, baskets
//! rntuple::encoding                      column types: elements <-> bits
//! streamer                               objects <-> arrays, by streamer info
//! rootfile                               the container: keys, directories, free segments
//! type_name · arrow · compression
//! error · guard · cursor · arena · context · fetch · distinct · leftovers · memory · names ·
//! problem
//! ```

mod arena;
mod cursor;
mod distinct;
mod fetch;
mod leftovers;
mod memory;
mod problem;

pub mod arrow;
pub mod compare;
pub mod compression;
pub mod context;
pub mod convert;
pub mod cut;
pub mod dataset;
pub mod error;
pub mod job;
pub mod merge;
pub mod open;
pub mod rewrite;
pub mod rntuple;
pub mod rootfile;
pub mod streamer;
pub mod ttree;
pub mod tune;
pub mod update;
pub mod verify;
pub mod view;

// Small helpers that the command line, the Python package and fuzz targets share. They may change at any time.
#[doc(hidden)]
pub mod guard;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod type_name;

pub use context::Context;
pub use dataset::Dataset;
pub use error::{Error, Kind, Result};
pub use problem::{Problem, VerifyReport};
