//! Runs an HTTP server that gives the answers of a test, also wrong ones.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::{HttpOptions, OpenOptions};

/// The time for which an answer is stuck, which is longer than any test.
const STUCK: Duration = Duration::from_secs(60);

/// Returns options by which a fault of a server ends soon.
pub fn impatient() -> OpenOptions {
    let http = HttpOptions {
        timeout: Duration::from_millis(400),
        connect_timeout: Duration::from_millis(400),
        deadline: Duration::from_millis(1500),
        ..HttpOptions::default()
    };
    OpenOptions { http: Some(http), ..OpenOptions::default() }
}

/// A request that came to a [`WebServer`].
#[derive(Clone, Debug, Default)]
pub struct WebRequest {
    /// The method, `GET` for example.
    pub method: String,
    /// The path with the query.
    pub target: String,
    /// The lines of the headers as they were received.
    pub lines: Vec<String>,
    /// The names in lower case, and the values.
    pub headers: Vec<(String, String)>,
    /// The body, as long as the request states.
    pub body: Vec<u8>,
}

impl WebRequest {
    /// Returns a header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the ranges of a request for more than one range.
    pub fn ranges(&self, size: u64) -> Option<Vec<Range<u64>>> {
        let all = self.header("range")?.strip_prefix("bytes=")?;
        let range = |text: &str| {
            let (first, last) = text.split_once('-')?;
            let end = last.parse::<u64>().ok()?.checked_add(1).filter(|&end| end <= size)?;
            first.parse::<u64>().ok().filter(|&first| first < end).map(|first| first..end)
        };
        all.contains(',').then(|| all.split(',').map(range).collect())?
    }

    /// Returns the range of a request for one range of `size` bytes.
    pub fn range(&self, size: u64) -> Option<Range<u64>> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        if first.is_empty() {
            return Some(size.saturating_sub(last.parse().ok()?)..size);
        }
        let end = last.parse::<u64>().map_or(size, |last| size.min(last + 1));
        first.parse::<u64>().ok().filter(|&first| first < end).map(|first| first..end)
    }
}

/// The text that separates the parts of answers with several ranges.
const BOUNDARY: &str = "BOUNDARY";

/// The answer of a [`WebServer`].
#[derive(Clone, Debug, Default)]
pub struct WebAnswer {
    /// The status, such as 206.
    pub status: u16,
    /// The headers. `Content-Length` is the length of the body unless it is among them.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The time that the server waits before it answers.
    pub delay: Duration,
    /// The number of bytes of the body after which the server ends the connection.
    pub cut: Option<usize>,
    /// The number of bytes of the body after which the server sends nothing more for a while.
    pub stuck: Option<usize>,
    /// Whether the server ends after this answer: it closes its connections, and accepts no more.
    pub last: bool,
}

impl WebAnswer {
    /// Makes an answer with a status and a text.
    pub fn status(status: u16, body: &str) -> Self {
        Self { status, body: body.as_bytes().to_vec(), ..Self::default() }
    }

    /// Returns the answer of a server without faults to a request for one range of `content`, or for all of it.
    pub fn of(request: &WebRequest, content: &[u8]) -> Self {
        let size = content.len() as u64;
        let etag = ("ETag", "\"one\"".to_owned());
        if request.header("range").is_none() {
            return Self {
                status: 200,
                headers: vec![etag],
                body: content.to_vec(),
                ..Self::default()
            };
        }
        if let Some(ranges) = request.ranges(size) {
            return Self::several(&ranges, content);
        }
        let Some(range) = request.range(size) else {
            let headers = vec![("Content-Range", format!("bytes */{size}"))];
            return Self { status: 416, headers, ..Self::default() };
        };
        let body = content[range.start as usize..range.end as usize].to_vec();
        let place = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
        let headers = vec![etag, ("Content-Range", place)];
        Self { status: 206, headers, body, ..Self::default() }
    }

    /// Returns the answer of a server without faults to a request for several ranges.
    pub fn several(ranges: &[Range<u64>], content: &[u8]) -> Self {
        let mut body = Vec::new();
        for range in ranges {
            let (start, end, size) = (range.start, range.end, content.len());
            let place = format!("Content-Range: bytes {start}-{}/{size}", end.saturating_sub(1));
            let head = format!("\r\n--{BOUNDARY}\r\nContent-Type: x/y\r\n{place}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(&content[start as usize..end as usize]);
        }
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let kind = format!("multipart/byteranges; boundary={BOUNDARY}");
        let headers = vec![("ETag", "\"one\"".to_owned()), ("Content-Type", kind)];
        Self { status: 206, headers, body, ..Self::default() }
    }

    /// Returns the same answer with another value of a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(key, _)| *key != name);
        self.headers.push((name, value.into()));
        self
    }
}

