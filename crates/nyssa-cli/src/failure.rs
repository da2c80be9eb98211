//! Defines the reason why a command ended early: a message, and hints on what to do.

use std::io::{self, Write};

use nyssa_io::{printable, printable_message, without_secrets};
use nyssa_root::error::{Place, alternatives};
use nyssa_root::{Error, Kind};
use serde::Serialize;

use crate::exit_code;

/// The result of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// The reason why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the core, with hints that only the command can give.
    Core(Error, Vec<String>),
    /// Arguments that cannot be combined, with a hint.
    Usage(String, Option<String>),
    /// Arguments that cannot be parsed. The text comes from the parser, for people.
    Arguments(String),
    /// The error of an output that cannot be written.
    Output(io::Error),
}

impl Failure {
    /// Adds a hint to an error of the core.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Core(error, mut hints) => {
                hints.push(hint.into());
                Self::Core(error, hints)
            }
            other => other,
        }
    }

    /// Returns whether the reader of the output has closed it.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns whether the user stopped the work.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.kind() == Some(Kind::Cancelled)
    }

    /// Returns the kind, which says whose fault the error is, for errors of the core.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Core(error, _) => Some(error.kind()),
            _ => None,
        }
    }

    /// Returns the exit code of a command that fails so.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Core(error, _) => exit_code::of(error),
            Self::Usage(..) | Self::Arguments(_) => exit_code::USAGE,
            Self::Output(error) => exit_code::of_system(error),
        }
    }

    /// Returns the JSON document of a command that ends with this failure and exit code.
    pub(crate) fn document(&self, exit_code: u8) -> impl Serialize {
        ErrorDocument { error: self.report(exit_code) }
    }

    /// Returns what a JSON document says of this failure.
    pub(crate) fn report(&self, exit_code: u8) -> ErrorReport {
        let (message, hints) = self.lines();
        let (kind, place) = match self {
            Self::Core(error, _) => (format!("{:?}", error.kind()), Some(error.place().clone())),
            Self::Usage(..) | Self::Arguments(_) => ("InvalidArgument".to_owned(), None),
            Self::Output(_) => ("Io".to_owned(), None),
        };
        ErrorReport { kind, message, hints, place, exit_code }
    }

    /// Prints `error: …` and `hint: …` lines.
    pub(crate) fn print(&self, err: &mut dyn Write) {
        if let Self::Arguments(text) = self {
            let _ = write!(err, "{}", without_secrets(text));
            return;
        }
        let (message, hints) = self.lines();
        let _ = writeln!(err, "error: {message}");
        for hint in hints {
            let _ = writeln!(err, "hint: {hint}");
        }
    }

    /// Returns the message and the hints for people. Arguments, of which some are URLs, and names of objects are in them.
    fn lines(&self) -> (String, Vec<String>) {
        let (message, hints) = self.raw_lines();
        let hints = hints.iter().map(|hint| printable(&without_secrets(hint)));
        (printable_message(&without_secrets(&message)), hints.collect())
    }

    fn raw_lines(&self) -> (String, Vec<String>) {
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
            Self::Arguments(text) => {
                let first = text.lines().next().unwrap_or_default();
                (first.trim_start_matches("error: ").to_owned(), Vec::new())
            }
            Self::Output(error) => (format!("cannot write the output: {error}"), Vec::new()),
        }
    }
}

#[derive(Serialize)]
struct ErrorDocument {
    error: ErrorReport,
}

/// The description of a failure in a JSON document.
#[derive(Serialize)]
pub(crate) struct ErrorReport {
    /// The name of a [`Kind`].
    kind: String,
    message: String,
    hints: Vec<String>,
    place: Option<Place>,
    exit_code: u8,
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
