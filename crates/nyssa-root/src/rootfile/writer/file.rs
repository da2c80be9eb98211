//! Writes one ROOT file.

use bstr::{BStr, ByteSlice};
use nyssa_io::Sink;

use super::buffered::Buffered;
use super::datime::datime;
use super::directory::{self, Directory, RecordPlace};
use super::existing::{ExistingFile, InfoRecord};
use super::header::{self, BEGIN, Header};
use super::key::Key;
use super::options::FileOptions;
use crate::compression::{Compression, Compressor};
use crate::error::{Error, Result, ResultExt};
use crate::rootfile::FreeSegment;
use crate::rootfile::encode::{self, LARGE_FILE};
use crate::rootfile::name::name_of;

/// Writes a ROOT file from front to back. The file becomes visible with [`RootFileWriter::finish`].
pub struct RootFileWriter {
    pub(super) out: Buffered,
    pub(super) options: FileOptions,
    pub(super) datime: u32,
    /// All directories. The first directory is the top directory, which is the file itself.
    pub(super) directories: Vec<Directory>,
    pub(super) info: Option<InfoRecord>,
    /// The existing file, when it is changed in place.
    pub(super) existing: Option<ExistingFile>,
}

/// The class, name and title of the key of the list of streamer infos.
const INFO_KEY: [&str; 3] = ["TList", "StreamerInfo", "Doubly linked list"];
/// An empty `TList`: byte count, version, `TObject`, name, number of entries.
const EMPTY_LIST: [u8; 21] = [0x40, 0, 0, 17, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Returns the last part of a path or URL, which is the name that a file records.
fn last_part(name: &str) -> &str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    // The query of a URL is no part of the name.
    last.split('?').next().filter(|_| nyssa_io::is_url(name)).unwrap_or(last)
}

impl RootFileWriter {
    /// Starts a file on `sink`.
    ///
    /// # Errors
    /// `InvalidArgument` for an unusable time in the environment; an error if the sink cannot be written.
    pub fn create(sink: Box<dyn Sink>, options: FileOptions) -> Result<Self> {
        let name = match &options.name {
            Some(name) => name.clone(),
            None => last_part(sink.name()).to_owned(),
        };
        let datime = datime(options.time)?;
        let uuid = options.uuid.unwrap_or_else(|| uuid::Uuid::new_v4().into_bytes());
        let out = Buffered::new(sink, 0, options.write_behind);
        let (info, existing) = (None, None);
        let mut file = Self { out, options, datime, directories: Vec::new(), info, existing };
        file.start(name, uuid).map_err(|error| file.blame(error))?;
        Ok(file)
    }

    /// Reserves space for the header, and writes the record of the top directory: key, name, title, record.
    fn start(&mut self, name: String, uuid: [u8; 16]) -> Result<()> {
        self.out.append(&[0; BEGIN as usize])?;
        let mut payload = Vec::new();
        encode::string(&mut payload, &name)?;
        let title = self.options.title.clone();
        encode::string(&mut payload, &title)?;
        let named = payload.len() as u64;
        payload.resize(payload.len() + directory::RECORD_SIZE, 0);
        let key = self.key(
            "TFile",
            name.as_str().into(),
            title.as_str().into(),
            0,
            1,
            payload.len() as u64,
        );
        let record = key.payload() + named;
        let seek = key.seek;
        self.append(&key, &[&payload])?;
        self.directories.push(Directory {
            name: name.into(),
            title: title.into(),
            datime: self.datime,
            parent: None,
            seek,
            record,
            uuid,
            keys: Vec::new(),
            stored: None,
            changed: true,
            deleted: false,
        });
        Ok(())
    }

    /// Returns the name of the sink.
    pub fn name(&self) -> &str {
        self.out.name()
    }

    /// Checks that no write has failed.
    ///
    /// # Errors
    /// The reason of an earlier error.
    pub(crate) fn check(&self) -> Result<()> {
        self.out.check().map_err(|error| self.blame(error))
    }

    /// Returns the options of the file.
    pub fn options(&self) -> &FileOptions {
        &self.options
    }

    /// Returns the bytes written so far.
    pub fn position(&self) -> u64 {
        self.out.end()
    }

