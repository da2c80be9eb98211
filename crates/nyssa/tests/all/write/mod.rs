//! Tests the writing of RNTuples: schema, shredding, clusters, sharing, errors; read back where that is the point.

#![allow(clippy::unwrap_used, clippy::panic)]

mod attributes;
mod auto;
mod background;
mod clusters;
mod errors;
mod late_fields;
mod merge;
mod parallel;
mod representations;
mod roundtrip;
mod schema;
mod types;
mod update;
