//! Parquet files.

mod checksums;
mod chunks;
mod footer;
mod nulls;
mod page_header;
mod pages;
pub(crate) mod read;
mod thrift;
mod verify;
pub(crate) mod write;
