//! Writes a new file on a server. The file has another name until it is complete.
//!
//! When the connection is lost, the file is opened again, and data that the server may have lost are written
//! again. For this, writes are kept until the server has them on its disk. The client asks for this (`sync`)
//! after some bytes.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::client;
use super::connection::{Answer, Connection, Pending};
use super::deadline::Deadline;
use super::failure::Failure;
use super::settings::Settings;
use super::temporary::{ANSWER, TemporaryFile};
use super::url::Url;
use super::wire::{Handle, OpenBody, OpenMode, Request, error_name};

/// The maximum number of requests that are under way.
const UNDER_WAY: usize = 4;
/// The number of confirmed bytes after which the server is asked to put its data on its disk.
const SYNC_BYTES: u64 = 16 << 20;
/// The first and the longest pause before a lost server is looked for again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// A file that is being written.
pub(super) struct Upload {
    connection: Arc<Connection>,
    handle: Handle,
    /// The writes that may not be on the disk of the server, in their order.
    unsynced: VecDeque<Write>,
    /// The number of writes in `unsynced` that were sent, and of those that the server has confirmed.
    sent: usize,
    confirmed: usize,
    /// The requests without an answer, in their order.
    under_way: VecDeque<(Pending, Step)>,
    /// The number of bytes that the server has on its disk.
    end_on_disk: u64,
    /// The number of connections that were lost since the last `sync`.
    losses: u32,
    pub place: TemporaryFile,
}

/// A write: bytes and their offset.
struct Write {
    offset: u64,
    data: Bytes,
}

/// A request under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Write,
    /// The server puts its data on its disk. This many of the kept writes are among them.
    Sync(usize),
    Close,
}

impl Upload {
    /// Creates the file for a URL.
    pub(crate) fn create(url: Url, settings: Settings) -> Result<Self, Failure> {
        let (place, reached) = TemporaryFile::create(url, settings)?;
        let connection = reached.connection;
        let body = OpenBody::parse(&reached.body.bytes);
        let handle = body.map_err(|what| connection.malformed(what))?.handle;
        connection.count_files(1);
        let (unsynced, under_way) = (VecDeque::new(), VecDeque::new());
        let (sent, confirmed, end_on_disk, losses) = (0, 0, 0, 0);
        Ok(Self {
            connection,
            handle,
            unsynced,
            sent,
            confirmed,
            under_way,
            end_on_disk,
            losses,
            place,
        })
    }

    /// Sends bytes. Waits as long as too many requests are under way.
    pub(crate) fn write(&mut self, offset: u64, data: Bytes) -> Result<(), Failure> {
        self.unsynced.push_back(Write { offset, data });
        while let Err(failure) = self.send_kept() {
            self.recover(failure)?;
        }
        Ok(())
    }

    /// Waits until the server has all data on its disk, and closes the file.
    pub(crate) fn finish(mut self) -> Result<TemporaryFile, Failure> {
        while let Err(failure) = self.complete() {
            self.recover(failure)?;
        }
        self.connection.count_files(-1);
        Ok(self.place)
    }

    /// Gives up the file.
    pub(crate) fn abandon(self) {
        if self.place.process == process::id() {
            self.connection.count_files(-1);
            self.connection.tell(Request::close(self.handle));
        }
    }

