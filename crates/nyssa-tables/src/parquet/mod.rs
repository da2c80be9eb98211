//! Parquet files.

mod checksums;
mod chunks;
mod footer;
mod layout;
mod nulls;
mod page_header;
mod pages;
pub(crate) mod read;
mod thrift;
mod values;
mod verify;
pub(crate) mod write;
