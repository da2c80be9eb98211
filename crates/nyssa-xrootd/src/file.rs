//! Reads a file on a server that has it. When its server is lost, the file is opened again.

use std::io::ErrorKind;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use nyssa_net::{PerProcess, Stop};

use super::client::{self, Question, Reached, Start};
use super::connection::{Answer, Body, Connection, VectorLimits};
use super::deadline::Deadline;
use super::failure::Failure;
use super::read_plan::{ReadRequest, Wrong};
use super::settings::Settings;
use super::url::{Server, Url};
use super::wire::{Handle, OpenBody, OpenMode, Request, Stat, Wait, error_name};

/// The largest number of bytes of an answer to `open` and `stat`.
const TALK: u64 = 16 << 10;
/// The longest pause before a lost server is searched again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A file, which each process that reads it opens.
pub(super) struct File {
    url: Url,
    settings: Settings,
    pub stat: Stat,
    /// The host on which it was opened first. This server states the time of the file.
    host: String,
    closed: AtomicBool,
    /// Whether its server tells the size and time of an open file.
    tells_version: AtomicBool,
    state: PerProcess<Mutex<FileInProcess>>,
}

/// The state of the file in one process.
#[derive(Default)]
struct FileInProcess {
    open: Option<Arc<OpenFile>>,
    /// The server at which to search for it next.
    next: Start,
}

/// A file that a server has open for this process.
pub(super) struct OpenFile {
    connection: Arc<Connection>,
    handle: Handle,
    manager: Option<Server>,
    process: u32,
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if self.process == process::id() {
            self.connection.count_files(-1);
            self.connection.tell(Request::close(self.handle));
        }
    }
}

impl File {
    /// Opens the file of a URL, until `stop` is given.
    pub(crate) fn open(url: Url, settings: Settings, stop: &Stop) -> Result<Self, Failure> {
        let deadline = Deadline::after(settings.request_timeout).until(stop);
        let (open, stat) = open_once(&url, &Start::default(), &settings, &deadline)?;
        let host = open.connection.server.to_string();
        let (closed, tells_version) = (AtomicBool::new(false), AtomicBool::new(true));
        let state = PerProcess::new();
        let file = Self { url, settings, stat, host, closed, tells_version, state };
        file.lock().open = Some(Arc::new(open));
        Ok(file)
    }

    /// Opens the same file over the connection with a number.
    ///
    /// # Errors
    /// The file cannot be opened; `InvalidData` if it is another file now.
    pub(crate) fn beside(&self, connection: u16) -> Result<Self, Failure> {
        let settings = Settings { connection, ..self.settings.clone() };
        let other = Self::open(self.url.clone(), settings, &Stop::default())?;
        self.check_stat(&other.host, &other.stat)?;
        Ok(other)
    }

    /// Returns the limits of one vector.
    pub(crate) fn vector_limits(&self) -> VectorLimits {
        self.with_connection(|connection| connection.vector_limits.get().copied())
            .flatten()
            .unwrap_or_default()
    }

    /// Calls `look` with the connection, and returns its result. Returns `None` if there is no connection.
    pub(crate) fn with_connection<T>(&self, look: impl Fn(&Connection) -> T) -> Option<T> {
        self.lock().open.as_ref().map(|open| look(&open.connection))
    }

    /// Closes the file for all threads that read it.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.lock().open = None;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Reads parts, all of which are under way at the same time, until `stop` is given. Parts that were
    /// received are kept when a server is lost.
    pub(crate) fn read(
        &self,
        parts: &[ReadRequest],
        stop: &Stop,
    ) -> Result<Vec<Vec<Bytes>>, Failure> {
        let deadline = Deadline::after(self.settings.request_timeout).until(stop);
        let mut done: Vec<Option<Vec<Bytes>>> = vec![None; parts.len()];
        let mut losses = 0;
        loop {
            deadline.check()?;
            let open = self.opened(&deadline)?;
            let failure = match self.read_from(&open, parts, &mut done, &deadline) {
                Ok(()) => return Ok(done.into_iter().flatten().collect()),
                Err(failure) => failure,
            };
            losses += 1;
            if !is_loss(&failure, &open) || losses > self.settings.connection_retry {
                return Err(failure);
            }
            self.lose(&open);
        }
    }

