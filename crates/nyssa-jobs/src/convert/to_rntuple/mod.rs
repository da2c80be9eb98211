//! Converts TTrees to RNTuples: maps branches to fields, converts the data on all threads, and verifies them.
//!
//! ```text
//! tree ─map─► schema, units ─pipeline─► (read branch → seal) on all cores ─► commit in order ─► verify ─► publish
//! ```
//!
//! A unit is one field in one cluster. Any thread seals a unit. Units are committed in the order of their columns, so
//! that the bytes of the output do not depend on the number of threads.

mod classes;
mod clusters;
mod counters;
mod digests;
mod failures;
mod fields;
mod job;
mod largest_basket;
mod map;
mod model;
mod narrow;
mod read_ahead;
mod sample_baskets;
mod samples;
mod streamer;
mod streamer_fields;
mod tree;
mod unit;
mod verify;
mod work;

pub use classes::Classes;
pub use failures::Failures;
pub(crate) use fields::type_of_objects;
pub use map::{Checked, ConversionPlan, Rules, check, map};
pub use model::{FieldMap, Input, OutputField, Source};
pub use streamer::{StreamerBranch, StreamerBranches};
pub use tree::inputs;
pub use verify::compare;
