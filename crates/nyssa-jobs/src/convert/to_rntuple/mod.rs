//! Converts TTrees to RNTuples.

mod job;
