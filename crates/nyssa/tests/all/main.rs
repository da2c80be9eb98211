//! The tests of the crate from outside, one program: what it costs to link is paid once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, where this is how to fail"
)]

mod cached;
mod convert;
mod far_chains;
mod far_faults;
mod format;
mod inspect;
mod read;
mod rewrite;
mod rootfile;
mod round_trips;
mod steps;
mod support;
mod ttree;
mod tune;
mod write;
