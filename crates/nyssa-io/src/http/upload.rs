//! Sends a file to a storage system with WebDAV, where it appears when it is complete.
//!
//! The file is sent under another name in the same folder (`.NAME.*.part`), because some servers show a file
//! while it arrives. Then it gets its name (`MOVE`). A server without `MOVE` gets it under its name at once.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use ureq::http::Method;
use url::Url;

use super::client::{Client, Request};
use super::failure::Failure;
use super::options::HttpOptions;
use super::reply::Reply;
use super::resource::Address;
use super::retry::{Patience, retried};
use super::web::Web;
use crate::local::{LocalSink, Upload};
use crate::location::scheme;
use crate::protocol::only_reads;
use crate::staging::exists;
use crate::{EntryKind, Error, Result, Source};

/// The number of bytes that are read of the file at a time.
const READ_BYTES: u64 = 1 << 20;

/// Starts to write the file of a URL of the scheme `dav` or `davs`. It is a file on this machine, which is sent
/// when it is complete.
///
/// # Errors
/// `Unsupported` for other schemes, because other web servers rarely accept files; `AlreadyExists` without
/// `force`; `InvalidInput` for a URL without a name; an error of a request.
pub(super) fn create(url: &str, force: bool) -> Result<LocalSink> {
    let is_dav = |scheme: &str| ["dav", "davs"].iter().any(|dav| scheme.eq_ignore_ascii_case(dav));
    if !scheme(url).is_some_and(|(scheme, _)| is_dav(scheme)) {
        return Err(only_reads(url));
    }
    let web = Web::parse(url)?;
    let name = web.name().to_owned();
    let options = HttpOptions::from_env();
    let upload = options.and_then(|options| WebUpload::new(web, options, force));
    let upload = upload.map_err(|error| Error::new(&name, "create", error))?;
    LocalSink::upload(name, Box::new(upload))
}

/// An upload that has not begun.
struct WebUpload {
    web: Web,
    client: Arc<Client>,
    options: HttpOptions,
    /// Whether an existing file is replaced.
    force: bool,
}

