//! Runs a small XRootD server that gives the answers of a test, also wrong ones.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::wire::{HANDSHAKE, Header, Request, Status, flags};

/// The id of the request `protocol`. A client that wants TLS sets a flag in it.
const PROTOCOL: u16 = 3006;
const WANT_TLS: u8 = 4;

/// A connection, with TLS or without.
trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A request that was received.
#[derive(Clone, Debug)]
pub struct ClientRequest {
    /// The number of the connection, from 0 on.
    pub connection: usize,
    /// The stream id.
    pub stream: u16,
    /// The request id, such as 3013 for `read`.
    pub id: u16,
    /// The 16 bytes of parameters.
    pub parameters: [u8; 16],
    /// The bytes after the header of the request.
    pub data: Bytes,
}

impl ClientRequest {
    /// Makes an answer to this request.
    pub fn answer(&self, status: Status, body: &[u8]) -> Vec<u8> {
        let header = Header { stream: self.stream, status, length: body.len() as u32 };
        [&header.encode()[..], body].concat()
    }

    /// Makes an answer that begins with a number: an error, a redirect, or a wait.
    pub fn numbered(&self, status: Status, number: u32, text: &str) -> Vec<u8> {
        self.answer(status, &[&number.to_be_bytes()[..], text.as_bytes(), b"\0"].concat())
    }

    /// Returns the data as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.data).into_owned()
    }

    fn offset(&self) -> u64 {
        number(&self.parameters[4..12])
    }

    fn length(&self) -> u64 {
        number(&self.parameters[12..16])
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The action of the server after a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send these bytes and close the connection.
    SendAndClose(Vec<u8>),
}

/// A server of one file, on a port of its own.
pub struct ScriptedXrootd {
    port: u16,
    shared: Arc<ServedFile>,
}

struct ServedFile {
    content: Vec<u8>,
    flags: u32,
    tls: Option<Arc<ServerConfig>>,
    script: Script,
    connections: AtomicUsize,
    requests: Mutex<Vec<ClientRequest>>,
    ended: AtomicBool,
}

/// The script of a test: it gets a request and the answer of a correct server, and returns the reply.
type Script = Box<dyn Fn(&ClientRequest, Vec<u8>) -> Reply + Send + Sync>;

/// The flags of a data server without checksums.
pub const DATA_SERVER: u32 = 1;
/// The flags of a data server with checksums.
pub const CHECKED_SERVER: u32 = DATA_SERVER | flags::HAS_PAGES;
/// The flags of a manager.
pub const MANAGER: u32 = flags::IS_MANAGER;

