//! Defines failures of requests, and whether another request may succeed.

use std::io::{self, ErrorKind};
use std::time::Duration;

use nyssa_net::explained;
use ureq::Error as Transport;

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub kind: ErrorKind,
    /// The reason, in plain words.
    pub reason: String,
    pub again: Again,
    /// The time that the server asks the client to wait.
    pub retry_after: Option<Duration>,
}

/// The conditions under which the same request is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Never: the answer will be the same.
    Never,
    /// If the server has answered before, it may come back. A server that never has answered is probably not
    /// there.
    IfKnown,
    /// A few times: perhaps only one server of several, or one moment, is wrong.
    Few,
    /// Always: the failure may pass.
    Always,
}

impl Failure {
    /// Makes a failure for which another request does not help.
    pub(crate) fn of(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), again: Again::Never, retry_after: None }
    }

    /// Makes the failure for a wrong answer.
    pub(crate) fn answer(reason: impl Into<String>) -> Self {
        Self { again: Again::Few, ..Self::of(ErrorKind::InvalidData, reason) }
    }

    /// Makes the failure for an answer that ended too early.
    pub(crate) fn cut(reason: impl Into<String>) -> Self {
        Self { again: Again::Always, ..Self::of(ErrorKind::InvalidData, reason) }
    }

    /// Makes the failure for an answer with the first `sent` of the requested bytes. The others are requested at
    /// once.
    pub(crate) fn short(sent: u64, requested: u64) -> Self {
        let reason = format!("the server sent {sent} of {requested} bytes");
        Self { retry_after: Some(Duration::ZERO), ..Self::cut(reason) }
    }

    /// Makes the failure for a file that was replaced after it was opened.
    pub(crate) fn changed(what: &str) -> Self {
        let reason =
            format!("it was changed on the server after it was opened ({what}); open it again");
        Self::of(ErrorKind::InvalidData, reason)
    }

    /// Makes the failure for an answer with the status of an error, and the text of the server.
    pub(crate) fn status(status: u16, said: &str, retry_after: Option<Duration>) -> Self {
        let kind = match status {
            401 | 403 => ErrorKind::PermissionDenied,
            404 | 410 => ErrorKind::NotFound,
            408 | 504 => ErrorKind::TimedOut,
            _ => ErrorKind::Other,
        };
        let again = match status {
            408 | 429 | 500 | 502 | 503 | 504 => Again::Always,
            _ => Again::Never,
        };
        let meaning = ureq::http::StatusCode::from_u16(status).ok();
        let meaning = meaning.and_then(|status| status.canonical_reason()).unwrap_or("");
        let status = format!("{status} {meaning}");
        let status = status.trim_end();
        // Most servers say the same in the body.
        let reason = match said.is_empty() || said == status || said == meaning {
            true => format!("the server answered {status}"),
            false => format!("the server answered {status}: {said}"),
        };
        Self { kind, reason, again, retry_after }
    }

    /// Adds to a failure to connect that the connection was to a proxy.
    pub(crate) fn by_proxy(mut self, host: &str, port: u16) -> Self {
        if self.again == Again::IfKnown {
            self.reason.push_str(&format!(" (the connection goes to the proxy {host}:{port})"));
        }
        self
    }

    /// Makes the failure for a request without an answer, or without its end.
    pub(crate) fn transport(error: Transport) -> Self {
        let (kind, reason, again) = match error {
            Transport::Timeout(timeout) => timed_out(timeout),
            Transport::Io(error) => io_failure(&error),
            Transport::Rustls(error) => tls(&error),
            Transport::HostNotFound => {
                (ErrorKind::Other, "the host name is not known".to_owned(), Again::IfKnown)
            }
            Transport::ConnectProxyFailed(why) => {
                (ErrorKind::Other, format!("the proxy refused: {why}"), Again::Never)
            }
            Transport::ConnectionFailed => (
                ErrorKind::Other,
                "no connection to the host can be made".to_owned(),
                Again::IfKnown,
            ),
            Transport::Protocol(error) => not_http(&error.to_string()),
            other => not_http(&other.to_string()),
        };
        Self { kind, reason, again, retry_after: None }
    }
}

fn timed_out(timeout: ureq::Timeout) -> (ErrorKind, String, Again) {
    let (what, again) = match timeout {
        ureq::Timeout::Resolve => {
            ("the name service gave no address of the host in time", Again::IfKnown)
        }
        ureq::Timeout::Connect => {
            ("the host did not accept the connection in time", Again::IfKnown)
        }
        ureq::Timeout::RecvResponse => ("the server did not answer in time", Again::Always),
        _ => ("the server stopped in the middle of its answer", Again::Always),
    };
    (ErrorKind::TimedOut, what.to_owned(), again)
}

/// Describes an answer that breaks the rules of HTTP.
fn not_http(why: &str) -> (ErrorKind, String, Again) {
    let why = why.strip_prefix("http parse fail: ").unwrap_or(why);
    let reason = format!("what the server answered is not HTTP ({why})");
    (ErrorKind::InvalidData, reason, Again::Few)
}

fn io_failure(error: &io::Error) -> (ErrorKind, String, Again) {
    if let Some(inner) = error.get_ref() {
        if let Some(error) = inner.downcast_ref::<rustls::Error>() {
            return tls(error);
        }
        // The resolver has no kind of error of its own.
        if inner.to_string().starts_with("failed to lookup address") {
            return (ErrorKind::Other, "the host name is not known".to_owned(), Again::IfKnown);
        }
    }
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => (
            ErrorKind::TimedOut,
            "the server stopped in the middle of its answer".to_owned(),
            Again::Always,
        ),
        ErrorKind::ConnectionRefused => (
            ErrorKind::ConnectionRefused,
            "the host refuses connections".to_owned(),
            Again::IfKnown,
        ),
        kind @ (ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable) => {
            (kind, "there is no route to the host".to_owned(), Again::IfKnown)
        }
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => (
            ErrorKind::ConnectionReset,
            "the server ended the connection".to_owned(),
            Again::Always,
        ),
        kind => (kind, error.to_string(), Again::Always),
    }
}

fn tls(error: &rustls::Error) -> (ErrorKind, String, Again) {
    // Another token would not help.
    (ErrorKind::ConnectionAborted, explained(error), Again::Never)
}
