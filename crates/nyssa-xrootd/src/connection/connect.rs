//! Opens connections: from the name of a server to a connection after its login.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use nyssa_net::Meter;

use super::line::{Line, too_late};
use super::login::{Begun, log_in};
use super::patience::tick;
use super::{Connection, Table, reader};
use crate::failure::Failure;
use crate::settings::Settings;
use crate::url::Server;

/// The time of one range of a vector: its 16 bytes in each direction, and the read of the server.
const RANGE: Duration = Duration::from_micros(2);

/// Connects to a server and logs in, until `deadline`.
pub(crate) fn connect(
    server: &Server,
    settings: &Settings,
    deadline: Instant,
) -> Result<Arc<Connection>, Failure> {
    let meter = Meter::new(RANGE);
    let mut is_secure = server.tls;
    let (socket, line, protocol) = loop {
        let socket = dial(server, settings, deadline, &meter)?;
        match log_in(&socket, server, settings, deadline, is_secure)? {
            Begun::Session(line, protocol) => break (socket, line, protocol),
            Begun::WantsTls => is_secure = true,
        }
    };
    let Line { reader, writer } = line;
    let connection = Arc::new(Connection {
        server: server.clone(),
        protocol,
        is_secure,
        meter,
        vector_limits: OnceLock::new(),
        stream_timeout: settings.stream_timeout,
        socket,
        writer: Mutex::new(writer),
        table: Mutex::new(Table::default()),
    });
    start(&connection, reader)?;
    Ok(connection)
}

fn start(connection: &Arc<Connection>, stream: Box<dyn Read + Send>) -> Result<(), Failure> {
    let shared = Arc::clone(connection);
    let thread = std::thread::Builder::new().name("nyssa-xrootd".to_owned());
    match thread.spawn(move || reader::run(shared, stream)) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::last(
            error.kind(),
            format!("the system could not start a thread: {error}"),
        )),
    }
}

/// Opens a socket to the first address of the server that answers.
fn dial(
    server: &Server,
    settings: &Settings,
    deadline: Instant,
    meter: &Meter,
) -> Result<TcpStream, Failure> {
    let addresses = resolve(server, settings, deadline)?;
    let mut failure = Failure::lost(server, ErrorKind::NotFound, "the host name has no address");
    for (index, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (addresses.len() - index) as u32;
        if share.is_zero() {
            break;
        }
        let begun = Instant::now();
        match TcpStream::connect_timeout(address, share).and_then(|socket| {
            let wait = tick(settings.stream_timeout.min(settings.connection_window));
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(wait))?;
            socket.set_write_timeout(Some(settings.stream_timeout))?;
            Ok(socket)
        }) {
            Ok(socket) => {
                meter.waited(begun.elapsed());
                return Ok(socket);
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                failure = Failure::lost(server, error.kind(), too_late(settings));
            }
            Err(error) => {
                let why = format!("connecting to {address} failed: {error}");
                failure = Failure::lost(server, error.kind(), why);
            }
        }
    }
    Err(failure)
}

/// Returns the addresses of a server. A separate thread finds them, because this has no time limit.
fn resolve(
    server: &Server,
    settings: &Settings,
    deadline: Instant,
) -> Result<Vec<SocketAddr>, Failure> {
    let (sender, receiver) = channel();
    let (host, port) = (server.host.clone(), server.port);
    let spawned = std::thread::Builder::new().name("nyssa-resolve".to_owned()).spawn(move || {
        // The receiver may be gone.
        let _ = sender.send((host.as_str(), port).to_socket_addrs().map(Iterator::collect));
    });
    if let Err(error) = spawned {
        return Err(Failure::last(
            error.kind(),
            format!("the system could not start a thread: {error}"),
        ));
    }
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => {
            let why = format!("the name of the server {server} was not found: {error}");
            Err(Failure::last(ErrorKind::HostUnreachable, why))
        }
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            let limit = settings.connection_window.as_secs_f64();
            let why = format!(
                "the name service gave no address of {server} within {limit} s; \
                 XRD_CONNECTIONWINDOW sets the limit"
            );
            Err(Failure::last(ErrorKind::TimedOut, why))
        }
    }
}
