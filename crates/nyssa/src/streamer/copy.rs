//! Carrying objects of one file over into another: their bytes as stored, with names, titles, cycles
//! and dates, and the streamer infos that describe them.
//!
//! Nothing is opened but what has to be looked into. References inside an object count from the start
//! of its key, so the key keeps its size, or the references are moved with it.
//!
//! Refused by name: what holds positions in its file (TTrees with their baskets, RNTuples).

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::compression::Compressor;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::rootfile::writer::RootFileWriter;
use crate::rootfile::{KeyEntry, Record, RootFile};
use crate::streamer::info::StreamerInfos;
use crate::streamer::values::relocate;

/// Class names of RNTuples, now and before the format was final.
const RNTUPLES: [&str; 2] = ["ROOT::RNTuple", "ROOT::Experimental::RNTuple"];
/// Classes that hold baskets, by name.
const TREES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];
/// Starts a branch inside another object: the mark of a new class and its name. There is no tree
/// with baskets without it.
const NEW_BRANCH: &[u8] = b"\xFF\xFF\xFF\xFFTBranch";
/// Processes that other objects refer to by number.
const PROCESS_ID: &str = "TProcessID";

/// Why objects are not carried over that lead to data beside them.
const HOLDS_POSITIONS: &str =
    "it holds positions in its file, so that its data would have to be moved with it";

/// What is to be carried over from one file.
pub struct ObjectCopy {
    file: RootFile,
    infos: Arc<StreamerInfos>,
    objects: Vec<KeyEntry>,
    refused: Vec<Refused>,
}

/// An object that is not carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Path and cycle: `dir/name;cycle`.
    pub path: String,
    /// Its class.
    pub class: String,
    /// Why.
    pub reason: String,
}

impl ObjectCopy {
    /// All objects of `file` but those at the paths `exclude` (all cycles, and for a directory all
    /// that is in it).
    ///
    /// # Errors
    /// As [`RootFile::list_all`]; `Io`.
    pub fn plan(file: &RootFile, exclude: &[&str]) -> Result<Self> {
        let infos = file.streamer_infos()?;
        let mut carry =
            Self { file: file.clone(), infos, objects: Vec::new(), refused: Vec::new() };
        let (entries, lost) = file.list_all()?;
        carry.refused.extend(lost.iter().map(|error| Refused {
            path: error.place().object.clone().unwrap_or_default(),
            class: "TDirectory".to_owned(),
            reason: error.message().to_owned(),
        }));
        let mut entries = entries;
        entries.retain(|entry| !exclude.iter().any(|path| is_at_or_below(&entry.path, path)));
        let unclear: Vec<&KeyEntry> =
            entries.iter().filter(|entry| carry.may_hold_positions(entry)).collect();
        let mut reasons = Vec::new();
        file.records(&unclear, |record| {
            reasons.push(reason_against(record)?);
            Ok(())
        })?;
        let mut reasons = reasons.into_iter();
        for entry in entries {
            let reason = match holds_positions(&entry) {
                true => Some(HOLDS_POSITIONS.to_owned()),
                false if carry.may_hold_positions(&entry) => reasons.next().flatten(),
                false => None,
            };
            match reason {
                None => carry.objects.push(entry),
                Some(reason) => carry.refused.push(Refused::new(&entry, reason)),
            }
        }
        Ok(carry)
    }

    /// The keys that will be carried over, directories before what is in them.
    pub fn objects(&self) -> &[KeyEntry] {
        &self.objects
    }

    /// What cannot be carried over, and why.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// Whether an object has to be looked into: branches may be in it.
    fn may_hold_positions(&self, entry: &KeyEntry) -> bool {
        let described = self.infos.classes();
        let no_branches =
            !described.is_empty() && described.iter().all(|info| info.name != "TBranch");
        !no_branches && !entry.is_directory() && !holds_positions(entry)
    }

    /// Makes the directories in `out`, with their titles and dates; those that are there stay as they
    /// are. Who writes into them before [`ObjectCopy::write`] calls this first.
    ///
    /// # Errors
    /// `InvalidArgument` where `out` has an object of that name; `Io`.
    pub fn write_directories(&self, out: &mut RootFileWriter) -> Result<()> {
        let mut directories = self.objects.iter().filter(|entry| entry.is_directory());
        directories.try_for_each(|entry| {
            out.make_titled_directory(&entry.path, &entry.title, entry.datime)
        })
    }

