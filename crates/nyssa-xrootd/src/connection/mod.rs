//! Defines one connection to one server. Requests are sent, and a thread reads the answers and passes them to
//! the threads that wait.

mod connect;
mod identity;
mod line;
mod login;
mod patience;
mod reader;
mod table;
mod tls;

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use nyssa_net::Meter;

use super::failure::Failure;
use super::settings::Settings;
use super::url::Server;
use super::wire::{Header, Malformed, ProtocolBody, Redirect, Request, ServerError, Wait, flags};
use crate::deadline::Deadline;
pub(super) use connect::connect;
use table::Table;

/// The time between two checks whether a waiting request must stop.
const POLL: Duration = Duration::from_millis(50);
/// The first version of the protocol that has reads with checksums in their present form.
const PAGES_VERSION: u32 = 0x511;
/// The number of bytes up to which a request is sent in one piece with its header.
const JOINED: usize = 64 << 10;

/// An answer.
#[derive(Debug)]
pub(super) enum Answer {
    /// The body of the answer.
    Body(Body),
    Error(ServerError),
    Redirect(Redirect),
    Wait(Wait),
}

/// The body of an answer, with all its parts.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub bytes: Bytes,
    /// For answers with checksums, the start of each part in the file and in `bytes`.
    pub parts: Vec<(u64, usize)>,
}

/// A connection after its login. Any number of threads may use it at the same time.
pub(super) struct Connection {
    pub server: Server,
    /// The answer of the server to `protocol`.
    pub protocol: ProtocolBody,
    /// Whether TLS protects the connection.
    is_secure: bool,
    pub meter: Meter,
    /// The limits of one `readv`, once they are known.
    pub vector_limits: OnceLock<VectorLimits>,
    stream_timeout: Duration,
    socket: TcpStream,
    writer: Mutex<Box<dyn Write + Send>>,
    table: Mutex<Table>,
}

/// The limits of one `readv` of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VectorLimits {
    /// The largest number of ranges: `readv_iov_max`.
    pub ranges: usize,
    /// The largest number of bytes of a range: `readv_ior_max`.
    pub range_bytes: u64,
}

impl Default for VectorLimits {
    /// Returns the limits of a server that does not state them.
    fn default() -> Self {
        Self { ranges: 1024, range_bytes: (2 << 20) - 16 }
    }
}

/// A request that was sent.
pub(super) struct Pending {
    connection: Arc<Connection>,
    answer: Receiver<Answer>,
}

impl Connection {
    pub(crate) fn is_manager(&self) -> bool {
        self.protocol.has(flags::IS_MANAGER)
    }

    /// Returns whether reads use checksums: the server has them, and TLS does not check the bytes already.
    pub(crate) fn has_checksums(&self) -> bool {
        self.protocol.version >= PAGES_VERSION
            && self.protocol.has(flags::HAS_PAGES)
            && !self.is_secure
    }

    /// Returns whether the connection can still be used.
    pub(crate) fn is_alive(&self) -> bool {
        self.table().broken.is_none()
    }

    /// Sends requests together. Each comes with the number of bytes that its answer may have.
    pub(crate) fn send(
        self: &Arc<Self>,
        requests: &[(Request, u64)],
    ) -> Result<Vec<Pending>, Failure> {
        let mut bytes = Vec::new();
        let mut pending = Vec::with_capacity(requests.len());
        let mut large = None;
        let mut table = self.table();
        if let Some(failure) = &table.broken {
            return Err(failure.clone());
        }
        for (request, room) in requests {
            let Some((stream, answer)) = table.add(*room) else {
                let why = "too many requests are under way";
                return Err(Failure::last(io::ErrorKind::ResourceBusy, why));
            };
            pending.push(Pending { connection: Arc::clone(self), answer });
            match request.data().len() > JOINED && requests.len() == 1 {
                true => {
                    bytes.extend_from_slice(&request.header(stream));
                    large = Some(request.data());
                }
                false => request.encode(stream, &mut bytes),
            }
        }
        drop(table);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sent = writer.write_all(&bytes);
        if let Some(data) = large {
            sent = sent.and_then(|()| writer.write_all(data));
        }
        sent = sent.and_then(|()| writer.flush());
        drop(writer);
        match sent {
            Ok(()) => Ok(pending),
            Err(error) => Err(self.fail(error.kind(), format!("sending failed: {error}"))),
        }
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn tell(self: &Arc<Self>, request: Request) {
        // A lost request does no harm, because the server notices a lost connection by itself.
        let _ = self.send(&[(request, 0)]);
    }

    /// Ends the connection. All threads that wait get the reason.
    pub(crate) fn fail(&self, kind: io::ErrorKind, why: impl Into<String>) -> Failure {
        let failure = Failure::lost(&self.server, kind, why);
        let failure = self.table().end(failure);
        // This also ends the thread that reads.
        let _ = self.socket.shutdown(Shutdown::Both);
        failure
    }

    /// Ends the connection because of bytes that are not of the protocol.
    pub(crate) fn malformed(&self, what: Malformed) -> Failure {
        self.fail(io::ErrorKind::InvalidData, format!("it sent {}", what.0))
    }

    /// Counts the files that are open on the connection.
    pub(crate) fn count_files(&self, change: isize) {
        let mut table = self.table();
        table.files = table.files.saturating_add_signed(change);
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Waits for the answer, until `deadline`.
    pub(crate) fn wait(self, deadline: &Deadline, settings: &Settings) -> Result<Answer, Failure> {
        let answer = loop {
            let answer = self.answer.recv_timeout(deadline.left().min(POLL));
            let waits = matches!(answer, Err(RecvTimeoutError::Timeout));
            if !waits || deadline.left().is_zero() {
                break answer;
            }
            deadline.check()?;
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                Err(Failure::timed_out(&self.connection.server, settings.request_timeout))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let kind = io::ErrorKind::ConnectionAborted;
                let ended = || Failure::lost(&self.connection.server, kind, "the connection ended");
                Err(self.connection.table().broken.clone().unwrap_or_else(ended))
            }
        }
    }
}

/// Reads one whole answer, with a body of at most `most` bytes. It is for the login, when no other thread
/// waits.
fn read_answer(
    stream: &mut impl io::Read,
    most: u64,
) -> io::Result<Result<(Header, Vec<u8>), Malformed>> {
    let mut header = [0; Header::LENGTH];
    stream.read_exact(&mut header)?;
    let header = match Header::parse(&header) {
        Ok(header) => header,
        Err(malformed) => return Ok(Err(malformed)),
    };
    if u64::from(header.length) > most {
        return Ok(Err(Malformed(format!("an answer of {} bytes", header.length))));
    }
    let mut body = Vec::new();
    reader::read_into(stream, &mut body, header.length.into())?;
    Ok(Ok((header, body)))
}
