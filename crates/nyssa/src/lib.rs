//! The formats of nyssa: ROOT file container, TTree, RNTuple; reading, writing, converting, tuning.
//!
//! Data flows one way:
//! plan → fetch → unseal → decode → array; array → encode → seal → commit.
//!
//! Layers, upper may use lower, never the reverse:
//!
//! ```text
//! tune
//! convert | merge | rewrite | update       arrow    (array model at the edge)
//! read | write (blind to each other)               ttree (blind to format / page)
//! page         sealed page <-> elements                streamer   streamed objects -> arrays
//! schema       fields, columns, projections, C++ type names
//! format       anchor, envelope, frame, locator, page list      rootfile   keys, directories, objects
//! encoding · compression
//! error · guard · cursor · arena · context · distinct · leftovers
//! ```

mod arena;
pub mod arrow;
pub mod compression;
pub mod context;
pub mod convert;
pub mod cursor;
pub mod cut;
pub mod dataset;
mod distinct;
pub mod encoding;
pub mod error;
pub mod format;
pub mod guard;
mod leftovers;
mod memory;
pub mod merge;
mod output;
pub mod page;
mod problem;
pub mod read;
pub mod rewrite;
pub mod rootfile;
pub mod schema;
pub mod streamer;
pub mod ttree;
pub mod tune;
pub mod update;
pub mod write;

pub use context::Context;
pub use dataset::Dataset;
pub use error::{Error, Kind, Result};
pub use problem::Problem;
