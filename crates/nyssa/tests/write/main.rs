//! Writing RNTuples: schema, shredding, clusters, sharing, errors; read back where that is the point.

mod clusters;
mod common;
mod errors;
mod roundtrip;
mod schema;
