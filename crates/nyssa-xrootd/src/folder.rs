//! Requests the kind of a path, and the entries of a folder.

use std::collections::BTreeMap;
use std::io;

use super::client::{Question, Reached, Start, ask};
use super::connection::Connection;
use super::deadline::Deadline;
use super::failure::Failure;
use super::settings::{Settings, XrootdOptions};
use super::url::{Server, Url};
use super::wire::{ListEntry, Request, Stat, error_name, flags, parse_list, parse_located};

/// The largest number of bytes of the answer to `stat`.
const STAT: u64 = 16 << 10;
/// The largest number of bytes of a list.
const LIST: u64 = 256 << 20;
/// The largest number of levels of managers below managers.
const LEVELS: u32 = 8;

/// Returns the size, time and kind of the thing at a URL. Returns `None` if nothing is there.
///
/// # Errors
/// `InvalidInput` for a text that is not a URL of XRootD; an error of the server or of the connection.
pub fn stat(url: &str, options: &XrootdOptions) -> io::Result<Option<Stat>> {
    let (url, settings) = (Url::checked(url)?, Settings::new(options)?);
    stat_of(&url, &settings).map_err(Failure::into_io)
}

/// Returns the entries of the folder at a URL, on all servers that a manager knows.
///
/// # Errors
/// `InvalidInput` for a text that is not a URL of XRootD; an error of the server or of the connection.
pub fn list(url: &str, options: &XrootdOptions) -> io::Result<Vec<ListEntry>> {
    let (url, settings) = (Url::checked(url)?, Settings::new(options)?);
    list_of(&url, &settings).map_err(Failure::into_io)
}

/// Returns the size, time and kind of the thing at a path. Returns `None` if nothing is there.
pub(super) fn stat_of(url: &Url, settings: &Settings) -> Result<Option<Stat>, Failure> {
    let question = Question { request: &|path| Request::stat(path), room: STAT, reads: false };
    let deadline = Deadline::after(settings.request_timeout);
    match ask(url, &Start::default(), &question, settings, &deadline) {
        Ok(Reached { body, connection, .. }) => {
            Stat::parse(&body.bytes).map(Some).map_err(|what| connection.malformed(what))
        }
        Err(Failure::Refused { error, .. }) if error_name(error.code) == "kXR_NotFound" => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn list_of(url: &Url, settings: &Settings) -> Result<Vec<ListEntry>, Failure> {
    let mut lists = Lists { settings, entries: BTreeMap::new(), seen: Vec::new(), missing: None };
    lists.add(url, LEVELS)?;
    match lists.missing {
        // No server has the folder.
        Some(failure) if lists.seen.is_empty() => Err(failure),
        _ => Ok(lists.entries.into_values().collect()),
    }
}

/// The lists of one folder on several servers, while they are collected.
struct Lists<'l> {
    settings: &'l Settings,
    entries: BTreeMap<String, ListEntry>,
    /// The servers that have the folder.
    seen: Vec<Server>,
    /// The failure of a server that does not have the folder.
    missing: Option<Failure>,
}

impl Lists<'_> {
    /// Adds the entries on the servers of a URL.
    fn add(&mut self, url: &Url, levels: u32) -> Result<(), Failure> {
        let deadline = Deadline::after(self.settings.request_timeout);
        let first = url.servers.first().filter(|_| levels > 0);
        if let Some(first) = first
            && let Ok(connection) = super::pool::connection(first, self.settings, deadline.at)
            && only_manages(&connection)
        {
            return self.add_all(url, first, levels, &deadline);
        }
        let question =
            Question { request: &|path| Request::dirlist(path), room: LIST, reads: false };
        match ask(url, &Start::default(), &question, self.settings, &deadline) {
            Ok(Reached { body, connection, .. }) => {
                if self.seen.contains(&connection.server) {
                    return Ok(());
                }
                self.seen.push(connection.server.clone());
                let entries = parse_list(&body.bytes).map_err(|what| connection.malformed(what))?;
                let named = entries.into_iter().map(|entry| (entry.name.clone(), entry));
                self.entries.extend(named);
                Ok(())
            }
            Err(failure @ Failure::Refused { .. }) if is_missing(&failure) => {
                self.missing = Some(failure);
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Adds the entries on the servers of a manager.
    fn add_all(
        &mut self,
        url: &Url,
        manager: &Server,
        levels: u32,
        deadline: &Deadline,
    ) -> Result<(), Failure> {
        let all = |path: &str| Request::locate(&format!("*{path}"));
        let question = Question { request: &all, room: LIST, reads: false };
        let reached = ask(url, &Start::default(), &question, self.settings, deadline)?;
        for located in parse_located(&reached.body.bytes) {
            // A server whose address cannot be parsed cannot be reached.
            let Ok(mut server) = Server::parse(&located.place, manager.tls) else { continue };
            server.user.clone_from(&manager.user);
            let below = Url { servers: vec![server], ..url.clone() };
            self.add(&below, if located.is_manager { levels - 1 } else { 0 })?;
        }
        Ok(())
    }
}

/// Returns whether a server has no files itself.
fn only_manages(connection: &Connection) -> bool {
    connection.is_manager() && !connection.protocol.has(flags::IS_SERVER)
}

fn is_missing(failure: &Failure) -> bool {
    let Failure::Refused { error, .. } = failure else { return false };
    error_name(error.code) == "kXR_NotFound"
}