    /// Reads the missing parts from one server.
    fn read_from(
        &self,
        open: &OpenFile,
        parts: &[ReadRequest],
        done: &mut [Option<Vec<Bytes>>],
        deadline: &Deadline,
    ) -> Result<(), Failure> {
        loop {
            let missing: Vec<usize> = (0..parts.len()).filter(|&i| done[i].is_none()).collect();
            if missing.is_empty() {
                return Ok(());
            }
            let has_checksums = open.connection.has_checksums();
            let reads = missing.iter().map(|&i| parts[i].request(open.handle, has_checksums));
            // This request comes with the others, so it takes no time.
            let asks = self.tells_version.load(Ordering::Relaxed);
            let version = asks.then(|| (Request::stat_of(open.handle), TALK));
            let requests: Vec<(Request, u64)> = reads.chain(version).collect();
            let mut pending = open.connection.send(&requests)?;
            let version = if asks { pending.pop() } else { None };
            let mut longest: Option<Wait> = None;
            for (&i, pending) in missing.iter().zip(pending) {
                match pending.wait(deadline, &self.settings)? {
                    Answer::Body(body) => done[i] = Some(self.decode(open, &parts[i], &body)?),
                    Answer::Wait(wait) => {
                        longest = longest.filter(|l| l.seconds >= wait.seconds).or(Some(wait));
                    }
                    Answer::Error(error) => {
                        let server = open.connection.server.clone();
                        return Err(Failure::Refused { server, error });
                    }
                    Answer::Redirect(to) => {
                        let why = format!("it redirected the open file to {}", to.location);
                        let kind = ErrorKind::ConnectionAborted;
                        return Err(Failure::lost(&open.connection.server, kind, why));
                    }
                }
            }
            if let Some(version) = version {
                let version = version.wait(deadline, &self.settings);
                self.check_version(open, version)?;
            }
            if let Some(wait) = longest {
                client::pause(&open.connection.server, &wait, &self.settings, deadline)?;
            }
        }
    }

