//! Defines the error of this crate, with the resource, the action and the error of the system.

use std::fmt;
use std::path::Path;

use crate::for_people::{printable, said_by_server, shown};

/// A failed read or write of a named resource.
#[derive(Debug)]
pub struct Error {
    /// The path or URL of the resource, for people.
    pub resource: String,
    /// The action that failed, in plain words.
    pub action: String,
    /// The error of the system.
    pub source: std::io::Error,
}

/// The result of the functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes an error for the path or URL `resource`, whose secrets it does not show, and the failed `action`.
    pub fn new(
        resource: impl AsRef<Path>,
        action: impl Into<String>,
        source: std::io::Error,
    ) -> Self {
        Self { resource: shown(resource), action: action.into(), source }
    }

    /// Returns the message of the error of the system. A server may repeat the URL in its message, so secrets are removed, and
    /// what would change a terminal is escaped.
    pub fn reason(&self) -> String {
        printable(&said_by_server(&self.source.to_string()))
    }

    /// Returns whether the work ended because of a [`Stop`](crate::Stop).
    pub fn is_stopped(&self) -> bool {
        nyssa_net::is_stopped(&self.source)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.action, self.resource, self.reason())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
