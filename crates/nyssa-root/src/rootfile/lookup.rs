//! Goes through the directories of a file and finds keys in them by path.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{MutexGuard, PoisonError};

use crate::cursor::Cursor;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::fetch::read_all;
use crate::rootfile::directory::{self, Directory, Lists};
use crate::rootfile::file::{RootFile, has_keys, keys_range};
use crate::rootfile::key::KeyEntry;
use crate::rootfile::name;

/// The maximum depth of directories. A file with deeper directories is taken as damaged.
const MAX_DEPTH: usize = 64;

/// The number of names that an error lists when no name is similar to the requested name.
const LISTED_NAMES: usize = 5;

impl RootFile {
    /// Lists the keys of all directories. A directory comes before its contents. Each depth takes two
    /// requests.
    ///
    /// # Errors
    /// `OutOfSpecification` when a directory is damaged, was not closed, or lies inside itself.
    pub fn walk(&self) -> Result<Vec<KeyEntry>> {
        let (keys, lost) = self.list_all()?;
        lost.into_iter().next().map_or(Ok(keys), Err)
    }

    /// Lists the keys of all directories. A directory comes before its contents. Returns the keys, and an error for
    /// each directory that cannot be listed.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub fn list_all(&self) -> Result<(Vec<KeyEntry>, Vec<Error>)> {
        let mut contents: HashMap<u64, Vec<KeyEntry>> = HashMap::new();
        let mut lost = Vec::new();
        let mut seen = HashSet::from([self.0.top.seek]);
        let mut level: Vec<KeyEntry> = directories(&self.0.keys);
        for _ in 0..MAX_DEPTH {
            level.retain(|entry| {
                let new = seen.insert(entry.seek);
                lost.extend((!new).then(|| self.loop_error(entry)));
                new
            });
            if level.is_empty() {
                break;
            }
            let lists = self.list_each(&level, &mut lost)?;
            let next = lists.iter().flat_map(|list| directories(list)).collect();
            contents.extend(level.iter().map(|entry| entry.seek).zip(lists));
            level = next;
        }
        lost.extend(level.first().map(|entry| self.loop_error(entry)));
        let mut out = Vec::new();
        flatten(&self.0.keys, &mut contents, &mut out);
        Ok((out, lost))
    }

    /// Lists the keys of several directories. The error of a directory that cannot be listed is added to
    /// `lost`.
    fn list_each(&self, entries: &[KeyEntry], lost: &mut Vec<Error>) -> Result<Vec<Vec<KeyEntry>>> {
        match self.list(entries) {
            Err(error) if error.kind() != Kind::Io => {}
            lists => return lists,
        }
        let mut lists = Vec::new();
        for entry in entries {
            match self.list(std::slice::from_ref(entry)) {
                Ok(mut list) => lists.push(list.pop().unwrap_or_default()),
                Err(error) if error.kind() == Kind::Io => return Err(error),
                Err(error) => {
                    lost.push(error);
                    lists.push(Vec::new());
                }
            }
        }
        Ok(lists)
    }

    /// Finds the key of `path`: `dir/name` or `dir/name;cycle`. Without a cycle, it finds the newest cycle.
    ///
    /// Slashes separate directories, as in ROOT and uproot. The path of every listed key finds this key. If there is
    /// no such key, the part of the path after the deepest directory is taken literally as the name of a key, with
    /// its slashes and semicolons.
    ///
    /// # Errors
    /// `NotFound` with the nearest names; `InvalidArgument` when the cycle is not a number.
    pub fn find(&self, path: &str) -> Result<KeyEntry> {
        match self.look_up("", path)? {
            Some(entry) => Ok(entry),
            None => Err(self.missing(path.trim_matches('/'))),
        }
    }

    /// Finds the key of a path that starts in the directory `directory`, as `dir/name` or `dir/name;cycle`.
    /// `directory` is the path of a listed key, or empty at the top. Returns `None` if there is no such key.
    ///
    /// # Errors
    /// `OutOfSpecification` when a directory on the way is damaged; `Io` if the file cannot be read.
    pub fn look_up(&self, directory: &str, path: &str) -> Result<Option<KeyEntry>> {
        let mut keys = self.0.keys.clone();
        for part in directory.split('/').filter(|part| !part.is_empty()) {
            let directories = keys.iter().filter(|key| key.is_directory());
            let Some(directory) = newest_of(directories, part) else { return Ok(None) };
            keys = self.list_directory(directory)?;
        }
        self.look_up_in(&keys, path.trim_matches('/'), 0)
    }

    fn look_up_in(&self, keys: &[KeyEntry], path: &str, depth: usize) -> Result<Option<KeyEntry>> {
        if depth < MAX_DEPTH
            && let Some((first, below)) = path.split_once('/')
            && let directories = keys.iter().filter(|key| key.is_directory())
            && let Some(directory) = newest_of(directories, first)
            && let Some(entry) =
                self.look_up_in(&self.list_directory(directory)?, below, depth + 1)?
        {
            return Ok(Some(entry));
        }
        Ok(newest_of(keys.iter(), path).cloned())
    }

    /// Lists the keys of a directory.
    pub(super) fn list_directory(&self, directory: &KeyEntry) -> Result<Vec<KeyEntry>> {
        Ok(self.list(std::slice::from_ref(directory))?.pop().unwrap_or_default())
    }

    /// Lists the keys of several directories in two requests, and keeps the lists.
    fn list(&self, entries: &[KeyEntry]) -> Result<Vec<Vec<KeyEntry>>> {
        let listed = |entry: &KeyEntry| {
            self.lists().get(&entry.seek).filter(|(path, _)| *path == entry.path).cloned()
        };
        let known: Option<Vec<_>> = entries.iter().map(listed).collect();
        if let Some(known) = known {
            return Ok(known.into_iter().map(|(_, keys)| keys).collect());
        }
        let lists = self.list_directories(entries).in_file(self.name())?;
        for (entry, keys) in entries.iter().zip(&lists) {
            self.lists().insert(entry.seek, (entry.path.clone(), keys.clone()));
        }
        Ok(lists)
    }

    /// Returns whether directories that were listed name one record more than once.
    pub(super) fn is_listed_twice(&self, seek: u64) -> bool {
        let lists = self.lists();
        let below = lists.values().flat_map(|(_, keys)| keys);
        self.0.keys.iter().chain(below).filter(|key| key.seek == seek).nth(1).is_some()
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn list_directories(&self, entries: &[KeyEntry]) -> Result<Vec<Vec<KeyEntry>>> {
        let size = self.0.source.size();
        let ranges: Vec<Range<u64>> = entries
            .iter()
            .map(|entry| {
                let start = entry.seek.saturating_add(entry.keylen.into()).min(size);
                start..size.min(start + Directory::MAX_SIZE)
            })
            .collect();
        let records = read_all(&self.0.source, &ranges)?;
        let mut directories = Vec::new();
        for ((entry, range), record) in entries.iter().zip(&ranges).zip(&records) {
            let directory = Directory::parse(&mut Cursor::new(record, range.start));
            directories.push(directory.in_object(&entry.path)?);
        }
        let mut lists = Vec::new();
        for (entry, directory) in entries.iter().zip(&directories) {
            if has_keys(directory) {
                lists.push(keys_range(directory, size, "the directory").in_object(&entry.path)?);
            }
        }
        let mut records = lists.iter().zip(read_all(&self.0.source, &lists)?);
        let mut out = Vec::new();
        for (entry, directory) in entries.iter().zip(&directories) {
            let listed = if has_keys(directory) { records.next() } else { None };
            let keys = match listed {
                Some((range, record)) => directory::parse_keys(&record, range.start, &entry.path),
                None => self.scan_directory(entry, directory),
            };
            out.push(keys.in_object(&entry.path)?);
        }
        Ok(out)
    }

    /// Finds the keys of a directory that has no key list.
    fn scan_directory(&self, entry: &KeyEntry, directory: &Directory) -> Result<Vec<KeyEntry>> {
        let keys = self.scan()?.keys_in(entry.seek, &entry.path);
        // ROOT writes no list for a directory that stays empty.
        let is_stated = directory.seek_keys != 0 || directory.nbytes_keys != 0;
        if keys.is_empty() && is_stated && !self.was_recovered() {
            keys_range(directory, self.0.source.size(), "the directory")?;
        }
        Ok(keys)
    }

    fn loop_error(&self, entry: &KeyEntry) -> Error {
        Error::out_of_spec("directory lies inside itself, or is listed twice").at(|place| {
            place.file = Some(self.name().to_owned());
            place.object = Some(entry.path.clone());
            place.offset = Some(entry.seek);
        })
    }

    fn missing(&self, text: &str) -> Error {
        let keys = self.list_all().map_or_else(|_| self.0.keys.clone(), |(keys, _)| keys);
        let (path, cycle) = text.rsplit_once(';').unwrap_or((text, ""));
        let cycles: Vec<String> =
            keys.iter().filter(|key| key.path == path).map(|key| key.cycle.to_string()).collect();
        let error = if !cycles.is_empty() && cycle.parse::<u16>().is_err() {
            Error::invalid_argument(format!(
                "{cycle:?} in {text:?} is not a cycle: write name or name;number"
            ))
        } else if !cycles.is_empty() {
            let cycles = cycles.join(", ");
            Error::not_found(format!("{path:?} has no cycle {cycle}, only {cycles}"))
        } else {
            let names: Vec<&str> = keys.iter().map(|key| key.path.as_str()).collect();
            let message = format!("no {path:?} in this file");
            let error = Error::not_found(&*message).suggest(path, names.iter().copied());
            match error.suggestions() {
                [] => Error::not_found(message + &contents(&names)),
                _ => error,
            }
        };
        error.at(|place| place.file = Some(self.name().to_owned()))
    }
}

