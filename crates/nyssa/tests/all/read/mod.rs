//! Tests of reading RNTuples.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests, where this is how to fail"
)]

mod crafted;
mod damage;
mod damage_jobs;
mod dataset;
mod encoded;
mod files;
mod pairs;
mod partial;
mod streamed;
mod testdata;
mod trace;
mod validation;
