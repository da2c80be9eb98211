//! What a reader may be told.

/// Default of [`Options::fetch_bytes`]: large enough that a request costs little next to its bytes.
pub const DEFAULT_FETCH_BYTES: u64 = 4 << 20;

/// How a TTree is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of baskets that a thread fetches with one vectored request and holds while it decodes
    /// them. A single larger basket is fetched whole.
    pub fetch_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { fetch_bytes: DEFAULT_FETCH_BYTES }
    }
}