/// Lists the first few names of a file, as the end of an error message.
fn contents(names: &[&str]) -> String {
    let mut different: Vec<&str> = Vec::new();
    for name in names {
        if !different.contains(name) && different.len() <= LISTED_NAMES {
            different.push(name);
        }
    }
    let more = if different.len() > LISTED_NAMES { ", ..." } else { "" };
    let listed: Vec<String> =
        different.iter().take(LISTED_NAMES).map(|name| format!("{name:?}")).collect();
    if listed.is_empty() {
        return ", which is empty".to_owned();
    }
    format!("; it has {}{more}", listed.join(", "))
}

fn directories(keys: &[KeyEntry]) -> Vec<KeyEntry> {
    keys.iter().filter(|key| key.is_directory()).cloned().collect()
}

/// Sorts keys depth first: a directory comes before its contents.
fn flatten(keys: &[KeyEntry], contents: &mut HashMap<u64, Vec<KeyEntry>>, out: &mut Vec<KeyEntry>) {
    for key in keys {
        out.push(key.clone());
        if key.is_directory()
            && let Some(below) = contents.remove(&key.seek)
        {
            flatten(&below, contents, out);
        }
    }
}

/// Returns the key that a text means in a directory: a name with a cycle, or the newest cycle of a name. The name is
/// first read in the form of paths, and then literally.
fn newest_of<'k>(
    keys: impl Iterator<Item = &'k KeyEntry> + Clone,
    text: &str,
) -> Option<&'k KeyEntry> {
    let with_cycle = text
        .rsplit_once(';')
        .and_then(|(name, cycle)| cycle.parse::<u16>().ok().map(|cycle| (name, Some(cycle))));
    let readings = || with_cycle.into_iter().chain([(text, None)]);
    let escaped = readings().map(|(part, cycle)| (name::name_of(part), cycle));
    let mut all = escaped.chain(readings().map(|(part, cycle)| (part.into(), cycle)));
    all.find_map(|(name, cycle)| {
        let named = keys.clone().filter(|key| key.name == name);
        named.filter(|key| cycle.is_none_or(|cycle| cycle == key.cycle)).max_by_key(|key| key.cycle)
    })
}
