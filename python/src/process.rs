//! Remembers the process that an object belongs to. A fork has the object, too, but not its threads, and must not
//! use it.

use nyssa_root::{Error, Result};

/// The process that made the object.
#[derive(Clone, Copy)]
pub(crate) struct Process(u32);

impl Process {
    /// Returns the running process.
    pub(crate) fn this() -> Self {
        Self(std::process::id())
    }

    /// Returns whether it is the running process.
    pub(crate) fn is_this(self) -> bool {
        self.0 == std::process::id()
    }

    /// Refuses `what` in a fork of the process.
    ///
    /// # Errors
    /// `InvalidArgument` in another process.
    pub(crate) fn check(self, what: &str) -> Result<()> {
        if self.is_this() {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "{what} belongs to the process that opened it; it cannot be used in a fork of it"
        )))
    }
}
