//! Whether datasets hold the same values: side by side, or by digests.

pub mod diff;
pub mod digest;