    /// Writes the concatenated `parts` as the payload of a key of class `class`. The key has no name, and no
    /// directory lists it. `objlen` is the uncompressed size, for information. Returns the position of the
    /// payload.
    ///
    /// # Errors
    /// `LimitExceeded` beyond what a key can hold; an error if the sink cannot be written.
    pub fn write_key(&mut self, class: &str, parts: &[&[u8]], objlen: u64) -> Result<u64> {
        let stored: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let key = self.unlisted_key(class, stored, objlen);
        self.append(&key, parts).map_err(|error| self.blame(error))?;
        Ok(key.payload())
    }

    /// Writes a key of class `class` with a payload of `size` bytes, which is skipped and reads as zeros. It is for
    /// aligned data and sparse files. Returns the position of the payload.
    ///
    /// # Errors
    /// `LimitExceeded` beyond what a key can hold; an error if the sink cannot be written.
    pub fn reserve_key(&mut self, class: &str, size: u64) -> Result<u64> {
        let key = self.unlisted_key(class, size, size);
        self.append(&key, &[]).and_then(|()| self.out.skip(size)).map_err(|e| self.blame(e))?;
        Ok(key.payload())
    }

    /// Writes an object and lists it in directory `dir`, a path such as `a/b` that is empty for the top directory.
    /// Missing directories are created. An object gets the next cycle of its name, which is in the form of paths (see
    /// `rootfile/name.rs`). Returns the position of the payload and its stored size.
    ///
    /// # Errors
    /// `InvalidArgument` for names that are empty or contain `/`, and for a directory that exists as an object;
    /// `LimitExceeded` for objects beyond 2 GiB; an error if the sink cannot be written.
    pub fn write_object(
        &mut self,
        dir: &str,
        class: &str,
        name: &str,
        title: impl AsRef<[u8]>,
        payload: &[u8],
        compression: Compression,
    ) -> Result<(u64, u64)> {
        self.list_new(dir, class, (name, title.as_ref()), |file, key| {
            file.append_object(key, payload, compression)
        })
    }

    /// Writes an object whose references to places inside it count from the start of its key, and lists it in
    /// directory `dir`. `make` makes its bytes for a key of a given size. Returns the position of the payload and its
    /// stored size.
    ///
    /// # Errors
    /// `InvalidArgument` for unusable names; `LimitExceeded` for objects beyond 2 GiB; an error if `make` fails or
    /// the sink cannot be written.
    pub fn write_made(
        &mut self,
        dir: &str,
        class: &str,
        (name, title): (&str, &[u8]),
        make: impl FnOnce(usize) -> Result<Vec<u8>>,
        compression: Compression,
    ) -> Result<(u64, u64)> {
        self.list_new(dir, class, (name, title), |file, key| {
            let payload = make(key.size())?;
            file.append_object(key, &payload, compression)
        })
    }

    /// Lists the key of a new object, which `write` writes.
    fn list_new(
        &mut self,
        dir: &str,
        class: &str,
        (name, title): (&str, &[u8]),
        write: impl FnOnce(&mut Self, Key) -> Result<Key>,
    ) -> Result<(u64, u64)> {
        let written = check_name(name).and_then(|()| {
            let (dir, name) = (self.make_directory(dir)?, name_of(name));
            let parent = self.directories[dir].seek;
            let cycle = self.free_cycle(dir, name.as_bstr())?;
            let key = self.key(class, name.as_bstr(), title.as_bstr(), parent, cycle, 0);
            let key = write(self, key)?;
            let place = (key.payload(), key.stored);
            self.directories[dir].list(key);
            Ok(place)
        });
        written.in_object(name).map_err(|error| self.blame(error))
    }

    /// Writes an object behind its key. Returns the key with its sizes.
    pub(super) fn append_object(
        &mut self,
        mut key: Key,
        payload: &[u8],
        compression: Compression,
    ) -> Result<Key> {
        let mut stored = Vec::new();
        Compressor::new(compression)?.with_checksums()?.compress(payload, &mut stored)?;
        (key.objlen, key.stored) = (payload.len() as u64, stored.len() as u64);
        self.append(&key, &[&stored])?;
        Ok(key)
    }

    /// Returns whether new keys have 32-bit positions.
    pub(super) fn has_small_keys(&self) -> bool {
        self.out.end() <= LARGE_FILE
    }

    /// Returns the list of streamer infos for the file, an uncompressed object of class `TList`, and the size
    /// of its key. `None` if there is no list yet.
    pub fn streamer_info(&self) -> Option<(&[u8], u16)> {
        self.info.as_ref().map(|info| (&info.payload[..], info.keylen))
    }

