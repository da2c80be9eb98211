//! Creates, opens, renames and removes a file that does not have its name yet.

use std::io::{self, ErrorKind};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::client::{Question, Reached, Start, ask};
use super::deadline::Deadline;
use super::failure::Failure;
use super::folder;
use super::settings::Settings;
use super::url::{Url, target};
use super::wire::{OpenMode, Request, error_name};

/// The largest number of bytes of an answer.
pub(super) const ANSWER: u64 = 16 << 10;
/// The longest time for the removal of a file that is no longer needed.
const REMOVAL: Duration = Duration::from_secs(10);

/// A complete or unfinished file that does not have its name yet. It is removed when this is dropped.
#[derive(Debug)]
pub struct TemporaryFile {
    url: Url,
    temporary: String,
    pub(crate) settings: Settings,
    /// The start of requests, which go to the server that has the file.
    start: Start,
    pub(crate) process: u32,
    is_there: bool,
}

impl TemporaryFile {
    /// Creates the file for a URL. Returns it with the answer of the server.
    pub(crate) fn create(url: Url, settings: Settings) -> Result<(Self, Reached), Failure> {
        let (temporary, process) = (temporary(&url.path), process::id());
        let start = Start::default();
        let mut place = Self { url, temporary, settings, start, process, is_there: false };
        let reached = place.open(OpenMode::New)?;
        place.start.manager = Some(reached.connection.server.clone());
        place.is_there = true;
        Ok((place, reached))
    }

    /// Opens the file on the server that has it.
    pub(crate) fn open(&self, mode: OpenMode) -> Result<Reached, Failure> {
        let url = Url { path: self.temporary.clone(), ..self.url.clone() };
        let request = |target: &str| Request::open(target, mode);
        let question = Question { request: &request, room: ANSWER, reads: false };
        let deadline = Deadline::after(self.settings.request_timeout);
        ask(&url, &self.start, &question, &self.settings, &deadline)
    }

    /// Returns the URL of the file under its present name.
    pub fn location(&self, url: &str) -> String {
        url.replacen(&self.url.path, &self.temporary, 1)
    }

    /// Gives the file its name. With `force`, replaces another file.
    ///
    /// # Errors
    /// `AlreadyExists` without `force`; an error of the server or of the connection.
    pub fn publish(&mut self, force: bool) -> io::Result<()> {
        self.rename(force).map_err(Failure::into_io)
    }

    fn rename(&mut self, force: bool) -> Result<(), Failure> {
        // A server may replace another file without an error.
        if !force && folder::stat_of(&self.url, &self.settings)?.is_some() {
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
        let deadline = Deadline::after(self.settings.request_timeout);
        ask(&self.url, start, &question, &self.settings, &deadline).map(drop)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if self.is_there && self.process == process::id() {
            let path = target(&self.temporary, [self.url.cgi.as_str()]);
            // The server may have removed it already, or may be gone.
            let remove = |_: &str| Request::rm(&path);
            let question = Question { request: &remove, room: ANSWER, reads: false };
            let deadline = Deadline::after(REMOVAL.min(self.settings.request_timeout));
            let _ = ask(&self.url, &self.start, &question, &self.settings, &deadline);
        }
    }
}

/// Returns a name in the same folder that nothing else has.
fn temporary(path: &str) -> String {
    let (folder, name) = match path.rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => ("", path),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{folder}.{name}.{:x}-{now:x}.part", process::id())
}