impl WebUpload {
    /// Prepares an upload.
    fn new(web: Web, options: HttpOptions, force: bool) -> io::Result<Self> {
        let url = web.request(Method::PUT)?.url;
        if url.path().ends_with('/') {
            let why = "it is the name of a folder, not of a file";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        let upload = Self { web, client: Client::of(&options), options, force };
        if !force && upload.is_there()? {
            return Err(exists());
        }
        Ok(upload)
    }

    /// Returns whether the server has a file of this name.
    fn is_there(&self) -> io::Result<bool> {
        match self.web.kind() {
            Ok(Some(EntryKind::Folder)) => {
                Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder, not a file"))
            }
            Ok(kind) => Ok(kind.is_some()),
            // This server has only a part of WebDAV.
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                let request = self.web.request(Method::HEAD)?;
                retried(self.patience(), || {
                    let reply = self.client.send(&request)?;
                    match reply.status {
                        200..=299 => Ok(true),
                        404 | 410 => Ok(false),
                        _ => Err(reply.failure()),
                    }
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the rule for repeating a request that fails.
    fn patience(&self) -> Patience {
        Patience::new(self.options.deadline, true)
    }

    /// Makes a request for a URL until it succeeds. `send` sends it.
    fn ask(
        &self,
        method: &Method,
        url: &Url,
        headers: &[(&'static str, String)],
        send: impl Fn(&Client, &Request) -> std::result::Result<Reply, Failure>,
    ) -> io::Result<Reply> {
        retried(self.patience(), || {
            let request = self.web.request(method.clone());
            let mut request =
                request.map_err(|error| Failure::of(error.kind(), error.to_string()))?;
            request.move_to(url.clone());
            request.headers.extend(headers.iter().cloned());
            let reply = send(&self.client, &request)?;
            match reply.status {
                200..=399 => Ok(reply),
                412 => {
                    let error = exists();
                    Err(Failure::of(error.kind(), error.to_string()))
                }
                405 | 501 => {
                    let failure = reply.failure();
                    Err(Failure { kind: ErrorKind::Unsupported, ..failure })
                }
                _ => Err(reply.failure()),
            }
        })
    }

    /// Asks for the URL to which the server wants the bytes of a file, by sending a file without bytes. A
    /// server that redirects would end the connection on which a long file arrives.
    fn place(&self, url: &Url) -> io::Result<Url> {
        let length = [("content-length", "0".to_owned())];
        let reply =
            self.ask(&Method::PUT, url, &length, |client, request| client.send_once(request))?;
        let location = reply.header("location").filter(|_| reply.status >= 300);
        let place = location.map(|location| Client::target(url, location)).transpose();
        let place = place.map_err(|failure| io::Error::new(failure.kind, failure.reason))?;
        reply.finish();
        match place {
            Some(place) => Ok(place),
            None => {
                // Some servers do not replace a file.
                self.remove(url);
                Ok(url.clone())
            }
        }
    }

    /// Sends the file to a URL.
    fn send(&self, url: &Url, file: &dyn Source) -> io::Result<()> {
        let place = self.place(url)?;
        self.send_to(&place, file)
    }

    /// Sends the file to a URL that does not redirect.
    fn send_to(&self, url: &Url, file: &dyn Source) -> io::Result<()> {
        let length = [("content-length", file.size().to_string())];
        let sent = self.ask(&Method::PUT, url, &length, |client, request| {
            client.send_file(request, &mut || Body { file, place: 0 })
        });
        sent.map(Reply::finish)
    }

    /// Sends the file to its own name, for a server that cannot move files.
    fn send_at_once(&self, own: &Url, file: &dyn Source) -> io::Result<()> {
        let is_new = !self.is_there()?;
        if !is_new && !self.force {
            return Err(exists());
        }
        // A part of a new file may be there. An old file is left to the server.
        self.send_to(own, file).inspect_err(|_| {
            if is_new {
                self.remove(own)
            }
        })
    }

    /// Removes the file that was sent, if there is one.
    fn remove(&self, url: &Url) {
        if let Ok(mut request) = self.web.request(Method::DELETE) {
            request.move_to(url.clone());
            let _ = self.client.send(&request).map(Reply::finish);
        }
    }

    /// Sends the file under another name, and then gives it its own name.
    fn send_and_move(&self, file: &dyn Source) -> io::Result<()> {
        let own = self.web.request(Method::PUT)?.url;
        let part = beside(&own);
        self.send(&part, file).inspect_err(|_| self.remove(&part))?;
        let headers = [
            ("destination", own.to_string()),
            ("overwrite", if self.force { "T" } else { "F" }.to_owned()),
        ];
        // Not all servers support `Overwrite`.
        let is_free = if self.force { Ok(true) } else { self.is_there().map(|there| !there) };
        let moved = is_free.and_then(|is_free| match is_free {
            true => {
                let method = Method::from_bytes(b"MOVE").unwrap_or_default();
                let send = |client: &Client, request: &Request| client.send(request);
                self.ask(&method, &part, &headers, send).map(Reply::finish)
            }
            false => Err(exists()),
        });
        let Err(error) = moved else { return Ok(()) };
        self.remove(&part);
        match error.kind() {
            ErrorKind::Unsupported => self.send_at_once(&own, file),
            _ => Err(error),
        }
    }
}

impl Upload for WebUpload {
    fn upload(self: Box<Self>, file: &dyn Source) -> io::Result<()> {
        self.send_and_move(file).map_err(|error| match self.web.advice(error.kind()) {
            Some(advice) => io::Error::new(error.kind(), format!("{error}; {advice}")),
            None => error,
        })
    }
}

/// Returns the URL for a file that is not complete.
fn beside(own: &Url) -> Url {
    let (folder, name) = own.path().rsplit_once('/').unwrap_or(("", own.path()));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let number = now.map_or(0, |now| now.as_nanos() as u64) ^ u64::from(std::process::id()) << 40;
    let mut part = own.clone();
    part.set_path(&format!("{folder}/.{name}.{number:016x}.part"));
    part
}

/// A reader of a file from its start.
struct Body<'a> {
    file: &'a dyn Source,
    place: u64,
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.file.size() - self.place;
        let length = left.min(READ_BYTES).min(buffer.len() as u64);
        let bytes = self.file.read_range(self.place..self.place + length);
        let bytes = bytes.map_err(|error| error.source)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.place += length;
        Ok(bytes.len())
    }
}
