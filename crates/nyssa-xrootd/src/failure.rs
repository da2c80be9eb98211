//! Defines failures of requests, and what they mean for the next request.

use std::fmt;
use std::io;
use std::time::Duration;

use nyssa_net::stopped;

use super::url::Server;
use super::wire::{ServerError, error_kind, error_name};

/// The failure of a request.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// There is no connection, or it was lost. Another one may work.
    Lost { server: Server, kind: io::ErrorKind, why: String },
    /// The server refused the request.
    Refused { server: Server, error: ServerError },
    /// No other attempt can help.
    Final { kind: io::ErrorKind, why: String },
    /// No login that is built in succeeded, but XRootD's own client may have another one.
    NoLogin { why: String },
}

impl Failure {
    pub(crate) fn lost(server: &Server, kind: io::ErrorKind, why: impl Into<String>) -> Self {
        Self::Lost { server: server.clone(), kind, why: why.into() }
    }

    pub(crate) fn last(kind: io::ErrorKind, why: impl Into<String>) -> Self {
        Self::Final { kind, why: why.into() }
    }

    /// Returns the failure of a server that did not answer in time.
    pub(crate) fn timed_out(server: &Server, limit: Duration) -> Self {
        let limit = limit.as_secs_f64();
        let why = format!(
            "the server {server} did not answer within {limit} s; XRD_REQUESTTIMEOUT sets the limit"
        );
        Self::last(io::ErrorKind::TimedOut, why)
    }

    /// Returns the failure after all attempts as an error.
    pub(crate) fn into_io(self) -> io::Error {
        let kind = match &self {
            Self::Final { kind: io::ErrorKind::Interrupted, .. } => return stopped(),
            Self::Lost { kind, .. } | Self::Final { kind, .. } => *kind,
            Self::NoLogin { why } => return no_login(why.clone()),
            Self::Refused { server, error } if error_name(error.code) == "kXR_SigVerErr" => {
                let said = error.message.trim_end_matches('.');
                return no_login(format!(
                    "the server {server} wants signed requests, which nyssa does not support; \
                     it says: {said} (kXR_SigVerErr)"
                ));
            }
            Self::Refused { error, .. } => error_kind(error.code),
        };
        io::Error::new(kind, self.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { server, why, .. } => write!(f, "the server {server}: {why}"),
            Self::Final { why, .. } | Self::NoLogin { why } => f.write_str(why),
            Self::Refused { server, error } => {
                let (name, said) = (error_name(error.code), error.message.trim_end_matches('.'));
                write!(f, "the server {server} says: {said} ({name})")?;
                advice(error).map_or(Ok(()), |advice| write!(f, "; {advice}"))
            }
        }
    }
}

/// A failed login on a server that accepts a method which is not built in. It is the cause of an error of the kind
/// `PermissionDenied`.
#[derive(Debug)]
pub struct NoLogin {
    /// The methods that failed, with the reasons, as text.
    pub why: String,
}

impl fmt::Display for NoLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; install nyssa[xrootd], and nyssa uses XRootD's own client for it", self.why)
    }
}

impl std::error::Error for NoLogin {}

/// Makes the error after which XRootD's own client is tried.
fn no_login(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, NoLogin { why })
}

/// Returns advice about an error of a server.
fn advice(error: &ServerError) -> Option<&'static str> {
    match error_name(error.code).as_str() {
        "kXR_NotAuthorized" if error.message.contains("relative path") => {
            Some("write the path with two slashes: root://host//path")
        }
        "kXR_NotAuthorized" | "kXR_AuthFailed" => {
            Some("check that your credentials are valid and allow this")
        }
        "kXR_TLSRequired" => Some("write roots:// instead of root://"),
        "kXR_noserver" | "kXR_noReplicas" => Some("no server that has the file is up now"),
        "kXR_Overloaded" => Some("try again later"),
        _ => None,
    }
}
