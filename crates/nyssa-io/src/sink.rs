//! Defines the trait of sinks. They take bytes at offsets, and the commit makes the result visible.

use std::sync::Arc;

use crate::Result;

/// A resource that can be written. Nothing is visible under its final name before [`Sink::commit`]. Dropping it
/// without a commit removes everything. Sinks that change a resource in place ([`crate::update`]) document
/// different rules.
pub trait Sink: Send {
    /// Returns the path or URL, for messages.
    fn name(&self) -> &str;

    /// Writes all of `data` at byte `offset`. Gaps are filled with zeros.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()>;

    /// Makes the written bytes durable before later ones are written. This does nothing if only the commit
    /// makes the result visible.
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    /// Makes the written bytes durable if the commit would otherwise wait for them. A thread that writes behind its
    /// caller does this from time to time. Sinks whose bytes go elsewhere do nothing.
    fn sync_early(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns a way to write from other threads, beside this sink, to places that nothing else writes. These writes must
    /// end before [`Sink::commit`], which fails if one of them has failed. `None` if only the owner of the sink can write.
    fn beside(&self) -> Option<Arc<dyn WriteAt>> {
        None
    }

    /// Makes the result durable and visible under its final name.
    fn commit(self: Box<Self>) -> Result<()>;
}

/// A way to write to a sink from many threads at the same time.
pub trait WriteAt: Send + Sync {
    /// Writes all of `data` at byte `offset`.
    ///
    /// # Errors
    /// The sink cannot be written.
    fn write_at(&self, offset: u64, data: &[u8]) -> Result<()>;
}
