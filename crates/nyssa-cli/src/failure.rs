//! Defines the reason why a command ended early: a message, and hints on what to do.

use std::io::{self, Write};

use nyssa::error::alternatives;
use nyssa::{Error, Kind};

/// The result of a command.
pub type Result<T> = std::result::Result<T, Failure>;

/// The reason why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// An error of the core, with hints that only the command can give.
    Core(Error, Vec<String>),
    /// Arguments that cannot be combined, with a hint.
    Usage(String, Option<String>),
    /// The error of an output that cannot be written.
    Output(io::Error),
}

impl Failure {
    /// Adds a hint to an error of the core.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Core(error, mut hints) => {
                hints.push(hint.into());
                Self::Core(error, hints)
            }
            other => other,
        }
    }

    /// Returns whether the reader of the output has closed it.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns whether the user stopped the work.
    pub fn is_cancelled(&self) -> bool {
        self.kind() == Some(Kind::Cancelled)
    }

    /// Returns the kind, which says whose fault the error is, for errors of the core.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Core(error, _) => Some(error.kind()),
            _ => None,
        }
    }

    /// Prints `error: …` and `hint: …` lines.
    pub fn print(&self, err: &mut dyn Write) {
        let (message, hints) = self.lines();
        let _ = writeln!(err, "error: {message}");
        for hint in hints {
            let _ = writeln!(err, "hint: {hint}");
        }
    }

    fn lines(&self) -> (String, Vec<String>) {
        match self {
            Self::Core(error, hints) => {
                let mut all = Vec::new();
                if !error.suggestions().is_empty() {
                    all.push(format!("did you mean {}?", alternatives(error.suggestions())));
                }
                all.extend(hints.iter().cloned());
                all.extend(general(error).map(str::to_owned));
                (error.statement(), all)
            }
            Self::Usage(message, hint) => (message.clone(), hint.iter().cloned().collect()),
            Self::Output(error) => (format!("cannot write the output: {error}"), Vec::new()),
        }
    }
}

/// Returns the hint that helps with every error of a kind.
fn general(error: &Error) -> Option<&'static str> {
    match error.kind() {
        Kind::Checksum => Some("`nyssa verify` lists everything that is wrong with a file"),
        Kind::AlreadyExists => Some("--force replaces it"),
        _ => None,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error, Vec::new())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Output(error.into())
    }
}
