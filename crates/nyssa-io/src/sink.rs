//! The writing side: bytes at offsets, and one moment at which the result becomes visible.

use crate::Result;

/// A writable resource. Nothing is visible under its final name before [`Sink::commit`];
/// dropping it without a commit leaves no trace. Sinks that change a resource in place
/// ([`crate::LocalUpdate`]) say what they promise instead.
pub trait Sink: Send {
    /// Path or URL, for messages.
    fn name(&self) -> &str;

    /// Writes all of `data` at byte `offset`; gaps read as zeros.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()>;

    /// Makes what was written so far durable before anything that is written later. Nothing to do where
    /// only the commit makes the result visible.
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    /// Makes the result durable and visible under its final name.
    fn commit(self: Box<Self>) -> Result<()>;
}
