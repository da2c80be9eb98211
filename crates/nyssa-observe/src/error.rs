//! Defines the error of this crate.

use std::{fmt, io};

/// A profile, a monitor or a file that cannot be made.
#[derive(Debug)]
pub enum Error {
    /// The caller requested something impossible.
    Invalid(String),
    /// This system cannot do it.
    Unsupported(String),
    /// The system has no more threads or memory.
    Limit {
        /// The action that failed.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A file cannot be read or written.
    File {
        /// The path of the file.
        name: String,
        /// The action that failed, in plain words.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

/// The result of the functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) | Self::Unsupported(why) => f.write_str(why),
            Self::Limit { what, .. } => f.write_str(what),
            Self::File { name, action, source } => write!(f, "cannot {action} {name}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Invalid(_) | Self::Unsupported(_) => None,
            Self::Limit { source, .. } | Self::File { source, .. } => Some(source),
        }
    }
}
