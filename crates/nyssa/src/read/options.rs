//! How an RNTuple is read.

/// Reading options; the defaults are the safe ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Check the XXH3 checksum of every page that has one before its bytes are used.
    pub verify_checksums: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { verify_checksums: true }
    }
}
