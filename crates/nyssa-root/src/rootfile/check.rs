//! Checks the structure of a file: its header, its directories and its free space. ROOT refuses files where these
//! contradict each other, or does not show all of their objects.

use std::collections::{HashMap, HashSet};

use bstr::{BStr, BString};

use crate::compression::decompress_to_vec;
use crate::cursor::Cursor;
use crate::error::{Error, Result, ResultExt};
use crate::fetch::read_one;
use crate::rootfile::directory::{self, Directory};
use crate::rootfile::file::{RootFile, decompress_record, has_keys, keys_range};
use crate::rootfile::free_segments::FreeSegment;
use crate::rootfile::key::KeyEntry;
use crate::rootfile::scan::{INFO_CLASS, SHORTEST_RECORD, Scan, gap_at};

/// The content of a file besides the objects that its directories list.
#[derive(Debug)]
pub struct Unlisted {
    /// The keys of objects that no directory lists.
    pub keys: Vec<KeyEntry>,
    /// The listed keys whose records have another name, and this name.
    pub renamed: Vec<(KeyEntry, BString)>,
    /// The listed keys whose records have another title, and this title.
    pub retitled: Vec<(KeyEntry, BString)>,
    /// The byte where a record ends, but no record begins. The bytes behind it were not checked.
    pub lost: Option<u64>,
}

