//! The process that something belongs to: a fork has it too, without its threads, and must not use it.

use nyssa::{Error, Result};

/// The process in which this was made.
#[derive(Clone, Copy)]
pub struct Process(u32);

impl Process {
    /// The running process.
    pub fn this() -> Self {
        Self(std::process::id())
    }

    /// Whether it is the running process.
    pub fn is_this(self) -> bool {
        self.0 == std::process::id()
    }

    /// Refuses `what` in a fork of the process.
    ///
    /// # Errors
    /// `InvalidArgument` in another process.
    pub fn check(self, what: &str) -> Result<()> {
        if self.is_this() {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "{what} belongs to the process that opened it; it cannot be used in a fork of it"
        )))
    }
}
