//! Defines the options of a reader.

/// The default of [`TTreeReadOptions::fetch_bytes`]. It is so large that the latency of a request is short
/// compared with its transfer.
pub const DEFAULT_FETCH_BYTES: u64 = 4 << 20;

/// The options for reading a TTree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TTreeReadOptions {
    /// The number of bytes that a thread fetches in one vectored request and holds while it decodes them. A
    /// basket that is larger is fetched as a whole.
    pub fetch_bytes: u64,
}

impl Default for TTreeReadOptions {
    fn default() -> Self {
        Self { fetch_bytes: DEFAULT_FETCH_BYTES }
    }
}