impl RootFile {
    /// Checks the directory records, the lists of keys and the list of free segments. Returns the problems.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
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
        for checked in [self.check_top_record(), self.check_infos()] {
            wrong.extend(self.damage(checked)?);
        }
        let list = self.check_list(top, None, &free);
        wrong.extend(self.damage(list)?);
        let (keys, _) = self.list_all()?;
        wrong.extend(self.damage(self.check_end(&keys))?);
        for entry in keys.iter().filter(|key| key.is_directory()) {
            let checked = self.check_directory(entry, &free).in_object(&entry.path);
            wrong.extend(self.damage(checked)?);
        }
        Ok(wrong)
    }

    /// Goes through the records of the file, and returns the keys of objects that are not among the `listed` ones,
    /// and those that have another name there. Objects that an update wrote again are not returned: a key of this
    /// name, class and cycle is listed. A file that uproot changed keeps old records in its free segments, which are
    /// not searched.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
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
        let renamed = differing(listed, scan.keys(), |key| &key.name);
        let retitled = differing(listed, scan.keys(), |key| &key.title);
        let left = end.saturating_sub(scan.end);
        let lost = (left >= SHORTEST_RECORD).then_some(scan.end);
        Ok(Unlisted { keys, renamed, retitled, lost })
    }

    /// Returns the error of a check. An error that concerns more than the file ends the checks.
    fn damage(&self, checked: Result<()>) -> Result<Option<Error>> {
        match checked.in_file(self.name()) {
            Err(error) if error.kind().is_damage() => Ok(Some(error)),
            checked => checked.map(|()| None),
        }
    }

    /// Refuses records behind the end of the file that its header states: an update would write over them.
    pub(super) fn check_end(&self, keys: &[KeyEntry]) -> Result<()> {
        let (header, top) = (self.header(), &self.0.top);
        let lists = [
            ("the list of keys", top.seek_keys, top.nbytes_keys),
            ("the list of streamer infos", header.seek_info, header.nbytes_info),
            ("the list of free segments", header.seek_free, header.nbytes_free),
        ];
        let lists = lists.map(|(name, seek, size)| (name, seek.saturating_add(size.into())));
        let objects = keys.iter().map(|key| (key.path.as_str(), key.end()));
        let size = self.source().size();
        let is_behind = |(_, end): &(&str, u64)| (header.end + 1..=size).contains(end);
        match lists.into_iter().chain(objects).find(is_behind) {
            None => Ok(()),
            Some((name, end)) => Err(Error::out_of_spec(format!(
                "the header says that the file ends at byte {}, but {name} ends at byte {end}",
                header.end
            ))),
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

    /// Checks the record of the file itself: its key, the name and the title, and then the top directory.
    fn check_top_record(&self) -> Result<()> {
        let (seek, size) = (self.header().begin, self.header().nbytes_name);
        let end = seek.saturating_add(size.into()).min(self.source().size());
        let record = read_one(self.source(), seek..end)?;
        let own = parse_own(&record, seek)?;
        let mut cursor = Cursor::new(&record, seek);
        let start = cursor.clone();
        let mut skip_names = || {
            cursor.seek(own.keylen.into())?;
            cursor.root_bytes()?;
            cursor.root_bytes().map(drop)
        };
        if skip_names().is_err() {
            return Err(
                start.error("the name and the title of the file end behind its top directory")
            );
        }
        if cursor.remaining().is_empty() {
            return Ok(());
        }
        Err(cursor.error(format!(
            "the name and the title of the file end {} bytes before its top directory",
            cursor.remaining().len()
        )))
    }

    /// Refuses a list of streamer infos whose key has another class: ROOT does not open such a file.
    fn check_infos(&self) -> Result<()> {
        let Some(record) = self.info_record()? else { return Ok(()) };
        let seek = self.header().seek_info;
        let own = parse_own(&record, seek)?;
        if own.class == INFO_CLASS {
            return Ok(());
        }
        Err(Cursor::new(&record, seek).error(format!(
            "the key of the streamer infos says that they are a {:?}, and not a {INFO_CLASS}",
            own.class
        )))
    }

    /// Reads and decompresses the object of a key, and checks all statements of the key of its record.
    ///
    /// # Errors
    /// `OutOfSpecification` when the record lies beyond the file, the key states another place or size, or the
    /// compressed data is damaged.
    pub fn check_object(&self, entry: &KeyEntry) -> Result<()> {
        let record = self.record(entry).and_then(|record| {
            parse_own(&record, entry.seek)?;
            decompress_record(&record, entry, decompress_to_vec)
        });
        record.map(drop).in_file(self.name()).in_object(&entry.path)
    }

    fn check_directory(&self, entry: &KeyEntry, free: &[FreeSegment]) -> Result<()> {
        let start = entry.seek.saturating_add(entry.keylen.into());
        let end = self.source().size().min(start.saturating_add(Directory::MAX_SIZE));
        let record = read_one(self.source(), entry.seek.min(end)..end)?;
        let mut cursor = Cursor::new(&record, entry.seek);
        let own = parse_own(&record, entry.seek)?;
        // Old versions of ROOT give the two keys different classes, and the record of the directory another parent.
        let same_class = KeyEntry { class: own.class.clone(), ..entry.clone() };
        if !own.is_directory() || !own.agrees_with(&same_class) {
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
        self.check_list(&directory, Some(entry), free)
    }

    /// Refuses a list with a key that belongs to another directory, and a list that is followed by the key of an
    /// existing object: its number of keys is wrong. uproot leaves the keys of deleted objects there, whose space is
    /// free. `entry` is the key of the directory, if it is not the top directory.
    fn check_list(
        &self,
        directory: &Directory,
        entry: Option<&KeyEntry>,
        free: &[FreeSegment],
    ) -> Result<()> {
        if !has_keys(directory) {
            let keys = self.scan()?.keys_in(directory.seek, "").len();
            // ROOT writes no list for a directory that stays empty.
            return match keys {
                0 => Ok(()),
                keys => Err(Error::out_of_spec(format!(
                    "the directory has no list of keys, so that ROOT does not show the {keys} objects in it"
                ))),
            };
        }
        let range = keys_range(directory, self.source().size(), "the directory")?;
        let record = read_one(self.source(), range.clone())?;
        let path = entry.map_or("", |entry| &entry.path);
        let (keys, more) = directory::parse_list(&record, range.start, path)?;
        let wrong = |message: String| {
            Err(Error::out_of_spec(message).at(|place| place.offset = Some(range.start)))
        };
        let mut places = HashMap::from([(directory.seek, true)]);
        let mut is_of_others = |key: &&KeyEntry| {
            let place = places.entry(key.parent);
            !*place.or_insert_with(|| entry.is_some_and(|entry| self.was_at(entry, key.parent)))
        };
        if let Some(key) = keys.iter().find(|key| is_of_others(key)) {
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

    /// Returns whether the record of a directory was at byte `seek` before an update wrote it anew. The keys of its
    /// objects still name this place.
    fn was_at(&self, entry: &KeyEntry, seek: u64) -> bool {
        // The former key is not longer: it has the same texts, and 32-bit positions if the new one has them.
        let record = read_one(self.source(), seek..seek.saturating_add(entry.keylen.into()));
        let former = record.map(|record| KeyEntry::parse(&mut Cursor::new(&record, seek)));
        matches!(former, Ok(Ok(key)) if key.is_directory() && key.seek == seek && key.name == entry.name)
    }

    /// Returns whether the record of a key belongs to its object, and not to another object that took its place.
    fn is_at_its_place(&self, key: &KeyEntry) -> bool {
        let strings = key.seek.saturating_add(key.keylen.into());
        let record = read_one(self.source(), key.seek..strings);
        let own = record.map(|record| KeyEntry::parse(&mut Cursor::new(&record, key.seek)));
        matches!(own, Ok(Ok(own)) if own.agrees_with(key) && own.name == key.name)
    }
}

/// Returns the `listed` keys whose text differs from their record among `scanned`, with the text of the record.
fn differing(
    listed: &[KeyEntry],
    scanned: &[KeyEntry],
    text: impl Fn(&KeyEntry) -> &BString,
) -> Vec<(KeyEntry, BString)> {
    let own: HashMap<u64, &BString> = scanned.iter().map(|key| (key.seek, text(key))).collect();
    let differing = listed.iter().filter_map(|key| {
        let own = own.get(&key.seek).filter(|own| **own != text(key))?;
        Some((key.clone(), (*own).clone()))
    });
    differing.collect()
}

/// Parses the key of a record. Refuses a key whose place or length differs from its record.
fn parse_own(record: &[u8], seek: u64) -> Result<KeyEntry> {
    let start = Cursor::new(record, seek);
    let own = KeyEntry::parse_whole(&mut start.clone())?;
    if own.seek == seek {
        return Ok(own);
    }
    Err(start.error(format!(
        "the key of {:?} at byte {seek} says that it is at byte {}",
        own.name, own.seek
    )))
}

/// Returns the fields that distinguish a key from the other keys of a file.
fn identity(key: &KeyEntry) -> (u64, &BStr, &str, u16) {
    (key.parent, key.name.as_ref(), &key.class, key.cycle)
}
