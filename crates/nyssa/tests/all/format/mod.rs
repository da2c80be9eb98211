//! Tests the binary format of RNTuple and the writing of ROOT files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test stops at the first surprise

mod corrupt;
mod descriptors;
mod files;
mod real_files;
mod round_trip;
mod written;
