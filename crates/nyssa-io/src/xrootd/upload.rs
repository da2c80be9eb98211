//! A new file on a server, which has another name as long as it is not complete.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use super::client::{self, Question, Reached, Start, ask};
use super::connection::{Answer, Connection, Pending};
use super::failure::Failure;
use super::folder;
use super::settings::Settings;
use super::url::{Url, target};
use super::wire::{Handle, OpenBody, OpenMode, Request, error_name};

/// Most bytes of an answer.
const ANSWER: u64 = 16 << 10;
/// How long the removal of a file that nobody wants may take.
const REMOVAL: Duration = Duration::from_secs(10);
/// Most writes that are under way.
const UNDER_WAY: usize = 4;

/// A file that is written.
pub(super) struct Upload {
    connection: Arc<Connection>,
    handle: Handle,
    under_way: VecDeque<(Pending, Request)>,
    pub place: Place,
}

/// Where a file lies that does not have its name yet. It is removed when this goes.
#[derive(Debug)]
pub(super) struct Place {
    pub url: Url,
    temporary: String,
    settings: Settings,
    /// The server that has it.
    start: Start,
    process: u32,
    is_there: bool,
}

impl Upload {
    /// Begins a file that will be at a URL.
    pub fn create(url: Url, settings: Settings) -> Result<Self, Failure> {
        let temporary = temporary(&url.path);
        let place = Url { path: temporary.clone(), ..url.clone() };
        let request = |target: &str| Request::open(target, OpenMode::New);
        let question = Question { request: &request, room: ANSWER, reads: false };
        let deadline = Instant::now() + settings.request_timeout;
        let Reached { body, connection, .. } =
            ask(&place, &Start::default(), &question, &settings, deadline)?;
        let answer = OpenBody::parse(&body.bytes).map_err(|what| connection.malformed(what))?;
        connection.count_files(1);
        let start = Start { manager: Some(connection.server.clone()), tried: Vec::new() };
        let (process, is_there) = (process::id(), true);
        let place = Place { url, temporary, settings, start, process, is_there };
        let under_way = VecDeque::new();
        Ok(Self { connection, handle: answer.handle, under_way, place })
    }

    /// Sends bytes, and waits as long as too many are under way.
    pub fn write(&mut self, offset: u64, data: Bytes) -> Result<(), Failure> {
        while self.under_way.len() >= UNDER_WAY {
            self.await_first()?;
        }
        self.send(Request::write(self.handle, offset, data))
    }

    /// Waits until the server has everything, and closes the file.
    pub fn finish(mut self) -> Result<Place, Failure> {
        while !self.under_way.is_empty() {
            self.await_first()?;
        }
        for request in [Request::sync(self.handle), Request::close(self.handle)] {
            self.send(request)?;
            self.await_first()?;
        }
        self.connection.count_files(-1);
        Ok(self.place)
    }

    /// Gives the file up.
    pub fn abandon(self) {
        if self.place.process == process::id() {
            self.connection.count_files(-1);
            self.connection.tell(Request::close(self.handle));
        }
    }

    fn send(&mut self, request: Request) -> Result<(), Failure> {
        let asked = (request, ANSWER);
        let pending = self.connection.send(std::slice::from_ref(&asked))?;
        self.under_way.extend(pending.into_iter().map(|pending| (pending, asked.0.clone())));
        Ok(())
    }

    fn await_first(&mut self) -> Result<(), Failure> {
        let Some((mut pending, request)) = self.under_way.pop_front() else { return Ok(()) };
        let settings = &self.place.settings;
        let deadline = Instant::now() + settings.request_timeout;
        let server = &self.connection.server;
        loop {
            match pending.wait(deadline, settings)? {
                Answer::Body(_) => return Ok(()),
                Answer::Wait(wait) => client::pause(server, &wait, settings, deadline)?,
                Answer::Error(error) => {
                    return Err(Failure::Refused { server: server.clone(), error });
                }
                Answer::Redirect(to) => {
                    let why = format!("it gave the file up to {}", to.location);
                    let kind = ErrorKind::ConnectionAborted;
                    return Err(Failure::lost(server, kind, why));
                }
            }
            let again = self.connection.send(&[(request.clone(), ANSWER)])?;
            let Some(again) = again.into_iter().next() else { return Ok(()) };
            pending = again;
        }
    }
}

impl Place {
    /// The URL of the file as it is called now.
    pub fn location(&self, url: &str) -> String {
        url.replacen(&self.url.path, &self.temporary, 1)
    }

    /// Gives the file its name, in the place of another one with `force`.
    pub fn publish(&mut self, force: bool) -> Result<(), Failure> {
        // A server may put it in the place of another one without a word.
        if !force && folder::stat(&self.url, &self.settings)?.is_some() {
            return Err(Failure::last(ErrorKind::AlreadyExists, "it exists already"));
        }
        let from = target(&self.temporary, [self.url.cgi.as_str()]);
        let rename = |to: &str| Request::mv(&from, to);
        match self.ask(&self.start, &rename) {
            Err(Failure::Refused { error, .. })
                if force && error_name(error.code) == "kXR_ItExists" =>
            {
                self.ask(&Start::default(), &|path: &str| Request::rm(path))?;
                self.ask(&self.start, &rename)?;
            }
            renamed => renamed?,
        }
        self.is_there = false;
        Ok(())
    }

    fn ask(&self, start: &Start, request: &dyn Fn(&str) -> Request) -> Result<(), Failure> {
        let question = Question { request, room: ANSWER, reads: false };
        let deadline = Instant::now() + self.settings.request_timeout;
        ask(&self.url, start, &question, &self.settings, deadline).map(drop)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_there && self.process == process::id() {
            let path = target(&self.temporary, [self.url.cgi.as_str()]);
            // What cannot be removed is what the server does not have, or has no way to.
            let remove = |_: &str| Request::rm(&path);
            let question = Question { request: &remove, room: ANSWER, reads: false };
            let deadline = Instant::now() + REMOVAL.min(self.settings.request_timeout);
            let _ = ask(&self.url, &self.start, &question, &self.settings, deadline);
        }
    }
}

/// A name beside a path that nothing else has.
fn temporary(path: &str) -> String {
    let (folder, name) = match path.rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => ("", path),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{folder}.{name}.{:x}-{now:x}.part", process::id())
}
