//! Compares the values of datasets: directly, or by digests.

pub mod diff;
pub mod digest;
pub mod files;
mod selection;

pub use selection::{MEMORY_BUDGET, Selection};