    /// Returns the size in bytes of the key of the list of streamer infos, with 32-bit or 64-bit positions.
    pub(crate) fn streamer_info_keylen(small: bool) -> u16 {
        let [class, name, title] = INFO_KEY;
        let size = Key::size_for(class, name.as_bytes(), title.as_bytes()) as u16;
        if small { size - 8 } else { size }
    }

    /// Replaces the list of streamer infos by the list that `make` makes for a key of a given size.
    ///
    /// # Errors
    /// Returns an error if `make` fails.
    pub(crate) fn set_streamer_info(
        &mut self,
        make: impl Fn(usize) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let keylen = Self::streamer_info_keylen(true);
        let large = make(Self::streamer_info_keylen(false).into())?;
        let payload = make(keylen.into())?;
        self.info = Some(InfoRecord { payload, keylen, large, changed: true });
        Ok(())
    }

    /// Writes an object that no directory lists, without compression. The caller has to store its position. Returns
    /// the position of the payload.
    ///
    /// # Errors
    /// `InvalidArgument` for names that are empty or contain `/`; an error if the sink cannot be written.
    pub fn write_unlisted(&mut self, class: &str, name: &str, payload: &[u8]) -> Result<u64> {
        let written = check_name(name).and_then(|()| {
            let key =
                self.key(class, name_of(name).as_bstr(), "".into(), BEGIN, 1, payload.len() as u64);
            self.append(&key, &[payload])?;
            Ok(key.payload())
        });
        written.in_object(name).map_err(|error| self.blame(error))
    }

    /// Returns the index of the directory of a path. Makes the directory if it does not exist.
    pub(super) fn make_directory(&mut self, path: &str) -> Result<usize> {
        let mut current = 0;
        for name in path.split('/').filter(|name| !name.is_empty()).map(name_of) {
            let name = name.as_bstr();
            current = match self.find_directory(current, name) {
                Some(directory) => directory,
                None => self.add_directory(current, name, name, self.datime)?,
            };
        }
        Ok(current)
    }

    pub(super) fn find_directory(&self, parent: usize, name: &BStr) -> Option<usize> {
        let is_it = |dir: &Directory| dir.parent == Some(parent) && dir.name == name;
        self.directories.iter().position(|dir| is_it(dir) && !dir.deleted)
    }

    /// Returns the index of the directory of a path.
    pub(super) fn directory_at(&self, path: &str) -> Option<usize> {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        parts.try_fold(0, |current, part| self.find_directory(current, name_of(part).as_bstr()))
    }

    /// Returns the cycle of a new object in a directory.
    pub(super) fn free_cycle(&self, dir: usize, name: &BStr) -> Result<u16> {
        match self.find_directory(dir, name) {
            Some(_) => Err(Error::invalid_argument(format!(
                "cannot write an object {name:?}: a directory of that name exists"
            ))),
            None => self.directories[dir].next_cycle(name),
        }
    }

    pub(super) fn add_directory(
        &mut self,
        parent: usize,
        name: &BStr,
        title: &BStr,
        datime: u32,
    ) -> Result<usize> {
        if self.directories[parent].keys.iter().any(|key| key.name == name) {
            return Err(Error::invalid_argument(format!(
                "cannot make directory {name:?}: an object of that name exists"
            )));
        }
        let seek = self.directories[parent].seek;
        let size = directory::RECORD_SIZE as u64;
        let mut key = self.key(directory::CLASS, name, title, seek, 1, size);
        key.datime = datime;
        self.append(&key, &[&[0; directory::RECORD_SIZE]])?;
        // The UUID of a subdirectory is derived from the UUID of the file and its place in the file.
        let mut uuid = self.directories[0].uuid;
        for (byte, place) in uuid.iter_mut().zip(key.seek.to_be_bytes()) {
            *byte ^= place;
        }
        self.directories.push(Directory {
            name: name.to_owned(),
            title: title.to_owned(),
            datime,
            parent: Some(parent),
            seek: key.seek,
            record: key.payload(),
            uuid,
            keys: Vec::new(),
            stored: None,
            changed: true,
            deleted: false,
        });
        self.directories[parent].list(key);
        Ok(self.directories.len() - 1)
    }

