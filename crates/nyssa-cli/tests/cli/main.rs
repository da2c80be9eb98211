//! Tests the command line as its users see it: outputs, exit codes, messages.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cat;
mod common;
mod errors;
mod jobs;
mod listings;
mod monitor;
mod process;
mod profile;
mod trace;
