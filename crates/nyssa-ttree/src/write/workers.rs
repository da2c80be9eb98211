//! Names the threads of a filler.

/// The threads that fill and compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workers {
    /// All threads of the context.
    All,
    /// The calling thread.
    Caller,
}
