//! Compares the values of datasets: directly, or by digests.

pub mod diff;
pub mod digest;
mod selection;

pub use selection::{MEMORY_BUDGET, Selection};
