//! ROOT's file container, its compression, streamer infos and objects: what TTree and RNTuple share.
//!
//! This crate is a layer of `nyssa`, and its interface may change at any time. Use the crate `nyssa`.
//!
//! ```text
//! shared_file · fill       a file that several RNTuples and TTrees share · many threads fill one of them
//! streamer                 objects <-> arrays, by streamer info
//! rootfile | unpacked      the container: keys, directories, free segments | pages that a cache keeps
//! effort                   choice of codecs and effort, from samples
//! type_name · arrow · compression
//! error · guard · cursor · arena · context · pipeline · fetch · distinct · page_pool · names · problem ·
//! process · waiting · as_text · heuristics
//! ```

#![deny(missing_docs, unreachable_pub)]

pub mod arena;
pub mod arrow;
#[doc(hidden)]
pub mod as_text;
pub mod compression;
pub mod context;
pub mod cursor;
pub mod definitions;
pub mod distinct;
pub mod effort;
pub mod error;
pub mod fetch;
pub mod fill;
pub mod guard;
mod heuristics;
pub mod names;
pub mod page_pool;
pub mod pipeline;
pub mod problem;
pub mod process;
pub mod rootfile;
pub mod shared_file;
pub mod streamer;
pub mod type_name;
pub mod unpacked;
pub mod waiting;

pub use context::Context;
pub use error::{Error, Kind, Result};
pub use problem::{DatasetCheck, Problem};
