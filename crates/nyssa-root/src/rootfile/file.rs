//! An open ROOT file: it finds keys and reads the bytes of their objects.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use nyssa_io::fetch::with_ends;
use nyssa_io::{OpenOptions, Source};

use crate::compression::{decompress_metadata, decompress_to_vec};
use crate::cursor::Cursor;
use crate::error::{Error, Result, ResultExt};
use crate::fetch::{in_order, read_all, read_one};
use crate::guard;
use crate::heuristics::container;
use crate::rootfile::directory::{self, Directory, Lists};
use crate::rootfile::free_segments::{self, FreeSegment};
use crate::rootfile::header::Header;
use crate::rootfile::key::KeyEntry;
use crate::rootfile::scan::{self, Scan};

/// An open ROOT file. A clone is cheap; threads share it.
#[derive(Clone)]
pub struct RootFile(pub(super) Arc<OpenFile>);

pub(super) struct OpenFile {
    pub(super) source: Arc<dyn Source>,
    header: Header,
    pub(super) top: Directory,
    pub(super) keys: Vec<KeyEntry>,
    /// The streamer info record, if the first requests brought it.
    eager_info: Option<Bytes>,
    /// The parsed streamer info record.
    infos: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// The result of the search for records, if the file needed the search.
    scan: OnceLock<Arc<Scan>>,
    /// The keys of other directories, once they are read.
    pub(super) lists: Mutex<Lists>,
    /// The place and the record of the object that [`RootFile::metadata`] read last from a remote file.
    last_metadata: Mutex<Option<(u64, Bytes)>>,
    /// What is wrong with a file whose top directory has no key list.
    not_closed: Option<String>,
}

impl OpenFile {
    fn new(
        source: Arc<dyn Source>,
        (header, top): (Header, Directory),
        keys: Vec<KeyEntry>,
    ) -> Self {
        Self {
            source,
            header,
            top,
            keys,
            eager_info: None,
            infos: OnceLock::new(),
            scan: OnceLock::new(),
            lists: Mutex::default(),
            last_metadata: Mutex::default(),
            not_closed: None,
        }
    }
}

impl RootFile {
    /// Opens a file with two requests: one for the start of the file and one for its top key list. From a source with
    /// latency, one request brings the start and the end of the file, which mostly contain all that is needed next.
    ///
    /// # Errors
    /// `OutOfSpecification` when it is not a ROOT file, is truncated, was not closed and has no complete object, or
    /// its top directory is damaged; `Io` if the file cannot be read.
    pub fn open(source: Arc<dyn Source>) -> Result<Self> {
        let _stage = nyssa_observe::stage!("open");
        let name = source.name().to_owned();
        Self::open_source(source).in_file(&name)
    }

    fn open_source(source: Arc<dyn Source>) -> Result<Self> {
        let source = with_ends(source)?;
        let size = source.size();
        let start = read_one(&source, 0..size.min(container::FIRST_READ))?;
        let mut header = Header::parse(&start, size)?;
        let place = header.begin + u64::from(header.nbytes_name);
        let place = place..size.min(place + Directory::MAX_SIZE);
        let record = match slice(&start, &place) {
            Some(record) => record,
            None => read_one(&source, place.clone())?,
        };
        let top = Directory::parse(&mut Cursor::new(&record, place.start))?;
        if !has_keys(&top) {
            let scan = Scan::of(&source, header.begin..size, &[])?;
            let keys = scan.keys_in(top.seek, "");
            if keys.is_empty() {
                return Err(scan::no_object());
            }
            let info = scan.info.as_ref();
            (header.seek_info, header.nbytes_info) =
                info.map_or((0, 0), |key| (key.seek, key.nbytes));
            let not_closed = Some(scan.not_closed(size));
            let inner = OpenFile::new(source, (header, top), keys);
            let scan = Arc::new(scan).into();
            return Ok(Self(Arc::new(OpenFile { scan, not_closed, ..inner })));
        }
        let keys_range = keys_range(&top, size, "the file")?;
        let info = header.seek_info..header.seek_info + u64::from(header.nbytes_info);
        let eager = !info.is_empty()
            && info.end <= size
            && u64::from(header.nbytes_info) <= container::EAGER_STREAMER_INFO;
        let ranges = [keys_range.clone(), info];
        let mut read = read_all(&source, if eager { &ranges } else { &ranges[..1] })?.into_iter();
        let list = read.next().unwrap_or_default();
        let eager_info = read.next();
        let keys = directory::parse_keys(&list, keys_range.start, "")?;
        let inner = OpenFile::new(source, (header, top), keys);
        Ok(Self(Arc::new(OpenFile { eager_info, ..inner })))
    }

