//! Parquet files.

mod chunks;
mod nulls;
pub(crate) mod read;
pub(crate) mod write;
