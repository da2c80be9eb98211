//! Implements TLS below the protocol. Both directions share one session.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nyssa_net::{authorities, explained};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::line::{Line, too_late};
use crate::failure::Failure;
use crate::settings::Settings;
use crate::url::Server;

/// The number of bytes that are read from the socket at once.
const STEP: usize = 64 << 10;

/// Begins TLS on a socket, after the server has agreed to it.
pub(super) fn secure(
    socket: &TcpStream,
    server: &Server,
    settings: &Settings,
    deadline: Instant,
) -> Result<Line, Failure> {
    let refused = |error: &rustls::Error| {
        let why = format!("the server {server}: {}", explained(error));
        Failure::last(ErrorKind::PermissionDenied, why)
    };
    let lost = |error: io::Error| match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(error) => refused(error),
        None => Failure::lost(server, error.kind(), error.to_string()),
    };
    let mut session = session(server).map_err(|error| refused(&error))?;
    let mut both = socket;
    while session.is_handshaking() {
        match session.complete_io(&mut both) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if Instant::now() >= deadline {
                    return Err(Failure::lost(server, ErrorKind::TimedOut, too_late(settings)));
                }
            }
            Err(error) => return Err(lost(error)),
        }
    }
    let shared = Arc::new(TlsSession {
        session: Mutex::new(session),
        output: Mutex::new(socket.try_clone().map_err(lost)?),
    });
    let input = socket.try_clone().map_err(lost)?;
    let (raw, at) = (Vec::new(), 0);
    let reader = SecureReader { shared: Arc::clone(&shared), input, raw, at };
    Ok(Line { reader: Box::new(reader), writer: Box::new(SecureWriter(shared)) })
}

fn session(server: &Server) -> Result<ClientConnection, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(server.host.clone())
        .map_err(|error| rustls::Error::General(error.to_string()))?;
    ClientConnection::new(Arc::new(config), name)
}

/// The state that both directions share. A thread that needs both locks takes the lock of the output first.
struct TlsSession {
    session: Mutex<ClientConnection>,
    output: Mutex<TcpStream>,
}

impl TlsSession {
    fn session(&self) -> MutexGuard<'_, ClientConnection> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seals `data` and sends the bytes of the session. Returns how many bytes of `data` it took.
    fn send(&self, data: &[u8]) -> io::Result<usize> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sealed = Vec::new();
        let mut session = self.session();
        let taken = session.writer().write(data)?;
        while session.wants_write() {
            session.write_tls(&mut sealed)?;
        }
        drop(session);
        output.write_all(&sealed)?;
        Ok(taken)
    }
}

struct SecureReader {
    shared: Arc<TlsSession>,
    input: TcpStream,
    /// The bytes that were received from the socket. Those before `at` are done.
    raw: Vec<u8>,
    at: usize,
}

impl Read for SecureReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut session = self.shared.session();
            match session.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
            if self.at < self.raw.len() {
                let mut rest = &self.raw[self.at..];
                let taken = session.read_tls(&mut rest)?;
                self.at += taken;
                session
                    .process_new_packets()
                    .map_err(|error| io::Error::new(ErrorKind::InvalidData, explained(&error)))?;
                let answers = session.wants_write();
                drop(session);
                if answers {
                    self.shared.send(&[])?;
                }
                continue;
            }
            drop(session);
            self.raw.resize(STEP, 0);
            // A read that fails must not leave bytes.
            let read = self.input.read(&mut self.raw);
            self.raw.truncate(*read.as_ref().unwrap_or(&0));
            self.at = 0;
            if read? == 0 {
                return Ok(0);
            }
        }
    }
}

struct SecureWriter(Arc<TlsSession>);

impl Write for SecureWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match data.is_empty() {
            true => Ok(0),
            false => self.0.send(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.send(&[]).map(drop)
    }
}