    /// Returns whether the file was not closed. nyssa has then searched its records for objects. An object that was
    /// not complete when its writer ended is missing.
    pub fn was_recovered(&self) -> bool {
        self.0.not_closed.is_some()
    }

    /// Returns what is wrong with a file that was not closed, and where the search for its records ended. Returns `None`
    /// for other files.
    pub fn not_closed(&self) -> Option<&str> {
        self.0.not_closed.as_deref()
    }

    /// Reads the keys of all records of the file, only once, and returns the result.
    pub(super) fn scan(&self) -> Result<Arc<Scan>> {
        if let Some(scan) = self.0.scan.get() {
            return Ok(scan.clone());
        }
        let records = self.0.header.begin..self.0.source.size();
        let scan = Arc::new(Scan::of(&self.0.source, records, &[])?);
        Ok(self.0.scan.get_or_init(|| scan).clone())
    }

    /// Returns the bytes of the file.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.0.source
    }

    /// Returns the options with which the file was opened.
    pub fn options(&self) -> OpenOptions {
        self.0.source.options().cloned().unwrap_or_default()
    }

    /// Returns the path or URL.
    pub fn name(&self) -> &str {
        self.0.source.name()
    }

    /// Returns the file header.
    pub fn header(&self) -> &Header {
        &self.0.header
    }

    /// Returns the identity (UUID) that the first bytes of a file state, even if the rest is damaged. Returns `None` if
    /// it is no ROOT file.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub fn identity(source: &Arc<dyn Source>) -> Result<Option<[u8; 16]>> {
        Ok(Header::uuid_of(&read_one(source, 0..source.size().min(container::FIRST_READ))?))
    }

    /// Returns an identity of this version of the file: the identity that its server states, or else its UUID and the
    /// time of its last change.
    pub fn version(&self) -> String {
        let stamp = || {
            let uuid = u128::from_be_bytes(self.0.header.uuid);
            format!("{uuid:032x}-{:08x}", self.0.top.modified)
        };
        self.0.source.version().unwrap_or_else(stamp)
    }

    /// Returns the title of the file.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged first key; `Io` if the file cannot be read.
    pub fn title(&self) -> Result<String> {
        let begin = self.0.header.begin;
        let end = begin.saturating_add(self.0.header.nbytes_name.into());
        let record = read_one(&self.0.source, begin..end.min(self.0.source.size()))?;
        Ok(KeyEntry::parse(&mut Cursor::new(&record, begin))?.title.to_string())
    }

    /// Returns the keys of the top directory, in the order of the file, with all cycles. It does no I/O.
    ///
    /// # Errors
    /// Never fails: [`RootFile::open`] has checked the list of keys.
    pub fn keys(&self) -> Result<Vec<KeyEntry>> {
        Ok(self.0.keys.clone())
    }

    /// Reads the uncompressed object of a key.
    ///
    /// # Errors
    /// `OutOfSpecification` when the record lies beyond the file or disagrees with its key, or its
    /// compressed data is damaged.
    pub fn payload(&self, entry: &KeyEntry) -> Result<Vec<u8>> {
        self.decompressed(entry, decompress_to_vec).in_file(self.name()).in_object(&entry.path)
    }

    /// Reads and decompresses an object that describes other data, as a tree does. The record of a remote file stays in
    /// memory until it is read once more: a conversion reads a tree for its branches, and for what is beside them.
    ///
    /// # Errors
    /// `OutOfSpecification` when the record lies beyond the file or disagrees with its key, or its compressed data is
    /// damaged; `LimitExceeded` for an object that grows out of all proportion.
    pub fn metadata(&self, entry: &KeyEntry) -> Result<Vec<u8>> {
        let read = || {
            let record = self.metadata_record(entry)?;
            decompress_record(&record, entry, decompress_metadata)
        };
        read().in_file(self.name()).in_object(&entry.path)
    }

    fn metadata_record(&self, entry: &KeyEntry) -> Result<Bytes> {
        let last = || self.0.last_metadata.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last().take_if(|(seek, _)| *seek == entry.seek);
        if let Some((_, record)) = known {
            return Ok(record);
        }
        let record = self.record(entry)?;
        if !self.0.source.limits().is_near() && record.len() <= container::LAST_METADATA {
            *last() = Some((entry.seek, record.clone()));
        }
        Ok(record)
    }

    fn decompressed(&self, entry: &KeyEntry, decompress: Decompress) -> Result<Vec<u8>> {
        decompress_record(&self.record(entry)?, entry, decompress)
    }

    /// Reads the object of a key in its stored form, which is mostly compressed.
    ///
    /// # Errors
    /// `OutOfSpecification` when the record lies beyond the file or disagrees with its key.
    pub fn stored(&self, entry: &KeyEntry) -> Result<Bytes> {
        let record = self.record(entry).in_file(self.name()).in_object(&entry.path)?;
        Ok(record.slice(usize::from(entry.keylen).min(record.len())..))
    }

    /// Reads the record of a key and checks that it agrees with the key.
    pub(super) fn record(&self, entry: &KeyEntry) -> Result<Bytes> {
        let range = self.record_range(entry)?;
        self.check_record(read_one(&self.0.source, range)?, entry)
    }

    /// Refuses a record that does not agree with its key. The record may have another name if no other key has this
    /// name.
    fn check_record(&self, record: Bytes, entry: &KeyEntry) -> Result<Bytes> {
        let own = KeyEntry::parse(&mut Cursor::new(&record, entry.seek))?;
        let is_renamed = || own.seek == entry.seek && !self.is_listed_twice(entry.seek);
        if own.agrees_with(entry) && (own.name == entry.name || is_renamed()) {
            return Ok(record);
        }
        Err(Error::out_of_spec(format!(
            "the directory lists {}, but the record is {}",
            describe(entry),
            describe(&own)
        ))
        .at(|place| place.offset = Some(entry.seek)))
    }

    /// Returns the place of the record of a key, checked against the size of the file.
    fn record_range(&self, entry: &KeyEntry) -> Result<Range<u64>> {
        let end = self.0.source.size();
        if entry.end() > end {
            return Err(Error::out_of_spec(format!(
                "its record is said to end at byte {}, the file ends at byte {end}",
                entry.end()
            ))
            .at(|place| place.offset = Some(entry.seek)));
        }
        Ok(entry.seek..entry.end())
    }

    /// Calls `take` with the record of each of `entries`, or with the error of reading it, in order. Records
    /// are fetched ahead.
    ///
    /// # Errors
    /// Returns an error if `take` fails.
    pub(crate) fn records(
        &self,
        entries: &[&KeyEntry],
        mut take: impl FnMut(Result<Record>) -> Result<()>,
    ) -> Result<()> {
        let units = entries.iter().map(|&entry| match self.record_range(entry) {
            Ok(range) => (std::iter::once(range).collect(), (entry, None)),
            Err(error) => (Vec::new(), (entry, Some(error))),
        });
        let units = units.collect();
        in_order(&self.0.source, units, None, |(entry, wrong), bytes| {
            let record = wrong.map_or_else(|| bytes, Err).and_then(|bytes| {
                self.check_record(bytes.first().cloned().unwrap_or_default(), entry)
            });
            let record = record.in_file(self.name()).in_object(&entry.path);
            take(record.map(|bytes| Record { bytes, entry: entry.clone() }))
        })
    }

    /// Reads the free segments of the file.
    ///
    /// # Errors
    /// `OutOfSpecification` when their record is damaged.
    pub fn free_segments(&self) -> Result<Vec<FreeSegment>> {
        let header = &self.0.header;
        let range = header.seek_free..header.seek_free.saturating_add(header.nbytes_free.into());
        self.in_bounds(&range, "the list of free segments")
            .and_then(|()| read_one(&self.0.source, range.clone()))
            .and_then(|record| free_segments::parse(&record, range.start, header.end))
            .in_file(self.name())
    }

    /// Returns the value that `make` computes from the streamer info record. All clones of this file share one
    /// result.
    ///
    /// # Errors
    /// `OutOfSpecification` when the streamer info record is damaged; an error if `make` fails.
    pub(crate) fn made_of_streamer_info<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce(Option<(Vec<u8>, u16)>) -> Result<T>,
    ) -> Result<Arc<T>> {
        let parsed = self.0.infos.get().and_then(|parsed| parsed.clone().downcast().ok());
        if let Some(parsed) = parsed {
            return Ok(parsed);
        }
        let made = Arc::new(make(self.streamer_info()?)?);
        let parsed = self.0.infos.get_or_init(|| made.clone()).clone();
        Ok(parsed.downcast().unwrap_or(made))
    }

    /// Reads the decompressed streamer info record, an object of class `TList`, and the size of its key.
    /// Returns `None` when the file has none.
    ///
    /// # Errors
    /// `OutOfSpecification` when the record is not where the header says, or is damaged.
    pub(crate) fn streamer_info(&self) -> Result<Option<(Vec<u8>, u16)>> {
        let Some(record) = self.info_record()? else { return Ok(None) };
        let seek = self.0.header.seek_info;
        let key = KeyEntry::parse(&mut Cursor::new(&record, seek))?;
        if u64::from(key.nbytes) > record.len() as u64 {
            return Err(Error::out_of_spec(format!(
                "the header says that the list of streamer infos has {} bytes, its key says {}",
                record.len(),
                key.nbytes
            ))
            .at(|place| place.offset = Some(seek)));
        }
        Ok(Some((decompress_record(&record, &key, decompress_metadata)?, key.keylen)))
    }

    /// Reads the record of the streamer infos with its key, if the file has one.
    pub(super) fn info_record(&self) -> Result<Option<Bytes>> {
        let header = &self.0.header;
        if header.seek_info == 0 {
            return Ok(None);
        }
        let range = header.seek_info..header.seek_info.saturating_add(header.nbytes_info.into());
        self.in_bounds(&range, "the list of streamer infos")?;
        let eager = self.0.eager_info.clone();
        eager.map_or_else(|| read_one(&self.0.source, range), Ok).map(Some)
    }

    fn in_bounds(&self, range: &Range<u64>, what: &str) -> Result<()> {
        let size = self.0.source.size();
        if range.end <= size && range.start != 0 {
            return Ok(());
        }
        Err(Error::out_of_spec(format!(
            "the header says that {what} lies at bytes {} to {} of {size}",
            range.start, range.end
        )))
    }
}

