//! Offers folders and files by HTTP: of this machine, and of servers that nyssa reads from.
//!
//! ```text
//! connection (limits, TLS) -> access (tokens) -> path -> roots -> conditions, ranges -> body
//! ```
//!
//! [`path`] and [`roots`] decide what a request can reach: nothing outside the given roots, and no hidden file. All
//! bytes are read by `nyssa_io`, so that a cache lies in front of an origin as it does for every other reader.
//! hyper speaks HTTP, and tokio waits for sockets; decision 0020 says why these. Reads run on threads that may wait.

#![deny(missing_docs, unreachable_pub)]

mod access;
mod answer;
mod body;
mod clients;
mod conditions;
mod listing;
mod path;
mod range;
mod roots;
mod sources;
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use nyssa_io::{Error, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use self::access::Access;
use self::answer::Answers;
use self::clients::{Clients, Impatient};
use self::roots::Roots;

/// The largest number of connections at the same time. Other connections wait.
const CONNECTIONS: usize = 256;
/// The largest number of connections of one client, so that others have some, too. More are closed.
const OF_CLIENT: usize = 128;
/// The number of threads that read files and ask origins.
const READERS: usize = 64;
/// The time in which a client must have sent the head of its request, have finished the TLS handshake, or have taken the
/// next bytes of an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time that answers have to end when the server is asked to stop.
const GRACE: Duration = Duration::from_secs(5);
/// The time between two checks of the flag that stops the server.
const TICK: Duration = Duration::from_millis(50);

/// The options of a server: what is offered, where, and to whom.
#[derive(Debug, Default)]
pub struct ServeOptions {
    /// The folders and files: paths and URLs.
    pub roots: Vec<String>,
    /// The name or address of this machine on which the server listens.
    pub host: String,
    /// The port, or 0 for a free one.
    pub port: u16,
    /// A file with tokens, one on each line. A request has to bring one of them.
    pub token_file: Option<PathBuf>,
    /// The files with a chain of certificates and its key, as PEM, for HTTPS.
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// A server that listens.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    answers: Arc<Answers>,
    /// The time that clients have; see [`PATIENCE`].
    patience: Duration,
}

impl Server {
    /// Checks the options, and begins to listen. `report` gets the messages that users do not see, such as why
    /// an origin failed.
    ///
    /// # Errors
    /// `InvalidInput` for roots of the same name, for a token file without tokens and for files that are not a
    /// certificate or a key; `NotFound` for a root that does not exist; an error of the system for the
    /// address.
    pub fn bind(
        options: &ServeOptions,
        report: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self> {
        let roots = Roots::new(&options.roots)?;
        let access = Access::new(options.token_file.clone())?;
        let tls = options.tls.as_ref();
        let tls = tls.map(|(certificate, key)| tls::acceptor(certificate, key)).transpose()?;
        let place = format!("{}:{}", options.host, options.port);
        let failed = |error| Error::new(&place, "listen on", error);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(READERS)
            .thread_name("nyssa-serve")
            .enable_all()
            .build()
            .map_err(failed)?;
        let host = options.host.trim_matches(['[', ']']);
        let listener = runtime.block_on(TcpListener::bind((host, options.port))).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let answers = Arc::new(Answers::new(roots, access, Box::new(report)));
        Ok(Self { runtime, listener, address, tls, answers, patience: PATIENCE })
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// Answers requests until `stop` is set. Answers that are under way then have a few seconds to end.
    pub fn run(self, stop: &AtomicBool) {
        let Self { runtime, listener, tls, answers, patience, .. } = self;
        runtime.block_on(async {
            let graceful = GracefulShutdown::new();
            let places = Arc::new(Semaphore::new(CONNECTIONS));
            let clients = Clients::default();
            while !stop.load(Ordering::Relaxed) {
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                    tokio::time::sleep(TICK).await;
                    continue;
                };
                let (socket, address) = match tokio::time::timeout(TICK, listener.accept()).await {
                    Ok(Ok(accepted)) => accepted,
                    // The system has no more sockets for now, or no client has connected.
                    Ok(Err(_)) => {
                        tokio::time::sleep(TICK).await;
                        continue;
                    }
                    Err(_) => continue,
                };
                let Some(connection) = clients.connect(address.ip(), OF_CLIENT) else { continue };
                let (answers, tls, watcher) =
                    (Arc::clone(&answers), tls.clone(), graceful.watcher());
                tokio::spawn(async move {
                    let _held = (place, connection);
                    // A client that goes away, or does not speak HTTP, is not an error of the server.
                    let _ = converse((socket, patience), tls, answers, watcher).await;
                });
            }
            drop(listener);
            let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
        });
        runtime.shutdown_timeout(TICK);
    }
}

/// Answers the requests of one connection.
async fn converse(
    (socket, patience): (TcpStream, Duration),
    tls: Option<TlsAcceptor>,
    answers: Arc<Answers>,
    watcher: hyper_util::server::graceful::Watcher,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let service = service_fn(move |request| {
        let answers = Arc::clone(&answers);
        async move { Ok::<_, Infallible>(answers.answer(&request).await) }
    });
    let socket = Impatient::new(socket, patience);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(patience);
    let done = match tls {
        None => watcher.watch(http.serve_connection(TokioIo::new(socket), service)).await,
        Some(tls) => {
            let socket = tokio::time::timeout(patience, tls.accept(socket)).await??;
            watcher.watch(http.serve_connection(TokioIo::new(socket), service)).await
        }
    };
    done.map_err(io::Error::other)
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};

    use tokio::net::TcpSocket;

    use super::*;

    const SMALL: &[u8] = b"what a client reads";

    /// Serves a folder with a small and a large file, while `test` runs.
    fn serving(patience: Duration, test: impl FnOnce(SocketAddr)) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("small.root"), SMALL).unwrap();
        // It takes no space on the disk, and no socket holds it.
        let large = std::fs::File::create(folder.path().join("large.root")).unwrap();
        large.set_len(64 << 20).unwrap();
        let options = ServeOptions {
            roots: vec![folder.path().display().to_string()],
            host: "127.0.0.1".to_owned(),
            ..ServeOptions::default()
        };
        let server = Server { patience, ..Server::bind(&options, |_| ()).unwrap() };
        let (address, stop) = (server.address, AtomicBool::new(false));
        std::thread::scope(|threads| {
            threads.spawn(|| server.run(&stop));
            // The server has to stop if the test panics, too.
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(address)));
            stop.store(true, Ordering::Relaxed);
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    }

    /// Connects clients from an address of this machine, which ask for the large file and never read.
    fn silent(server: SocketAddr, last: u8, count: usize) -> Vec<TcpStream> {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let from = SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, last), 0);
        let client = || {
            let socket = runtime.block_on(async {
                let socket = TcpSocket::new_v4().unwrap();
                socket.set_recv_buffer_size(4096).unwrap();
                socket.bind(from.into()).unwrap();
                socket.connect(server).await.unwrap().into_std().unwrap()
            });
            // The server may have closed it.
            let _ = (&socket).write_all(b"GET /large.root HTTP/1.1\r\nHost: a\r\n\r\n");
            socket
        };
        (0..count).map(|_| client()).collect()
    }

    /// Returns the answer that a client of another address gets.
    fn answer(server: SocketAddr) -> Vec<u8> {
        let mut socket = TcpStream::connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let request = b"GET /small.root HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        socket.write_all(request).unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        answer
    }

    /// Returns whether the server has closed a connection.
    fn is_closed(client: &TcpStream) -> bool {
        match client.peek(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    #[test]
    fn others_go_on_while_clients_of_one_address_never_read() {
        serving(PATIENCE, |server| {
            let clients = silent(server, 2, 300);
            // It has connected after all of them, so that these are decided.
            assert!(answer(server).ends_with(SMALL));
            let closed = clients.iter().filter(|client| is_closed(client)).count();
            assert!(closed >= 300 - OF_CLIENT, "{closed}");
            assert!(answer(server).ends_with(SMALL));
        });
    }

    #[test]
    fn others_go_on_when_clients_of_many_addresses_never_read() {
        serving(Duration::from_secs(1), |server| {
            // They take all places that there are.
            let clients: Vec<_> = (2..5).flat_map(|last| silent(server, last, 100)).collect();
            assert!(clients.len() > CONNECTIONS);
            assert!(answer(server).ends_with(SMALL));
        });
    }
}