    /// Writes the objects into `out`, and the streamer infos of this file into its list. Returns
    /// what could not be carried over after all, because `out` has something of that name or the
    /// references in an object cannot be followed, or because it is damaged.
    ///
    /// # Errors
    /// `Io`.
    pub fn write(&self, out: &mut RootFileWriter) -> Result<Vec<Refused>> {
        if self.objects.is_empty() {
            return Ok(Vec::new());
        }
        let mut refused = Vec::new();
        let taken: Vec<bool> = self.objects.iter().map(|entry| is_taken(out, entry)).collect();
        let foreign =
            self.objects.iter().zip(&taken).any(|(e, taken)| *taken && e.class == PROCESS_ID);
        let reason = |entry: &KeyEntry, taken: bool| {
            if taken {
                Some("an object of that name is there already")
            } else if foreign && !entry.is_directory() {
                Some("it may refer to objects by the processes of its file")
            } else {
                None
            }
        };
        let mut carried: Vec<(usize, &KeyEntry)> = Vec::new();
        for (number, (entry, taken)) in self.objects.iter().zip(taken).enumerate() {
            match reason(entry, taken) {
                Some(reason) => refused.push((number, Refused::new(entry, reason))),
                None if entry.is_directory() => {
                    out.make_titled_directory(&entry.path, &entry.title, entry.datime)?;
                }
                None => carried.push((number, entry)),
            }
        }
        let entries: Vec<&KeyEntry> = carried.iter().map(|(_, entry)| *entry).collect();
        let mut rest = carried.into_iter();
        self.file.records(&entries, |record| {
            let Some((number, entry)) = rest.next() else { return Ok(()) };
            let reason = match record.and_then(|record| self.write_one(out, entry, &record)) {
                Err(error) if is_damage(&error) => Some(error.message().to_owned()),
                written => written.in_file(self.file.name()).in_object(&entry.path)?,
            };
            refused.extend(reason.map(|reason| (number, Refused::new(entry, reason))));
            Ok(())
        })?;
        out.add_streamer_infos(&self.file.streamer_list()?)?;
        refused.sort_by_key(|(number, _)| *number);
        Ok(refused.into_iter().map(|(_, refused)| refused).collect())
    }

    fn write_one(
        &self,
        out: &mut RootFileWriter,
        entry: &KeyEntry,
        record: &Record,
    ) -> Result<Option<String>> {
        let small = out.keeps_small_key(entry);
        let keylen = RootFileWriter::stored_keylen(entry, small);
        let stored = if keylen == usize::from(entry.keylen) {
            record.stored()
        } else {
            match self.moved(out, entry, record, keylen)? {
                Ok(stored) => stored,
                Err(reason) => return Ok(Some(reason)),
            }
        };
        out.write_stored(directory(entry), entry, &stored, small)?;
        Ok(None)
    }

    /// The object for a key of another size.
    fn moved(
        &self,
        out: &RootFileWriter,
        entry: &KeyEntry,
        record: &Record,
        keylen: usize,
    ) -> Result<std::result::Result<Bytes, String>> {
        let mut payload = record.payload()?;
        let from = entry.keylen;
        if let Err(reason) =
            relocate(self.infos.complete(), &entry.class, &mut payload, from, keylen)
        {
            return Ok(Err(reason.to_string()));
        }
        let mut stored = Vec::new();
        Compressor::new(out.options().compression)?.compress(&payload, &mut stored)?;
        Ok(Ok(stored.into()))
    }
}

/// Path, cycle, class and reason.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.path, self.class, self.reason)
    }
}

impl Refused {
    fn new(entry: &KeyEntry, reason: impl Into<String>) -> Self {
        Self {
            path: format!("{};{}", entry.path, entry.cycle),
            class: entry.class.clone(),
            reason: reason.into(),
        }
    }
}

/// Whether the objects of a class hold positions in their file.
fn holds_positions(entry: &KeyEntry) -> bool {
    RNTUPLES.contains(&&*entry.class) || TREES.contains(&&*entry.class)
}

/// Why an object that may hold branches is not carried over.
fn reason_against(record: Result<Record>) -> Result<Option<String>> {
    let payload = match record.and_then(|record| record.payload()) {
        Err(error) if is_damage(&error) => return Ok(Some(error.message().to_owned())),
        payload => payload?,
    };
    let branch = payload.windows(NEW_BRANCH.len()).any(|window| window == NEW_BRANCH);
    Ok(branch.then(|| HOLDS_POSITIONS.to_owned()))
}

/// Whether the fault is that of the object. Others need not suffer from it.
fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), Kind::OutOfSpecification | Kind::Unsupported | Kind::LimitExceeded)
}

/// Whether `out` has an object of that name; directories are joined.
fn is_taken(out: &RootFileWriter, entry: &KeyEntry) -> bool {
    !entry.is_directory() && out.has(directory(entry), &entry.name)
}

/// The path of the directory that lists a key. Names may hold slashes.
fn directory(entry: &KeyEntry) -> &str {
    let directory = entry.path.strip_suffix(&*entry.name).unwrap_or("");
    directory.strip_suffix('/').unwrap_or(directory)
}

fn is_at_or_below(path: &str, other: &str) -> bool {
    let other = other.trim_matches('/');
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
