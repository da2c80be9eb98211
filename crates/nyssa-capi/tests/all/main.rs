//! Uses the C interface as C does, and checks the header.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where this is how to fail")]

mod bad_arrays;
mod bad_use;
mod header;
mod support;
mod there_and_back;
