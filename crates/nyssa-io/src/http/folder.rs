//! Lists folders of servers with WebDAV (`PROPFIND`).
//!
//! Pages that web servers make for people are not read. Each server writes them in its own way, and they may
//! leave out files.

use std::io::{self, ErrorKind};

use ureq::http::Method;

use super::client::{Client, Request};
use super::failure::Failure;
use super::multistatus::{self, Named};
use super::options::HttpOptions;
use super::resource::Address;
use super::retry::{Patience, retried};
use super::web::Web;
use crate::{EntryKind, FolderEntry};

/// The largest number of bytes of a list.
const LIST_BYTES: u64 = 64 << 20;

impl Web {
    /// Returns the entries of this folder.
    pub(super) fn list(&self) -> io::Result<Vec<FolderEntry>> {
        let (own, named) = self.properties("1", true)?;
        // A server behind another one may use other paths. The shortest of them is the folder itself.
        let is_own = |path: &str| named.iter().any(|named| named.path == path);
        let shortest = || named.iter().map(|named| &named.path).min_by_key(|path| path.len());
        let folder = if is_own(&own) { Some(&own) } else { shortest() };
        let Some(folder) = folder else { return Ok(Vec::new()) };
        if named.iter().any(|named| named.path == *folder && !named.is_folder) {
            return Err(io::Error::new(ErrorKind::NotADirectory, "it is not a folder"));
        }
        let start = format!("{}/", folder.trim_end_matches('/'));
        let entry = |named: &Named| {
            let name = named.path.strip_prefix(&start).filter(|name| !name.is_empty())?;
            let kind = if named.is_folder { EntryKind::Folder } else { EntryKind::File };
            // A URL with it would lead out of the folder.
            let is_outside = name
                .split('/')
                .any(|part| matches!(&*part.to_ascii_lowercase().replace("%2e", "."), "." | ".."));
            let why = format!("the server lists the name {name}, which no URL can have");
            Some(match is_outside {
                true => Err(io::Error::new(ErrorKind::InvalidData, why)),
                false => Ok(FolderEntry { name: name.into(), kind }),
            })
        };
        named.iter().filter_map(entry).collect()
    }

    /// Returns the kind of the thing that the URL names.
    pub(super) fn kind(&self) -> io::Result<Option<EntryKind>> {
        match self.properties("0", false) {
            Ok((_, named)) => Ok(named.first().map(|named| match named.is_folder {
                true => EntryKind::Folder,
                false => EntryKind::File,
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks for the properties of the thing that the URL names, and with the depth `1` also for the properties of
    /// its entries. Returns the path of the URL and the things in the answer.
    fn properties(&self, depth: &str, is_folder: bool) -> io::Result<(String, Vec<Named>)> {
        let options = HttpOptions::from_env()?;
        let client = Client::of(&options);
        let mut own = String::new();
        let named = retried(Patience::new(options.deadline, false), || {
            let propfind = Method::from_bytes(b"PROPFIND").unwrap_or_default();
            let request = self.request(propfind);
            let mut request =
                request.map_err(|error| Failure::of(error.kind(), error.to_string()))?;
            let path = request.url.path().trim_end_matches("/.").to_owned();
            match is_folder && !path.ends_with('/') {
                true => request.url.set_path(&format!("{path}/")),
                false => request.url.set_path(&path),
            }
            own = multistatus::path(request.url.path());
            request.headers.push(("depth", depth.to_owned()));
            properties(&client, &request)
        })?;
        Ok((own, named))
    }
}

fn properties(client: &Client, request: &Request) -> std::result::Result<Vec<Named>, Failure> {
    let reply = client.send(request)?;
    let unsupported = "the server cannot list folders, because it has no WebDAV; name each file, \
                       or write the names into a text file and name it as @LIST";
    match reply.status {
        207 => {
            let body = reply.read_all(LIST_BYTES)?;
            let odd =
                || Failure::answer("the server sent an answer that is not a list of a folder");
            multistatus::parse(&String::from_utf8_lossy(&body)).ok_or_else(odd)
        }
        // Servers without WebDAV refuse the method, or answer as if it were another one.
        200..=299 | 400 | 405 | 501 => Err(Failure::of(ErrorKind::Unsupported, unsupported)),
        _ => Err(reply.failure()),
    }
}
