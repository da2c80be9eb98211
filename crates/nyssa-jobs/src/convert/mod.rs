//! Converts TTrees to RNTuples: maps branches to fields, converts the data on all threads, and verifies them. The other
//! direction is in `to_tree`.
//!
//! ```text
//! tree ─map─► schema, units ─pipeline─► (read branch → seal) on all cores ─► commit in order ─► verify ─► publish
//! ```
//!
//! A unit is one field in one cluster. Any thread seals a unit. Units are committed in the order of their columns, so
//! that the bytes of the output do not depend on the number of threads.

mod choosing;
mod classes;
mod clusters;
mod counters;
mod digests;
mod failures;
mod fields;
mod job;
mod journal;
mod largest_basket;
mod many;
mod many_report;
mod map;
mod model;
mod narrow;
mod options;
mod other_trees;
mod others;
mod read_ahead;
mod report;
mod sample_baskets;
mod samples;
mod streamer;
mod titles;
mod to_tree;
mod tree;
mod unit;
mod verify;
mod work;

pub use classes::Classes;
pub use failures::Failures;
pub use job::{convert, convert_all, only_input};
pub use many::{ManyOptions, convert_many};
pub use many_report::{ConvertedFile, ConvertedTotal, FileState};
pub use map::{Checked, ConversionPlan, Rules, check, map};
pub use model::{FieldMap, Input, OutputField, Source};
pub(crate) use options::default_encoding;
pub use options::{ConvertOptions, Layout, Streamer, To, TreeOptions};
pub use report::{ConvertReport, FieldReport, Renamed, Skipped, StreamerFieldReport};
pub use streamer::{StreamerBranch, StreamerBranches};
pub use tree::inputs;
pub use verify::compare;

pub use nyssa_ttree::write::BranchOptions;