    /// Writes the key lists, the streamer info, the free segments, the directory records and the header, and
    /// makes the file visible. Returns the size of the file.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written. The file is then not visible.
    pub fn finish(mut self) -> Result<u64> {
        let name = self.name().to_owned();
        match self.existing.take() {
            Some(existing) => self.commit_update(&existing).in_file(&name)?,
            None => self.tail().in_file(&name)?,
        }
        let size = self.out.end();
        self.out.commit().in_file(&name)?;
        Ok(size)
    }

    fn tail(&mut self) -> Result<()> {
        for index in 0..self.directories.len() {
            if !self.directories[index].deleted {
                self.finish_directory(index)?;
            }
        }
        let info = self.write_streamer_info()?;
        let free = self.free_segments(&[])?;
        let end = self.out.end();
        let top = &self.directories[0];
        let header = Header {
            version: header::VERSION,
            large: end > LARGE_FILE,
            end,
            free,
            free_count: 1,
            nbytes_name: (top.record - top.seek) as usize,
            compression: self.options.compression.setting(),
            info,
            uuid: top.uuid,
        };
        self.out.overwrite(0, &header.serialize()?)
    }

    pub(super) fn finish_directory(&mut self, index: usize) -> Result<()> {
        let (seek_keys, nbytes_keys) = self.key_list(index)?;
        let directory = &self.directories[index];
        let place = RecordPlace {
            datime: self.datime,
            parent_seek: directory.parent.map_or(0, |parent| self.directories[parent].seek),
            seek_keys,
            nbytes_keys,
        };
        let (at, record) = (directory.record, directory.serialize(&place)?);
        self.out.overwrite(at, &record)
    }

    /// Writes the key list of a directory. Returns its position and size.
    pub(super) fn key_list(&mut self, index: usize) -> Result<(u64, usize)> {
        let directory = &self.directories[index];
        let payload = directory.key_list()?;
        let size = payload.len() as u64;
        let (name, title) = (directory.name.as_bstr(), directory.title.as_bstr());
        let key = self.key(directory.class(), name, title, directory.seek, 1, size);
        self.append(&key, &[&payload])?;
        Ok((key.seek, key.size() + payload.len()))
    }

    /// Writes the list of streamer infos, even if it is empty. Returns its position and size.
    pub(super) fn write_streamer_info(&mut self) -> Result<(u64, usize)> {
        let [class, name, title] = INFO_KEY;
        let key = self.key(class, name.into(), title.into(), BEGIN, 1, 0);
        let payload = match self.info.take() {
            None => EMPTY_LIST.to_vec(),
            Some(info) if key.small => info.payload,
            Some(info) => info.large,
        };
        let key = self.append_object(key, &payload, self.options.compression)?;
        Ok((key.seek, key.size() + key.stored as usize))
    }

    pub(super) fn free_segments(&mut self, gaps: &[FreeSegment]) -> Result<(u64, usize)> {
        let name = self.directories[0].name.clone();
        let key = self.key("TFile", name.as_bstr(), "".into(), BEGIN, 1, 0);
        let payload = header::free_segments(self.out.end(), key.size(), gaps)?;
        let size = payload.len() as u64;
        let key = Key { stored: size, objlen: size, ..key };
        self.append(&key, &[&payload])?;
        Ok((key.seek, key.size() + payload.len()))
    }

    /// Makes a key at the end of the file.
    pub(super) fn key(
        &self,
        class: &str,
        name: &BStr,
        title: &BStr,
        parent: u64,
        cycle: u16,
        stored: u64,
    ) -> Key {
        Key {
            stored,
            objlen: stored,
            datime: self.datime,
            cycle,
            seek: self.out.end(),
            parent,
            class: class.to_owned(),
            name: name.to_owned(),
            title: title.to_owned(),
            small: self.has_small_keys(),
            tail: 0,
        }
    }

    pub(super) fn append(&mut self, key: &Key, parts: &[&[u8]]) -> Result<()> {
        let mut header = Vec::with_capacity(key.size());
        key.serialize(&mut header)?;
        self.out.append(&header)?;
        parts.iter().try_for_each(|part| self.out.append(part))
    }

    pub(super) fn blame(&self, error: Error) -> Error {
        error.at(|place| place.file = Some(self.out.name().to_owned()))
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.contains('/') {
        return Err(Error::invalid_argument(format!(
            "{name:?} cannot name an object: it is empty or contains a slash"
        )));
    }
    Ok(())
}
