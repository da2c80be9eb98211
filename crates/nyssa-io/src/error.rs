//! The error of this crate: which resource, what was asked, and the system's own error.

use std::fmt;

/// A failed read or write of a named resource.
#[derive(Debug)]
pub struct Error {
    /// Path or URL of the resource.
    pub resource: String,
    /// What was being done, in plain words.
    pub action: String,
    /// The system's error.
    pub source: std::io::Error,
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error for `resource` while doing `action`.
    pub fn new(
        resource: impl Into<String>,
        action: impl Into<String>,
        source: std::io::Error,
    ) -> Self {
        Self { resource: resource.into(), action: action.into(), source }
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
