//! Sends requests about paths. They go from server to server until one answers.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use super::connection::{Answer, Body, Connection, VectorLimits};
use super::deadline::Deadline;
use super::failure::Failure;
use super::pool;
use super::settings::Settings;
use super::url::{Server, Url, target};
use super::wire::{Redirect, Request, ServerError, Wait, error_name};

/// The largest number of bytes of an answer about the configuration.
const CONFIGURATION: u64 = 4 << 10;

/// The server at which a request begins, and the servers that it avoids.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    /// The manager that is asked first, if one is known.
    pub manager: Option<Server>,
    /// The hosts that have failed, so that the manager names others.
    pub tried: Vec<String>,
}

/// An answer, with the server that gave it.
pub(super) struct Reached {
    pub body: Body,
    pub connection: Arc<Connection>,
    /// The manager that redirected to the server.
    pub manager: Option<Server>,
}

/// A request about a path.
pub(super) struct Question<'q> {
    /// A function that makes the request for a path with CGI.
    pub request: &'q dyn Fn(&str) -> Request,
    /// The largest number of bytes of its answer.
    pub room: u64,
    /// Whether a file is going to be read there. The limits of vectors are then requested at the same time.
    pub reads: bool,
}

/// Sends a question about the path of a URL.
pub(super) fn ask(
    url: &Url,
    start: &Start,
    question: &Question<'_>,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<Reached, Failure> {
    let mut route = Route::new(url, start, settings)?;
    loop {
        deadline.check()?;
        if deadline.left().is_zero() {
            return Err(Failure::timed_out(&route.server, settings.request_timeout));
        }
        let connection = match pool::connection(&route.server, settings, deadline.at) {
            Ok(connection) => connection,
            Err(failure @ Failure::Lost { .. }) => {
                route.goes_on(failure, false)?;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        match ask_once(&connection, &route.target(), question, settings, deadline) {
            Ok(Answer::Body(body)) => {
                let manager = route.manager;
                return Ok(Reached { body, connection, manager });
            }
            Ok(Answer::Redirect(redirect)) => route.follow(&connection, redirect)?,
            Ok(Answer::Wait(wait)) => {
                pause(&route.server, &wait, settings, deadline)?;
                // A manager that has no other server waits for one. The servers that failed may work again.
                route.tried.clear();
            }
            Ok(Answer::Error(error)) => route.refused(error)?,
            Err(failure @ Failure::Lost { .. }) => route.goes_on(failure, true)?,
            Err(failure) => return Err(failure),
        }
    }
}

fn ask_once(
    connection: &Arc<Connection>,
    target: &str,
    question: &Question<'_>,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<Answer, Failure> {
    let mut requests = vec![((question.request)(target), question.room)];
    let asks_limits =
        question.reads && !connection.is_manager() && connection.vector_limits.get().is_none();
    if asks_limits {
        requests.push((Request::query_config("readv_iov_max readv_ior_max"), CONFIGURATION));
    }
    let mut pending = connection.send(&requests)?.into_iter();
    let answer = match pending.next() {
        Some(pending) => pending.wait(deadline, settings)?,
        None => return Err(connection.fail(ErrorKind::Other, "nothing was asked")),
    };
    if let Some(pending) = pending.next() {
        let limits = match pending.wait(deadline, settings)? {
            Answer::Body(body) => VectorLimits::parse(&body.bytes),
            _ => VectorLimits::default(),
        };
        // Another thread may have asked, too.
        let _ = connection.vector_limits.set(limits);
    }
    Ok(answer)
}

impl VectorLimits {
    /// Parses the answer to the question: each line has a number, or the name if it is not known.
    fn parse(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let mut numbers = text.lines().map(|line| line.trim().parse::<u64>().ok());
        let mut next = || numbers.next().flatten().filter(|&number| number > 0);
        let default = Self::default();
        let ranges = next().and_then(|ranges| usize::try_from(ranges).ok());
        let range_bytes = next().unwrap_or(default.range_bytes).min(i32::MAX as u64);
        Self { ranges: ranges.unwrap_or(default.ranges).min(default.ranges), range_bytes }
    }
}

/// Waits for the time that a server asks for.
pub(super) fn pause(
    server: &Server,
    wait: &Wait,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<(), Failure> {
    let time = Duration::from_secs(wait.seconds.max(1).into());
    if time > deadline.left() {
        let limit = settings.request_timeout.as_secs_f64();
        let reason = match wait.reason.as_str() {
            "" => String::new(),
            reason => format!(" ({reason})"),
        };
        let why = format!(
            "the server {server} asks to wait {} s more{reason}, but a request may take {limit} \
             s; XRD_REQUESTTIMEOUT sets the limit",
            wait.seconds
        );
        return Err(Failure::last(ErrorKind::TimedOut, why));
    }
    deadline.sleep(time)
}

/// The servers that a request has visited and can still visit.
struct Route<'r> {
    settings: &'r Settings,
    url: &'r Url,
    /// The servers of the URL that were not asked yet.
    rest: std::slice::Iter<'r, Server>,
    server: Server,
    path: String,
    opaque: String,
    manager: Option<Server>,
    tried: Vec<String>,
    redirects: u32,
    failures: u32,
    /// The failure of the first server.
    first: Option<Failure>,
}

impl<'r> Route<'r> {
    fn new(url: &'r Url, start: &Start, settings: &'r Settings) -> Result<Self, Failure> {
        let mut rest = url.servers.iter();
        let manager = start.manager.clone();
        let Some(server) = manager.clone().or_else(|| rest.next().cloned()) else {
            return Err(Failure::last(
                ErrorKind::InvalidInput,
                "the URL names no server; write root://host//path",
            ));
        };
        Ok(Self {
            settings,
            url,
            rest,
            server,
            path: url.path.clone(),
            opaque: String::new(),
            manager,
            tried: start.tried.clone(),
            redirects: 0,
            failures: 0,
            first: None,
        })
    }

    /// Returns the path in the form for the next server.
    fn target(&self) -> String {
        let asks_manager = self.manager.as_ref() == Some(&self.server);
        let tried = match asks_manager && !self.tried.is_empty() {
            true => format!("tried={}", self.tried.join(",")),
            false => String::new(),
        };
        target(&self.path, [self.url.cgi.as_str(), self.opaque.as_str(), tried.as_str()])
    }

    fn follow(&mut self, from: &Connection, redirect: Redirect) -> Result<(), Failure> {
        self.redirects += 1;
        if self.redirects > self.settings.redirect_limit {
            let why = format!(
                "the servers redirect more than {} times, the last time from {} to {}; \
                 XRD_REDIRECTLIMIT sets the limit",
                self.settings.redirect_limit, self.server, redirect.location
            );
            return Err(Failure::last(ErrorKind::TooManyLinks, why));
        }
        let bad = |why: String| {
            let why = format!(
                "the server {} redirects to an address that is not valid: {why}",
                from.server
            );
            Failure::last(ErrorKind::InvalidData, why)
        };
        let mut next = match redirect.location.contains("://") {
            true => {
                let url = Url::parse(&redirect.location).map_err(bad)?;
                self.path.clone_from(&url.path);
                self.opaque.clone_from(&url.cgi);
                url.servers.into_iter().next().ok_or_else(|| bad(redirect.location.clone()))?
            }
            false => Server::parse(&redirect.location, false).map_err(bad)?,
        };
        // A user who asked for TLS gets it on all connections.
        next.tls |= self.server.tls;
        next.user = next.user.or_else(|| self.server.user.clone());
        if !redirect.opaque.is_empty() {
            self.opaque = redirect.opaque;
        }
        if from.is_manager() {
            self.manager = Some(self.server.clone());
        }
        self.server = next;
        Ok(())
    }

    /// Handles a refusal of a server. Other servers may have the file.
    fn refused(&mut self, error: ServerError) -> Result<(), Failure> {
        let is_servers = is_of_one_server(&error);
        let failure = Failure::Refused { server: self.server.clone(), error };
        let has_others = self.manager.as_ref().is_some_and(|manager| *manager != self.server);
        if is_servers && has_others {
            return self.goes_on(failure, true);
        }
        Err(self.after_all(failure))
    }

    /// Continues with another server after a failure, or with the same one if `again`.
    fn goes_on(&mut self, failure: Failure, again: bool) -> Result<(), Failure> {
        self.failures += 1;
        if self.failures > self.settings.connection_retry {
            return Err(self.after_all(failure));
        }
        let manager = self.manager.clone().filter(|manager| *manager != self.server);
        if let Some(manager) = manager {
            self.tried.push(self.server.host.clone());
            self.opaque.clear();
            self.path.clone_from(&self.url.path);
            self.server = manager;
        } else if let Some(next) = self.rest.next() {
            self.server = next.clone();
        } else if !again {
            return Err(self.after_all(failure));
        }
        self.first.get_or_insert(failure);
        Ok(())
    }

    /// Returns the failure to report: the first one, with the last one if it is of another server.
    fn after_all(&mut self, last: Failure) -> Failure {
        let Some(first) = self.first.take() else { return last };
        let (first_text, last_text) = (first.to_string(), last.to_string());
        if first_text == last_text {
            return first;
        }
        Failure::last(first.into_io().kind(), format!("{first_text}; then {last_text}"))
    }
}

/// Returns whether another server with the same file may not have this error.
pub(super) fn is_of_one_server(error: &ServerError) -> bool {
    matches!(
        error_name(error.code).as_str(),
        "kXR_FSError"
            | "kXR_IOError"
            | "kXR_NoMemory"
            | "kXR_NotFound"
            | "kXR_ServerError"
            | "kXR_noserver"
            | "kXR_ChkSumErr"
            | "kXR_Overloaded"
            | "kXR_ReqTimedOut"
            | "kXR_TimerExpired"
    )
}