    /// Refuses what was read if the file was changed after it was opened. A server that does not tell the version of an
    /// open file is not asked again.
    fn check_version(
        &self,
        open: &OpenFile,
        answer: Result<Answer, Failure>,
    ) -> Result<(), Failure> {
        let stat = match answer {
            Ok(Answer::Body(body)) => Stat::parse(&body.bytes).ok(),
            // The next read requests the file again.
            Ok(Answer::Wait(_)) | Err(_) => return Ok(()),
            Ok(Answer::Error(_) | Answer::Redirect(_)) => None,
        };
        match stat {
            Some(stat) => self.check_stat(&open.connection.server.to_string(), &stat),
            None => {
                self.tells_version.store(false, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    fn decode(
        &self,
        open: &OpenFile,
        part: &ReadRequest,
        body: &Body,
    ) -> Result<Vec<Bytes>, Failure> {
        part.decode(body).map_err(|wrong| match wrong {
            Wrong::Malformed(what) => open.connection.malformed(what),
            Wrong::EndsAt(end) => {
                let why = format!(
                    "it ends at byte {end} now, because it was truncated after it was opened"
                );
                Failure::last(ErrorKind::UnexpectedEof, why)
            }
        })
    }

    /// Returns the file as this process has it open. Opens it if necessary.
    fn opened(&self, deadline: &Deadline) -> Result<Arc<OpenFile>, Failure> {
        let mut state = self.lock();
        if let Some(open) = &state.open {
            return Ok(Arc::clone(open));
        }
        let open = Arc::new(self.open_again(&state.next, deadline)?);
        state.next = Start::default();
        Ok(Arc::clone(state.open.insert(open)))
    }

    /// Handles the loss of a server: another one must be found.
    fn lose(&self, open: &Arc<OpenFile>) {
        let mut state = self.lock();
        if state.open.as_ref().is_some_and(|now| Arc::ptr_eq(now, open)) {
            let manager = open.manager.clone();
            let host = manager.is_some().then(|| open.connection.server.host.clone());
            state.next = Start { manager, tried: host.into_iter().collect() };
            state.open = None;
        }
    }

    /// Searches for the file during the connection window.
    fn open_again(&self, start: &Start, deadline: &Deadline) -> Result<OpenFile, Failure> {
        let until = deadline.at.min(Instant::now() + self.settings.connection_window);
        let mut start = start.clone();
        let mut pause = Duration::from_millis(200);
        loop {
            let failure = match open_once(&self.url, &start, &self.settings, deadline) {
                Ok((open, stat)) => return self.check_same(open, &stat),
                Err(failure) => failure,
            };
            let comes_back = match &failure {
                Failure::Lost { .. } => true,
                Failure::Refused { error, .. } => client::is_of_one_server(error),
                Failure::Final { .. } | Failure::NoLogin { .. } => false,
            };
            if !comes_back || Instant::now() + pause > until {
                return Err(failure);
            }
            // If there is no other server, the lost one may have come back.
            start = Start::default();
            deadline.sleep(pause)?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Refuses a file that differs from the file that was opened first.
    fn check_same(&self, open: OpenFile, stat: &Stat) -> Result<OpenFile, Failure> {
        self.check_stat(&open.connection.server.to_string(), stat)?;
        Ok(open)
    }

    /// Refuses the properties of a file that differs from the file that was opened first.
    fn check_stat(&self, server: &str, stat: &Stat) -> Result<(), Failure> {
        let same_server = server == self.host;
        let is_same =
            stat.size == self.stat.size && (!same_server || stat.modified == self.stat.modified);
        if is_same {
            return Ok(());
        }
        let why = format!(
            "it is another file now: on the server {} it has {} bytes, changed at {} (seconds since \
             1970); it had {}, changed at {}",
            server, stat.size, stat.modified, self.stat.size, self.stat.modified
        );
        Err(Failure::last(ErrorKind::InvalidData, why))
    }

    fn lock(&self) -> MutexGuard<'_, FileInProcess> {
        self.state.lock()
    }
}

/// Returns whether another connection or server may succeed.
fn is_loss(failure: &Failure, open: &OpenFile) -> bool {
    match failure {
        Failure::Lost { .. } => true,
        Failure::Refused { error, .. } if error_name(error.code) == "kXR_FileNotOpen" => true,
        Failure::Refused { error, .. } => open.manager.is_some() && client::is_of_one_server(error),
        Failure::Final { .. } | Failure::NoLogin { .. } => false,
    }
}

fn open_once(
    url: &Url,
    start: &Start,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<(OpenFile, Stat), Failure> {
    let request = |target: &str| Request::open(target, OpenMode::Read);
    let question = Question { request: &request, room: TALK, reads: true };
    let Reached { body, connection, manager } =
        client::ask(url, start, &question, settings, deadline)?;
    let answer = OpenBody::parse(&body.bytes).map_err(|what| connection.malformed(what))?;
    connection.count_files(1);
    let process = process::id();
    let open = OpenFile { connection, handle: answer.handle, manager, process };
    let stat = match answer.stat {
        Some(stat) => stat,
        None => stat_of(url, &open, settings, deadline)?,
    };
    if stat.is_folder {
        return Err(Failure::last(ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    Ok((open, stat))
}

/// Requests size and time if the answer to `open` does not have them.
fn stat_of(
    url: &Url,
    open: &OpenFile,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<Stat, Failure> {
    let start = Start { manager: Some(open.connection.server.clone()), tried: Vec::new() };
    let question = Question { request: &|path| Request::stat(path), room: TALK, reads: false };
    let reached = client::ask(url, &start, &question, settings, deadline)?;
    Stat::parse(&reached.body.bytes).map_err(|what| reached.connection.malformed(what))
}