impl ScriptedXrootd {
    /// Starts a server with one file under every path.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn start(
        content: Vec<u8>,
        flags: u32,
        script: impl Fn(&ClientRequest, Vec<u8>) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::start_with(content, flags, None, script)
    }

    /// Starts a server with one file under every path. Clients that want TLS get it.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn start_with_tls(
        content: Vec<u8>,
        flags: u32,
        tls: Arc<ServerConfig>,
        script: impl Fn(&ClientRequest, Vec<u8>) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::start_with(content, flags | flags::HAS_TLS, Some(tls), script)
    }

    fn start_with(
        content: Vec<u8>,
        flags: u32,
        tls: Option<Arc<ServerConfig>>,
        script: impl Fn(&ClientRequest, Vec<u8>) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(ServedFile {
            content,
            flags,
            tls,
            script: Box::new(script),
            connections: AtomicUsize::new(0),
            requests: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                if server.ended.load(Ordering::Relaxed) {
                    return;
                }
                let server = Arc::clone(&server);
                // A client that goes away ends its thread.
                std::thread::spawn(move || server.serve(socket).is_ok());
            }
        });
        Ok(Self { port, shared })
    }

    /// Returns the port on which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of a path, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("root://127.0.0.1:{}/{path}", self.port)
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<ClientRequest> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ScriptedXrootd {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // This wakes the thread that waits for connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl ServedFile {
    fn serve(&self, mut socket: TcpStream) -> io::Result<()> {
        let connection = self.connections.fetch_add(1, Ordering::Relaxed);
        socket.set_nodelay(true)?;
        let mut handshake = [0; HANDSHAKE.len()];
        socket.read_exact(&mut handshake)?;
        let version = 0x511_u32.to_be_bytes();
        let header = Header { stream: 0, status: Status::Ok, length: 8 };
        let kind = u32::from(self.flags & MANAGER == 0).to_be_bytes();
        socket.write_all(&[&header.encode()[..], &version, &kind].concat())?;
        let mut line: Box<dyn Stream> = Box::new(socket.try_clone()?);
        loop {
            let mut header = [0; 24];
            line.read_exact(&mut header)?;
            let (stream, request, length) = Request::parse(&header);
            let mut data = vec![0; length as usize];
            line.read_exact(&mut data)?;
            let (id, parameters) = (request.id(), *request.parameters());
            let is_secure = id == PROTOCOL && parameters[4] & WANT_TLS != 0;
            let request = ClientRequest { connection, stream, id, parameters, data: data.into() };
            self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
            match (self.script)(&request, self.sound(&request)) {
                Reply::Send(bytes) => line.write_all(&bytes)?,
                Reply::SendAndClose(bytes) => {
                    line.write_all(&bytes)?;
                    return line.flush();
                }
            }
            line.flush()?;
            if let Some(tls) = self.tls.as_ref().filter(|_| is_secure) {
                let session = ServerConnection::new(Arc::clone(tls)).map_err(io::Error::other)?;
                line = Box::new(StreamOwned::new(session, socket.try_clone()?));
            }
        }
    }

    /// Returns the answer of a correct server.
    fn sound(&self, request: &ClientRequest) -> Vec<u8> {
        let ok = |body: &[u8]| request.answer(Status::Ok, body);
        let stat = format!("1 {} 16 1700000000\0", self.content.len());
        match request.id {
            3001 => ok(b"1024\n2097136\n"),
            PROTOCOL => {
                let secure = self.tls.is_some() && request.parameters[4] & WANT_TLS != 0;
                let flags = self.flags | if secure { flags::GOTO_TLS } else { 0 };
                ok(&[0x511_u32.to_be_bytes(), flags.to_be_bytes()].concat())
            }
            3007 => ok(&[7; 16]),
            3010 => ok(&[&[0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0], stat.as_bytes()].concat()),
            3013 => ok(self.slice(request.offset(), request.length())),
            3017 => ok(stat.as_bytes()),
            3025 => {
                let mut body = Vec::new();
                for item in request.data.chunks_exact(16) {
                    body.extend_from_slice(item);
                    body.extend_from_slice(self.slice(number(&item[8..]), number(&item[4..8])));
                }
                ok(&body)
            }
            3030 => {
                let body = self.pages(request.offset(), request.length());
                self.checked(request, request.offset(), &body)
            }
            _ => ok(&[]),
        }
    }

    fn slice(&self, offset: u64, length: u64) -> &[u8] {
        let size = self.content.len();
        let start = (offset as usize).min(size);
        &self.content[start..start.saturating_add(length as usize).min(size)]
    }

    fn pages(&self, offset: u64, length: u64) -> Vec<u8> {
        let mut body = Vec::new();
        let (mut at, end) = (offset, offset + length);
        while at < end {
            let next = end.min((at / 4096 + 1) * 4096);
            let data = self.slice(at, next - at);
            body.extend_from_slice(&crc32c::crc32c(data).to_be_bytes());
            body.extend_from_slice(data);
            at = next;
        }
        body
    }

    /// Returns an answer with checksums.
    fn checked(&self, request: &ClientRequest, offset: u64, body: &[u8]) -> Vec<u8> {
        let header = Header { stream: request.stream, status: Status::Checked, length: 24 };
        let mut second = request.stream.to_be_bytes().to_vec();
        second.extend_from_slice(&[30, 0, 0, 0, 0, 0]);
        second.extend_from_slice(&(body.len() as u32).to_be_bytes());
        second.extend_from_slice(&offset.to_be_bytes());
        let checksum = crc32c::crc32c(&second).to_be_bytes();
        [&header.encode()[..], &checksum, &second, body].concat()
    }
}
