//! Checks what a file says about itself: its header, its directories and its free space. ROOT refuses files where these
//! contradict each other, or does not show all of their objects.

use crate::cursor::Cursor;
use crate::error::{Error, Result, ResultExt};
use crate::fetch::read_one;
use crate::rootfile::directory::{self, Directory};
use crate::rootfile::file::{RootFile, has_keys, keys_range};
use crate::rootfile::free_segments::FreeSegment;
use crate::rootfile::key::KeyEntry;

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
        let hidden = self.hidden_key(top, "", &free);
        wrong.extend(self.damage(hidden)?);
        let (keys, _) = self.list_all()?;
        for entry in keys.iter().filter(|key| key.is_directory()) {
            let found = self.check_directory(entry, &free).in_object(&entry.path);
            wrong.extend(self.damage(found)?);
        }
        Ok(wrong)
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
        let record = read_one(self.source(), start.min(end)..end)?;
        let directory = Directory::parse(&mut Cursor::new(&record, start))?;
        if (directory.seek, directory.nbytes_name) != (entry.seek, entry.keylen.into())
            || directory.parent != entry.parent
        {
            return Err(Error::out_of_spec(format!(
                "its record says that its key has {} bytes at byte {} in a directory at byte {}; its key says {} bytes \
                 at byte {} in a directory at byte {}",
                directory.nbytes_name,
                directory.seek,
                directory.parent,
                entry.keylen,
                entry.seek,
                entry.parent
            )));
        }
        self.hidden_key(&directory, &entry.path, free)
    }

    /// Refuses a list of keys that is followed by the key of an object that is there: its number of keys is wrong. uproot
    /// leaves the keys of deleted objects there, whose space is free.
    fn hidden_key(&self, directory: &Directory, path: &str, free: &[FreeSegment]) -> Result<()> {
        if !has_keys(directory) {
            return Ok(());
        }
        let range = keys_range(directory, self.source().size(), "the directory")?;
        let record = read_one(self.source(), range.clone())?;
        let (keys, Some(more)) = directory::parse_list(&record, range.start, path)? else {
            return Ok(());
        };
        let is_free = |gap: &FreeSegment| gap.first < more.end() && more.seek <= gap.last;
        let is_listed = keys.iter().any(|key| key.seek == more.seek);
        if is_listed || free.iter().any(is_free) || self.stored(&more).is_err() {
            return Ok(());
        }
        Err(Error::out_of_spec(format!(
            "the list of keys says that it has {} keys, and one more follows: {:?};{} at byte {}",
            keys.len(),
            more.name,
            more.cycle,
            more.seek
        ))
        .at(|place| place.offset = Some(range.start)))
    }
}
