//! Compares the values of datasets: directly, or by digests.

pub mod diff;
pub mod digest;
