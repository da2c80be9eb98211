//! TTree → RNTuple: maps branches to fields, moves the data in parallel, proves that nothing was lost.
//!
//! ```text
//! tree ─map─► schema, units ─pipeline─► (read branch → seal) on all cores ─► commit in order ─► verify ─► publish
//! ```
//!
//! A unit is one field in one cluster. Units are sealed on any thread and committed in the order of
//! their columns, so the output has the same bytes for any number of threads.

mod choosing;
mod classes;
mod clusters;
mod counters;
mod digests;
mod fields;
mod job;
mod map;
mod options;
mod others;
mod pipeline;
mod report;
mod samples;
mod streamer;
mod trouble;
mod unit;
mod verify;

pub use classes::Classes;
pub use job::{convert, convert_all, inputs};
pub use map::{Checked, FieldMap, Input, Map, Rules, Source, Unit, check, map};
pub use options::{
    CLUSTER_BYTES, Effort, Encodings, FieldOptions, Layout, MEMORY_BUDGET, Options, PAGE_BYTES,
    Streamer,
};
pub use report::{FieldReport, ProductReport, Renamed, Report, Skipped};
pub use streamer::{Product, Products};
pub use trouble::Troubles;
pub use verify::compare;