/// A server on this machine. It answers each connection on a thread, one request after the other, until the
/// process ends.
pub struct WebServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<WebRequest>>>,
    connections: Arc<AtomicUsize>,
    scheme: &'static str,
}

type Answers = dyn Fn(&WebRequest, usize) -> WebAnswer + Send + Sync;

impl WebServer {
    /// Starts a server. `answer` is called with each request and the number of requests before it.
    ///
    /// # Errors
    /// The server cannot listen.
    pub fn start(
        answer: impl Fn(&WebRequest, usize) -> WebAnswer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::start_with(None, answer)
    }

    /// Starts a server as [`WebServer::start`] does, with TLS.
    ///
    /// # Errors
    /// The server cannot listen.
    pub fn start_with_tls(
        tls: Arc<ServerConfig>,
        answer: impl Fn(&WebRequest, usize) -> WebAnswer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::start_with(Some(tls), answer)
    }

    fn start_with(
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&WebRequest, usize) -> WebAnswer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let requests = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let (seen, answer): (_, Arc<Answers>) = (Arc::clone(&requests), Arc::new(answer));
        let ended = Arc::new(AtomicBool::new(false));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                count.fetch_add(1, Ordering::Relaxed);
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                let (tls, ended) = (tls.clone(), Arc::clone(&ended));
                thread::spawn(move || {
                    serve(&stream, tls, &seen, answer.as_ref(), &ended);
                    let _ = stream.shutdown(Shutdown::Both);
                    if ended.load(Ordering::Relaxed) {
                        // This wakes the thread that waits for connections.
                        let _ = TcpStream::connect(address);
                    }
                });
            }
        });
        Ok(Self { address, requests, connections, scheme })
    }

    /// Makes a server of `content` that has no faults.
    ///
    /// # Errors
    /// The server cannot listen.
    pub fn of(content: Vec<u8>) -> io::Result<Self> {
        Self::start(move |request, _| WebAnswer::of(request, &content))
    }

    /// Returns the URL of a path of the server.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// Returns the host and the port.
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Returns the number of connections that were made.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns the requests, in the order in which they were received.
    pub fn requests(&self) -> Vec<WebRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets the requests so far.
    pub fn reset(&self) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A connection, with TLS or without.
trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn serve(
    stream: &TcpStream,
    tls: Option<Arc<ServerConfig>>,
    seen: &Mutex<Vec<WebRequest>>,
    answer: &Answers,
    ended: &AtomicBool,
) {
    let Ok(plain) = stream.try_clone() else { return };
    // Without this the system would wait for more data before it sends.
    let _ = stream.set_nodelay(true);
    let line: Box<dyn Stream> = match tls.map(ServerConnection::new) {
        None => Box::new(plain),
        Some(Ok(session)) => Box::new(StreamOwned::new(session, plain)),
        Some(Err(_)) => return,
    };
    let mut line = BufReader::new(line);
    while let Some(request) = read(&mut line) {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let number = {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(request.clone());
            seen.len() - 1
        };
        let answer = answer(&request, number);
        thread::sleep(answer.delay);
        let written = write(line.get_mut(), &request, &answer);
        ended.fetch_or(answer.last, Ordering::Relaxed);
        if answer.stuck.is_some() {
            thread::sleep(STUCK);
        }
        if written.is_err() || answer.last || answer.cut.or(answer.stuck).is_some() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<WebRequest> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ').map(str::to_owned);
    let mut request =
        WebRequest { method: words.next()?, target: words.next()?, ..WebRequest::default() };
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(':') else { break };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        request.lines.push(line.clone());
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    reader.take(length.unwrap_or(0)).read_to_end(&mut request.body).ok()?;
    Some(request)
}

fn write(writer: &mut impl Write, request: &WebRequest, answer: &WebAnswer) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} x\r\n", answer.status);
    if !answer.headers.iter().any(|(name, _)| *name == "Content-Length") {
        head.push_str(&format!("Content-Length: {}\r\n", answer.body.len()));
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    writer.write_all(head.as_bytes())?;
    if request.method != "HEAD" {
        let length =
            answer.cut.or(answer.stuck).unwrap_or(answer.body.len()).min(answer.body.len());
        writer.write_all(&answer.body[..length])?;
    }
    writer.flush()
}
