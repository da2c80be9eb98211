//! Defines the error of this crate, with the resource, the action and the error of the system.

use std::fmt;

/// A failed read or write of a named resource.
#[derive(Debug)]
pub struct Error {
    /// The path or URL of the resource.
    pub resource: String,
    /// The action that failed, in plain words.
    pub action: String,
    /// The error of the system.
    pub source: std::io::Error,
}

/// The result of the functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes an error for `resource` and the failed `action`.
    pub fn new(
        resource: impl Into<String>,
        action: impl Into<String>,
        source: std::io::Error,
    ) -> Self {
        Self { resource: resource.into(), action: action.into(), source }
    }

    /// Returns whether the work ended because of a [`Stop`](crate::Stop).
    pub fn is_stopped(&self) -> bool {
        crate::stop::is_stopped(&self.source)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.action, self.resource, self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