/// Decompresses a block to a content of a size.
type Decompress = fn(&[u8], usize, &str) -> Result<Vec<u8>>;

/// The record of a key in its stored form.
pub(crate) struct Record {
    bytes: Bytes,
    entry: KeyEntry,
}

impl Record {
    /// Returns the object in its stored form, which is mostly compressed.
    pub(crate) fn stored(&self) -> Bytes {
        self.bytes.slice(usize::from(self.entry.keylen).min(self.bytes.len())..)
    }

    /// Returns the uncompressed object.
    ///
    /// # Errors
    /// `OutOfSpecification` when its compressed data is damaged.
    pub(crate) fn payload(&self) -> Result<Vec<u8>> {
        decompress_record(&self.bytes, &self.entry, decompress_to_vec)
    }
}

/// Decompresses the object of a whole record.
pub(super) fn decompress_record(
    record: &[u8],
    entry: &KeyEntry,
    decompress: Decompress,
) -> Result<Vec<u8>> {
    let stored = record
        .get(usize::from(entry.keylen)..entry.nbytes as usize)
        .ok_or_else(|| Error::out_of_spec("the record is shorter than its key says"))?;
    let objlen = guard::to_usize(entry.objlen.into(), "object")?;
    decompress(stored, objlen, "an object")
        .at(|place| place.offset = Some(entry.seek + u64::from(entry.keylen)))
}

