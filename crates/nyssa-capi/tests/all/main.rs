//! Uses the C interface as C does, and checks the header.

mod bad_use;
mod header;
mod support;
mod there_and_back;
