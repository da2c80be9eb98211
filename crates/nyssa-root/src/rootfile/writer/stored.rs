//! Copies objects of other files in their stored form.

use bstr::{BStr, ByteSlice};

use super::RootFileWriter;
use super::key::Key;
use crate::error::Result;
use crate::rootfile::KeyEntry;
use crate::rootfile::name::{name_of, split};

impl RootFileWriter {
    /// Creates the directory `path`. Its last part gets the title and the time stamp if it is new.
    pub fn make_titled_directory(&mut self, path: &str, title: &BStr, datime: u32) -> Result<()> {
        let (parent, name) = split(path);
        let (parent, name) = (self.make_directory(parent)?, name_of(name));
        if self.find_directory(parent, name.as_bstr()).is_none() {
            self.add_directory(parent, name.as_bstr(), title, datime)?;
        }
        Ok(())
    }

    /// Returns whether there is something at a path.
    pub fn has(&self, path: &str) -> bool {
        let (dir, name) = split(path);
        let name = name_of(name);
        self.directory_at(dir)
            .is_some_and(|dir| self.directories[dir].keys.iter().any(|key| key.name == name))
    }

    /// Returns the title of the newest object at a path.
    pub(crate) fn title_at(&self, path: &str) -> Option<&BStr> {
        let (dir, name) = split(path);
        let name = name_of(name);
        let keys = &self.directories[self.directory_at(dir)?].keys;
        let newest = keys.iter().filter(|key| key.name == name).max_by_key(|key| key.cycle);
        newest.map(|key| key.title.as_ref())
    }

    /// Returns the cycle that the next object of this name in directory `dir` gets.
    ///
    /// # Errors
    /// `InvalidArgument` if a directory has the name; `LimitExceeded` after 65535 objects.
    pub(crate) fn next_cycle(&self, dir: &str, name: &BStr) -> Result<u16> {
        match self.directory_at(dir) {
            Some(dir) => self.free_cycle(dir, name),
            None => Ok(1),
        }
    }

    /// Returns whether a copied object that is written next keeps a key with 32-bit positions.
    pub(crate) fn keeps_small_key(&self, entry: &KeyEntry) -> bool {
        self.has_small_keys() && !entry.is_large
    }

    /// Returns the size in bytes of the key that [`RootFileWriter::write_stored`] writes.
    pub(crate) fn stored_keylen(entry: &KeyEntry, small: bool) -> usize {
        let size = Key::size_for(&entry.class, &entry.name, &entry.title);
        if small { size - 8 } else { size }
    }

    /// Writes the stored bytes of an object of another file into directory `dir`. It keeps the name, the title, the
    /// cycle and the date of its key. Positions have 32 bits if `small`, or else 64.
    pub(crate) fn write_stored(
        &mut self,
        dir: &str,
        entry: &KeyEntry,
        stored: &[u8],
        small: bool,
    ) -> Result<()> {
        let dir = self.make_directory(dir)?;
        let parent = self.directories[dir].seek;
        let (class, name, title) = (&entry.class, &entry.name, &entry.title);
        let key = Key {
            objlen: entry.objlen.into(),
            datime: entry.datime,
            small,
            ..self.key(
                class,
                name.as_bstr(),
                title.as_bstr(),
                parent,
                entry.cycle,
                stored.len() as u64,
            )
        };
        self.append(&key, &[stored]).map_err(|error| self.blame(error))?;
        self.directories[dir].list(key);
        Ok(())
    }
}