    /// Sends the kept writes that were not sent on this connection.
    fn send_kept(&mut self) -> Result<(), Failure> {
        while self.sent < self.unsynced.len() {
            while self.under_way.len() >= UNDER_WAY {
                self.await_first()?;
            }
            self.send(Step::Write)?;
            let confirmed = self.unsynced.iter().take(self.confirmed);
            let bytes: u64 = confirmed.map(|write| write.data.len() as u64).sum();
            let is_asked = self.under_way.iter().any(|(_, step)| *step != Step::Write);
            if bytes >= SYNC_BYTES && !is_asked {
                self.send(Step::Sync(self.confirmed))?;
            }
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<(), Failure> {
        self.send_kept()?;
        while !self.under_way.is_empty() {
            self.await_first()?;
        }
        for step in [Step::Sync(self.confirmed), Step::Close] {
            self.send(step)?;
            self.await_first()?;
        }
        Ok(())
    }

    fn request(&self, step: Step, write: usize) -> Request {
        match (step, self.unsynced.get(write)) {
            (Step::Write, Some(write)) => {
                Request::write(self.handle, write.offset, write.data.clone())
            }
            (Step::Close, _) => Request::close(self.handle),
            _ => Request::sync(self.handle),
        }
    }

    fn send(&mut self, step: Step) -> Result<(), Failure> {
        let request = (self.request(step, self.sent), ANSWER);
        self.sent += usize::from(step == Step::Write);
        let pending = self.connection.send(&[request])?;
        self.under_way.extend(pending.into_iter().map(|pending| (pending, step)));
        Ok(())
    }

    /// Waits for the answer to the oldest request.
    fn await_first(&mut self) -> Result<(), Failure> {
        let Some((mut pending, step)) = self.under_way.pop_front() else { return Ok(()) };
        let settings = &self.place.settings;
        let deadline = Deadline::after(settings.request_timeout);
        let server = &self.connection.server;
        loop {
            match pending.wait(&deadline, settings)? {
                Answer::Body(_) => break,
                Answer::Wait(wait) => client::pause(server, &wait, settings, &deadline)?,
                Answer::Error(error) => {
                    return Err(Failure::Refused { server: server.clone(), error });
                }
                Answer::Redirect(to) => {
                    let why = format!("it redirected the open file to {}", to.location);
                    let kind = ErrorKind::ConnectionAborted;
                    return Err(Failure::lost(server, kind, why));
                }
            }
            let again = self.connection.send(&[(self.request(step, self.confirmed), ANSWER)])?;
            let Some(again) = again.into_iter().next() else { return Ok(()) };
            pending = again;
        }
        match step {
            Step::Write => self.confirmed += 1,
            Step::Sync(count) => {
                for write in self.unsynced.drain(..count.min(self.unsynced.len())) {
                    let end = write.offset + write.data.len() as u64;
                    self.end_on_disk = self.end_on_disk.max(end);
                }
                self.sent -= count;
                self.confirmed -= count;
                self.losses = 0;
            }
            Step::Close => {}
        }
        Ok(())
    }

    /// Opens the file again after its connection was lost. All kept writes are sent again. They write the same
    /// bytes at the same offsets in the same order.
    fn recover(&mut self, failure: Failure) -> Result<(), Failure> {
        self.losses += 1;
        let is_lost = matches!(failure, Failure::Lost { .. });
        if !is_lost || self.losses > self.place.settings.connection_retry {
            return Err(failure);
        }
        self.under_way.clear();
        (self.sent, self.confirmed) = (0, 0);
        let until = Instant::now() + self.place.settings.connection_window;
        let mut pause = PAUSES.0;
        loop {
            match self.open_again(&failure) {
                Err(error) if may_pass(&error) && Instant::now() + pause < until => {}
                done => return done,
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    fn open_again(&mut self, lost: &Failure) -> Result<(), Failure> {
        let gone = |why: &str| {
            let why = format!("{lost}; after that {why}, so writing cannot continue");
            Failure::last(ErrorKind::ConnectionAborted, why)
        };
        let reached = self.place.open(OpenMode::Update).map_err(|failure| match &failure {
            Failure::Refused { error, .. } if error_name(error.code) == "kXR_NotFound" => {
                gone("the server no longer had the unfinished file")
            }
            _ => failure,
        })?;
        let malformed = |what| reached.connection.malformed(what);
        let body = OpenBody::parse(&reached.body.bytes).map_err(malformed)?;
        if body.stat.is_none_or(|stat| stat.size < self.end_on_disk) {
            return Err(gone("the unfinished file was shorter than before"));
        }
        reached.connection.count_files(1);
        (self.connection, self.handle) = (reached.connection, body.handle);
        Ok(())
    }
}

/// Returns whether opening the file again may succeed later. The server may be away, or may still have the file
/// open for the lost connection.
fn may_pass(failure: &Failure) -> bool {
    match failure {
        Failure::Lost { .. } => true,
        Failure::Refused { error, .. } => {
            let name = error_name(error.code);
            matches!(name.as_str(), "kXR_FileLocked" | "kXR_inProgress")
                || client::is_of_one_server(error)
        }
        Failure::Final { .. } | Failure::NoLogin { .. } => false,
    }
}
