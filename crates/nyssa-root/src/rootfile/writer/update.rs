//! Opens an existing file, to which objects are added in place. `commit.rs` writes the changes.

use bstr::ByteSlice;
use nyssa_io::Sink;

use super::buffered::Buffered;
use super::datime::datime;
use super::directory::{self, Directory};
use super::existing::{ExistingFile, InfoRecord};
use super::file::RootFileWriter;
use super::header::BEGIN;
use super::key::Key;
use super::options::FileOptions;
use super::patch::SECTOR;
use crate::compression::Compression;
use crate::error::{Error, Result, ResultExt};
use crate::fetch::read_one;
use crate::rootfile::name::name_of;
use crate::rootfile::{KeyEntry, RootFile};

impl RootFileWriter {
    /// Opens `file` for an update; `sink` changes it in place, see [`nyssa_io::Update`]. [`RootFileWriter::finish`]
    /// adds the written objects to the file. A crash at any moment leaves the old file or the new file. Only
    /// compression and time of the `options` are used.
    ///
    /// # Errors
    /// `Unsupported` for files of a form that cannot be changed in place; an error if the file is damaged or cannot
    /// be read.
    pub fn update(sink: Box<dyn Sink>, file: &RootFile, options: FileOptions) -> Result<Self> {
        Self::update_file(sink, file, options).in_file(file.name())
    }

    fn update_file(sink: Box<dyn Sink>, file: &RootFile, options: FileOptions) -> Result<Self> {
        let header = file.header().clone();
        if file.was_recovered() {
            return Err(Error::unsupported(
                "the file was not closed: convert or rewrite what is in it to a new one first",
            ));
        }
        if header.begin != BEGIN {
            return Err(Error::unsupported(format!(
                "the first record lies at byte {}, where ROOT puts it at {BEGIN}: copy the file first",
                header.begin
            )));
        }
        let start = read_one(file.source(), 0..file.source().size().min(SECTOR))?.to_vec();
        let info = file.streamer_info().in_object("StreamerInfo")?;
        let info = info.map(|(payload, keylen)| InfoRecord {
            payload,
            keylen,
            large: Vec::new(),
            changed: false,
        });
        let free = file.free_segments()?;
        let out = Buffered::new(sink, header.end, options.write_behind);
        let datime = datime(options.time)?;
        let existing = Some(ExistingFile { header, start, free });
        let mut writer = Self { out, options, datime, directories: Vec::new(), info, existing };
        writer.load(file)?;
        Ok(writer)
    }

    /// Reads all directories of the file.
    fn load(&mut self, file: &RootFile) -> Result<()> {
        let header = file.header();
        let begin = read_one(file.source(), BEGIN..BEGIN + u64::from(header.nbytes_name))?;
        let top = KeyEntry::parse(&mut crate::cursor::Cursor::new(&begin, BEGIN))?;
        let record = BEGIN + u64::from(header.nbytes_name);
        self.load_directory(file, &top, None, BEGIN, record)?;
        self.directories[0].uuid = header.uuid;
        // This also refuses a directory that lies inside itself.
        file.check_end(&file.walk()?)?;
        let mut lists = vec![(0, file.keys()?)];
        while let Some((index, keys)) = lists.pop() {
            for entry in keys {
                self.directories[index].keys.push(Key::of(&entry).in_object(&entry.path)?);
                if entry.is_directory() {
                    let record = entry.seek + u64::from(entry.keylen);
                    self.load_directory(file, &entry, Some(index), entry.seek, record)?;
                    lists.push((self.directories.len() - 1, file.list_directory(&entry)?));
                }
            }
        }
        Ok(())
    }

    fn load_directory(
        &mut self,
        file: &RootFile,
        entry: &KeyEntry,
        parent: Option<usize>,
        seek: u64,
        record: u64,
    ) -> Result<()> {
        let end = file.header().end.min(record + directory::RECORD_SIZE as u64);
        let stored = read_one(file.source(), record..end)?.to_vec();
        self.directories.push(Directory {
            name: entry.name.clone(),
            title: entry.title.clone(),
            datime: entry.datime,
            parent,
            seek,
            record,
            uuid: [0; 16],
            keys: Vec::new(),
            stored: Some(stored),
            changed: false,
            deleted: false,
        });
        Ok(())
    }

    /// Writes an object that replaces the object with the same name and cycle. `make` makes its bytes for a key of a
    /// given size.
    ///
    /// # Errors
    /// `NotFound` when there is no such object; `LimitExceeded` for objects beyond 2 GiB; an error if the sink cannot
    /// be written.
    pub fn replace_object(
        &mut self,
        dir: &str,
        (name, cycle): (&str, u16),
        make: impl FnOnce(usize) -> Result<Vec<u8>>,
        compression: Compression,
    ) -> Result<()> {
        let missing = || Error::not_found(format!("there is no {name};{cycle} to replace"));
        let dir = self.directory_at(dir).ok_or_else(missing)?;
        let bytes = name_of(name);
        let same = |key: &Key| key.name == bytes && key.cycle == cycle;
        let place = self.directories[dir].keys.iter().position(same).ok_or_else(missing)?;
        let Key { class, title, parent, .. } = self.directories[dir].keys[place].clone();
        let key = self.key(&class, bytes.as_bstr(), title.as_bstr(), parent, cycle, 0);
        let payload = make(key.size())?;
        let key = self.append_object(key, &payload, compression)?;
        self.directories[dir].keys[place] = key;
        self.directories[dir].changed = true;
        Ok(())
    }
}

impl Key {
    /// Makes the key of an object that stays at its place.
    fn of(entry: &KeyEntry) -> Result<Self> {
        let key = Self {
            stored: u64::from(entry.nbytes - u32::from(entry.keylen)),
            objlen: entry.objlen.into(),
            datime: entry.datime,
            cycle: entry.cycle,
            seek: entry.seek,
            parent: entry.parent,
            class: entry.class.clone(),
            name: entry.name.clone(),
            title: entry.title.clone(),
            small: !entry.is_large,
            tail: 0,
        };
        if key.size() != usize::from(entry.keylen) {
            return Err(Error::unsupported(format!(
                "its key has {} bytes where ROOT writes {}: copy the file first",
                entry.keylen,
                key.size()
            )));
        }
        Ok(key)
    }
}