/// Returns whether a directory has a key list.
pub(super) fn has_keys(directory: &Directory) -> bool {
    directory.seek_keys != 0 && directory.nbytes_keys != 0
}

/// Returns the place of the key list of `directory`, checked against the size of the file.
pub(super) fn keys_range(directory: &Directory, size: u64, what: &str) -> Result<Range<u64>> {
    if !has_keys(directory) {
        return Err(Error::out_of_spec(format!("{what} has no list of keys: it was not closed")));
    }
    let range =
        directory.seek_keys..directory.seek_keys.saturating_add(directory.nbytes_keys.into());
    if range.end > size {
        return Err(Error::out_of_spec(format!(
            "the list of keys is said to lie at bytes {} to {}, the file ends at byte {size}",
            range.start, range.end
        )));
    }
    Ok(range)
}

fn slice(start: &Bytes, range: &Range<u64>) -> Option<Bytes> {
    let (from, to) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
    (to <= start.len()).then(|| start.slice(from..to))
}

/// Returns a key in words, for messages. The names of a damaged key can contain any bytes.
fn describe(key: &KeyEntry) -> String {
    format!(
        "{} {:?};{} ({} bytes, {} uncompressed, key of {})",
        key.class.escape_debug(),
        key.name,
        key.cycle,
        key.nbytes,
        key.objlen,
        key.keylen
    )
}
