//! Checks what a file says about itself: its header, its directories and its free space. ROOT refuses files where these
//! contradict each other, or does not show all of their objects.

use std::collections::{HashMap, HashSet};

use bstr::{BStr, BString};

use crate::cursor::Cursor;
use crate::error::{Error, Result, ResultExt};
use crate::fetch::read_one;
use crate::rootfile::directory::{self, Directory};
use crate::rootfile::file::{RootFile, has_keys, keys_range};
use crate::rootfile::free_segments::FreeSegment;
use crate::rootfile::key::KeyEntry;
use crate::rootfile::scan::{SHORTEST_RECORD, Scan, gap_at};

/// What lies in a file besides the objects that its directories list.
#[derive(Debug)]
pub struct Unlisted {
    /// The keys of the other objects.
    pub keys: Vec<KeyEntry>,
    /// The listed keys whose records have another name, with this name.
    pub renamed: Vec<(KeyEntry, BString)>,
    /// The byte where no record begins, though one ends there. What lies behind it was not looked at.
    pub lost: Option<u64>,
}

impl RootFile {
    /// Checks the directory records, the lists of keys and the list of free segments. Returns what is wrong.
    ///
    /// # Errors
    /// `Io`.
    pub fn check_container(&self) -> Result<Vec<Error>> {
        let mut wrong = Vec::new();
        if self.was_recovered() {
            return Ok(wrong);
        }
        let free = match self.free_segments() {
            Ok(free) => free,
            Err(error) if error.kind().is_damage() => {
                wrong.push(error);
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        wrong.extend(self.check_free(&free));
        let header = self.header();
        let (top, name) = (&self.0.top, u64::from(self.0.top.nbytes_name));
        if (name, top.seek, top.parent) != (u64::from(header.nbytes_name), header.begin, 0) {
            wrong.push(Error::out_of_spec(format!(
                "the record of the top directory says that it is {name} bytes behind its key at byte {} in a directory \
                 at byte {}; the header says {} bytes behind byte {}",
                top.seek, top.parent, header.nbytes_name, header.begin
            )));
        }
        let list = self.check_list(top, "", &free);
        wrong.extend(self.damage(list)?);
        let (keys, _) = self.list_all()?;
        for entry in keys.iter().filter(|key| key.is_directory()) {
            let found = self.check_directory(entry, &free).in_object(&entry.path);
            wrong.extend(self.damage(found)?);
        }
        Ok(wrong)
    }

    /// Goes through the records of the file, and returns the keys of objects that are not among the `listed` ones, and those
    /// that have another name there. Objects that an update wrote again are not returned: a key of this name, class and cycle
    /// is listed. A file that uproot changed keeps old records in its free segments, where nothing is looked for.
    ///
    /// # Errors
    /// `Io`.
    pub fn unlisted(&self, listed: &[KeyEntry]) -> Result<Unlisted> {
        let header = self.header();
        let mut free = match self.free_segments() {
            Err(error) if !error.kind().is_damage() => return Err(error),
            free => free.unwrap_or_default(),
        };
        free.sort_by_key(|gap| gap.first);
        let end = header.end.min(self.source().size());
        let scan = Scan::of(self.source(), header.begin..end, &free)?;
        let top = scan.keys().first().filter(|key| key.seek == header.begin);
        let top = top.map_or("", |key| &key.class);
        let lists = [self.0.top.seek_keys, header.seek_free, header.seek_info];
        let known: HashSet<u64> = listed.iter().map(|key| key.seek).chain(lists).collect();
        let names: HashSet<_> = listed.iter().map(identity).collect();
        // The key lists of the top directory have its class. RNTuple's own writer gives them none.
        let is_object = |key: &&KeyEntry| !key.class.is_empty() && key.class != top;
        let is_listed =
            |key: &KeyEntry| known.contains(&key.seek) || names.contains(&identity(key));
        let is_free = |key: &KeyEntry| gap_at(&free, key.end().saturating_sub(1)).is_some();
        let keys = scan.keys().iter().filter(is_object);
        let keys = keys.filter(|key| !is_listed(key) && !is_free(key));
        let keys = keys.cloned().collect();
        let own: HashMap<u64, &BString> =
            scan.keys().iter().map(|key| (key.seek, &key.name)).collect();
        let renamed = listed.iter().filter_map(|key| {
            let own = own.get(&key.seek).filter(|own| ***own != key.name)?;
            Some((key.clone(), (*own).clone()))
        });
        let renamed = renamed.collect();
        let left = end.saturating_sub(scan.end);
        let lost = (left >= SHORTEST_RECORD).then_some(scan.end);
        Ok(Unlisted { keys, renamed, lost })
    }

    /// Returns the error of a check, unless it concerns more than the file.
    fn damage(&self, checked: Result<()>) -> Result<Option<Error>> {
        match checked.in_file(self.name()) {
            Err(error) if error.kind().is_damage() => Ok(Some(error)),
            checked => checked.map(|()| None),
        }
    }

    fn check_free(&self, free: &[FreeSegment]) -> Option<Error> {
        let end = self.header().end;
        let last = free.last().map_or(0, |last| last.last);
        (last <= end).then(|| {
            Error::out_of_spec(format!(
                "the last free segment ends at byte {last}, and not behind the end of the file at byte {end}"
            ))
        })
    }

    fn check_directory(&self, entry: &KeyEntry, free: &[FreeSegment]) -> Result<()> {
        let start = entry.seek.saturating_add(entry.keylen.into());
        let end = self.source().size().min(start.saturating_add(Directory::MAX_SIZE));
        let record = read_one(self.source(), entry.seek.min(end)..end)?;
        let mut cursor = Cursor::new(&record, entry.seek);
        let own = KeyEntry::parse(&mut cursor)?;
        // Old versions of ROOT give the two keys different classes, and the record of the directory another parent.
        if !own.agrees_with(&KeyEntry { class: own.class.clone(), ..entry.clone() }) {
            return Err(cursor.error("the key of the directory differs from the one in the list"));
        }
        cursor.seek(entry.keylen.into())?;
        let directory = Directory::parse(&mut cursor)?;
        if (directory.seek, directory.nbytes_name) != (entry.seek, entry.keylen.into()) {
            return Err(Error::out_of_spec(format!(
                "its record says that its key has {} bytes at byte {}; its key says {} bytes at byte {}",
                directory.nbytes_name, directory.seek, entry.keylen, entry.seek
            )));
        }
        self.check_list(&directory, &entry.path, free)
    }

    /// Refuses a list with a key that belongs to another directory, and a list that is followed by the key of an object
    /// that is there: its number of keys is wrong. uproot leaves the keys of deleted objects there, whose space is free.
    fn check_list(&self, directory: &Directory, path: &str, free: &[FreeSegment]) -> Result<()> {
        if !has_keys(directory) {
            return Ok(());
        }
        let range = keys_range(directory, self.source().size(), "the directory")?;
        let record = read_one(self.source(), range.clone())?;
        let (keys, more) = directory::parse_list(&record, range.start, path)?;
        let wrong = |message: String| {
            Err(Error::out_of_spec(message).at(|place| place.offset = Some(range.start)))
        };
        if let Some(key) = keys.iter().find(|key| key.parent != directory.seek) {
            return wrong(format!(
                "the list of keys has {:?};{}, which says that it is in a directory at byte {}, and not at byte {}",
                key.name, key.cycle, key.parent, directory.seek
            ));
        }
        let is_there = |more: &KeyEntry| {
            let is_free = |gap: &FreeSegment| gap.first < more.end() && more.seek <= gap.last;
            let is_listed = keys.iter().any(|key| key.seek == more.seek);
            !is_listed && !free.iter().any(is_free) && self.is_at_its_place(more)
        };
        match more.filter(is_there) {
            Some(more) => wrong(format!(
                "the list of keys says that it has {} keys, and one more follows: {:?};{} at byte {}",
                keys.len(),
                more.name,
                more.cycle,
                more.seek
            )),
            None => Ok(()),
        }
    }

    /// Returns whether the record of a key is the one of its object, and of no other object that took its place.
    fn is_at_its_place(&self, key: &KeyEntry) -> bool {
        let strings = key.seek.saturating_add(key.keylen.into());
        let record = read_one(self.source(), key.seek..strings);
        let own = record.map(|record| KeyEntry::parse(&mut Cursor::new(&record, key.seek)));
        matches!(own, Ok(Ok(own)) if own.agrees_with(key) && own.name == key.name)
    }
}

/// Returns what tells a key from the others of a file.
fn identity(key: &KeyEntry) -> (u64, &BStr, &str, u16) {
    (key.parent, key.name.as_ref(), &key.class, key.cycle)
}
