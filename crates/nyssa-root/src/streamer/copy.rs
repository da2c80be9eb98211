//! Copies objects from one file into another. The copy has the same bytes, name, title, cycle and dates, and the output
//! gets the streamer infos that describe the objects.
//!
//! An object is decoded only if it may hold a TTree. References inside an object are positions, counted from the start
//! of its key. If the size of the key changes, the references are changed as well.
//!
//! Objects that hold positions in their file (TTrees with their baskets, RNTuples) are not copied, but reported.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::compression::Compressor;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::rootfile::writer::RootFileWriter;
use crate::rootfile::{KeyEntry, Record, RootFile, name_of, split};
use crate::streamer::info::{Clashes, StreamerInfos};
use crate::streamer::possible_references::possible_reference;
use crate::streamer::processes::{OTHER_PROCESS, PROCESS_ID, has_references, process_number};
use crate::streamer::standalone::rebase;
use crate::streamer::values::relocate;
use crate::streamer::{EntryForm, ReferenceFinder};

/// The class names of RNTuples: the current name and the name of experimental versions.
const RNTUPLES: [&str; 2] = ["ROOT::RNTuple", "ROOT::Experimental::RNTuple"];
/// The names of the classes that hold baskets.
const TREES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];
/// The bytes at the start of the first branch in an object: the mark of a new class and its name. Every tree
/// with baskets has them.
const NEW_BRANCH: &[u8] = b"\xFF\xFF\xFF\xFFTBranch";

/// The reason why an object that refers to data in its file is not copied.
const HOLDS_POSITIONS: &str =
    "it holds positions in its file, so that its data would have to be moved with it";

/// The objects of one file that are to be copied.
pub struct ObjectCopy {
    file: RootFile,
    infos: Arc<StreamerInfos>,
    objects: Vec<KeyEntry>,
    refused: Vec<Refused>,
}

/// An object that is not copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The path and cycle, as `dir/name;cycle`.
    pub path: String,
    /// The class name.
    pub class: String,
    /// The reason why it is not copied.
    pub reason: String,
}

impl Refused {
    /// Returns the path without the cycle.
    pub fn without_cycle(&self) -> &str {
        self.path.rsplit_once(';').map_or(&*self.path, |(path, _)| path)
    }
}

impl ObjectCopy {
    /// Plans to copy all objects of `file` except those at the paths `exclude`. A path stands for all cycles of
    /// an object, or for a directory with all objects in it.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
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
            reasons.push(reason_against(record.and_then(|record| record.payload()))?);
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

    /// Returns the title of the file.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged first key; `Io` if the file cannot be read.
    pub fn title(&self) -> Result<String> {
        self.file.title()
    }

    /// Returns the keys that will be copied. A directory comes before the objects in it.
    pub fn objects(&self) -> &[KeyEntry] {
        &self.objects
    }

    /// Returns the objects that cannot be copied, with the reasons.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// Returns whether an object has to be decoded, because there may be branches in it.
    fn may_hold_positions(&self, entry: &KeyEntry) -> bool {
        let described = self.infos.classes();
        let no_branches =
            !described.is_empty() && described.iter().all(|info| info.name != "TBranch");
        !no_branches && !entry.is_directory() && !holds_positions(entry)
    }

    /// Makes the directories in `out`, with their titles and dates. Directories that exist in `out` do not
    /// change. Call this before other objects are written into the directories.
    ///
    /// # Errors
    /// `InvalidArgument` if `out` has another object with the name of a directory; `Io` if the output cannot be
    /// written.
    pub fn write_directories(&self, out: &mut RootFileWriter) -> Result<()> {
        let mut directories = self.objects.iter().filter(|entry| entry.is_directory());
        directories.try_for_each(|entry| {
            out.make_titled_directory(&entry.path, entry.title.as_ref(), entry.datime)
        })
    }

    /// Writes the objects into `out`, and adds the streamer infos of this file to `out`. Returns the
    /// objects that could not be copied because `out` has an object with the same name or describes their classes
    /// in another way, because their references cannot be found, or because they are damaged.
    ///
    /// # Errors
    /// `Io` if the objects cannot be read or written.
    pub fn write(&self, out: &mut RootFileWriter) -> Result<Vec<Refused>> {
        if self.objects.is_empty() {
            return Ok(Vec::new());
        }
        let mut refused = Vec::new();
        // A process that is already in the output needs no copy, and its references are right.
        let is_there = |entry: &KeyEntry| {
            entry.class == PROCESS_ID && out.title_at(&entry.path) == Some(entry.title.as_ref())
        };
        let objects: Vec<(usize, &KeyEntry)> =
            self.objects.iter().enumerate().filter(|(_, entry)| !is_there(entry)).collect();
        let taken: Vec<bool> = objects.iter().map(|(_, entry)| is_taken(out, entry)).collect();
        let foreign =
            objects.iter().zip(&taken).any(|((_, e), taken)| *taken && e.class == PROCESS_ID);
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
        for ((number, entry), taken) in objects.into_iter().zip(taken) {
            match reason(entry, taken) {
                Some(reason) => refused.push((number, Refused::new(entry, reason))),
                None if entry.is_directory() => {
                    out.make_titled_directory(&entry.path, entry.title.as_ref(), entry.datime)?;
                }
                None => carried.push((number, entry)),
            }
        }
        let entries: Vec<&KeyEntry> = carried.iter().map(|(_, entry)| *entry).collect();
        let mut rest = carried.into_iter();
        let clashes = out.clashes(&self.infos)?;
        self.file.records(&entries, |record| {
            let Some((number, entry)) = rest.next() else { return Ok(()) };
            let reason =
                match record.and_then(|record| self.write_planned(out, entry, &record, &clashes)) {
                    Err(error) if is_of_one_object(&error) => Some(error.message().to_owned()),
                    written => written.in_file(self.file.name()).in_object(&entry.path)?,
                };
            refused.extend(reason.map(|reason| (number, Refused::new(entry, reason))));
            Ok(())
        })?;
        out.add_streamer_infos(&self.file.streamer_list()?)?;
        refused.sort_by_key(|(number, _)| *number);
        Ok(refused.into_iter().map(|(_, refused)| refused).collect())
    }

    /// Takes objects out of the plan, by their paths.
    pub fn leave(&mut self, paths: &HashSet<&str>) {
        self.objects.retain(|key| key.is_directory() || !paths.contains(&*key.path));
    }

    /// Takes objects out of the plan for which `is_kept` returns false.
    pub fn retain(&mut self, is_kept: impl Fn(&KeyEntry) -> bool) {
        self.objects.retain(is_kept);
    }

    /// Returns the objects of `keys` that cannot be in a file with the classes `others`, by their paths, with the
    /// reasons.
    ///
    /// # Errors
    /// Returns an error if an object cannot be read.
    pub fn described_otherwise(
        file: &RootFile,
        keys: &[KeyEntry],
        others: &StreamerInfos,
    ) -> Result<BTreeMap<String, String>> {
        let infos = file.streamer_infos()?;
        let clashes = Clashes::new(&infos, others);
        let mut reasons = BTreeMap::new();
        let objects = keys.iter().filter(|key| !clashes.is_empty() && !holds_positions(key));
        for key in objects {
            let payload = file.payload(key).in_file(file.name()).in_object(&key.path)?;
            let reason = clashes.reason_against_object(&key.class, &payload);
            reasons.extend(reason.map(|reason| (key.path.clone(), reason)));
        }
        Ok(reasons)
    }

    /// Writes an object of a key of `file` with other bytes, but with the same references and key.
    ///
    /// # Errors
    /// `Unsupported` if its references have to move and cannot be found; an error if the sink cannot be written.
    pub fn write_changed(
        file: &RootFile,
        key: &KeyEntry,
        mut payload: Vec<u8>,
        out: &mut RootFileWriter,
    ) -> Result<()> {
        let small = out.keeps_small_key(key);
        let keylen = RootFileWriter::stored_keylen(key, small);
        if keylen != usize::from(key.keylen) {
            let infos = file.streamer_infos()?;
            relocate(infos.complete(), &key.class, &mut payload, key.keylen, keylen)
                .in_file(file.name())
                .in_object(&key.path)?;
        }
        let mut stored = Vec::new();
        Compressor::new(out.options().compression)?
            .with_checksums()?
            .compress(&payload, &mut stored)?;
        let objlen = u32::try_from(payload.len())
            .map_err(|_| Error::limit("the object has more bytes than a key can say"))?;
        out.write_stored(split(&key.path).0, &KeyEntry { objlen, ..key.clone() }, &stored, small)
    }

    /// Copies one object into the directory `dir` of `out`, where an object may have its name already: the copy then
    /// gets the next cycle. The streamer infos of the file go with it, and the processes if it has references.
    ///
    /// # Errors
    /// `Unsupported` for a directory, for objects that hold positions in their file, and for objects whose references
    /// cannot be found or mean something else in `out`; `InvalidArgument` for a name that a directory has; an error
    /// if reading or writing fails.
    pub(crate) fn copy_object(
        file: &RootFile,
        key: &KeyEntry,
        out: &mut RootFileWriter,
        dir: &str,
        name: &str,
    ) -> Result<()> {
        let infos = file.streamer_infos()?;
        let copy = Self { file: file.clone(), infos, objects: Vec::new(), refused: Vec::new() };
        let copied = match copy.bring_processes(key, out, (dir, name)) {
            Ok(true) => copy.write_new(key, out, dir, name),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        copied.in_file(file.name()).in_object(&key.path)?;
        out.add_streamer_infos(&file.streamer_list()?)
    }

    /// Gives the references of an object in `out` the meaning that they have in its file. Returns whether the object
    /// must still be copied, which is not so for a process that `out` already has at the place of the copy.
    fn bring_processes(
        &self,
        key: &KeyEntry,
        out: &mut RootFileWriter,
        (dir, name): (&str, &str),
    ) -> Result<bool> {
        if key.class == PROCESS_ID {
            let path = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
            return Ok(out.title_at(&path) != Some(key.title.as_ref()));
        }
        let mut processes = self.file.keys()?;
        processes.retain(|key| process_number(key).is_some());
        if processes.is_empty() || key.is_directory() || !has_references(&self.file, key)? {
            return Ok(true);
        }
        for process in &processes {
            match out.title_at(&process.path) {
                Some(title) if title == process.title => {}
                Some(_) => {
                    let message = format!("this {} cannot be copied: {OTHER_PROCESS}", key.class);
                    return Err(Error::unsupported(message));
                }
                None => self.write_new(process, out, "", &process.path)?,
            }
        }
        Ok(true)
    }

    fn write_new(
        &self,
        key: &KeyEntry,
        out: &mut RootFileWriter,
        dir: &str,
        name: &str,
    ) -> Result<()> {
        let refuse = |reason: &str| {
            Error::unsupported(format!("this {} cannot be copied: {reason}", key.class))
        };
        if key.is_directory() {
            return Err(refuse("it is a directory"));
        }
        if holds_positions(key) {
            return Err(refuse(HOLDS_POSITIONS));
        }
        let mut read = None;
        self.file.records(&[key], |record| {
            read = Some(record?);
            Ok(())
        })?;
        let record = read.ok_or_else(|| refuse("it cannot be read"))?;
        if self.may_hold_positions(key)
            && let Some(reason) = reason_against(record.payload())?
        {
            return Err(refuse(&reason));
        }
        if let Some(reason) = described_otherwise(&out.clashes(&self.infos)?, key, &record)? {
            return Err(refuse(&reason));
        }
        let path = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
        let name = name_of(name);
        let cycle = out.next_cycle(dir, name.as_ref())?;
        let place = KeyEntry { path, name, cycle, ..key.clone() };
        let small = out.keeps_small_key(&place);
        let keylen = RootFileWriter::stored_keylen(&place, small);
        let stored = self.stored(out, key, &record, keylen)?.map_err(|reason| refuse(&reason))?;
        out.write_stored(dir, &place, &stored, small)
    }

    fn write_planned(
        &self,
        out: &mut RootFileWriter,
        entry: &KeyEntry,
        record: &Record,
        clashes: &Clashes<'_>,
    ) -> Result<Option<String>> {
        if let Some(reason) = described_otherwise(clashes, entry, record)? {
            return Ok(Some(reason));
        }
        let small = out.keeps_small_key(entry);
        let keylen = RootFileWriter::stored_keylen(entry, small);
        match self.stored(out, entry, record, keylen)? {
            Ok(stored) => out.write_stored(split(&entry.path).0, entry, &stored, small)?,
            Err(reason) => return Ok(Some(reason)),
        }
        Ok(None)
    }

    /// Returns the bytes of the object for a key of `keylen` bytes, or the reason why they cannot be made.
    fn stored(
        &self,
        out: &RootFileWriter,
        entry: &KeyEntry,
        record: &Record,
        keylen: usize,
    ) -> Result<std::result::Result<Bytes, String>> {
        match keylen == usize::from(entry.keylen) {
            true => Ok(Ok(record.stored())),
            false => self.moved(out, entry, record, keylen),
        }
    }

    /// Returns the bytes of the object with its references changed for the size of the new key.
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
            // Another reader may know all objects in it. If there are no references, nothing changes.
            let finder = || ReferenceFinder::new(Arc::clone(&self.infos));
            let form = EntryForm::Object(&entry.class);
            let references = match possible_reference(&payload, 0..payload.len(), from.into()) {
                Some(_) => finder().find(form, &payload, from.into()),
                None => Ok(Vec::new()),
            };
            match references {
                Ok(references) => rebase(&mut payload, &references, from.into(), keylen)?,
                Err(_) => return Ok(Err(reason.to_string())),
            }
        }
        let mut stored = Vec::new();
        Compressor::new(out.options().compression)?
            .with_checksums()?
            .compress(&payload, &mut stored)?;
        Ok(Ok(stored.into()))
    }
}

/// Shows the path, cycle, class and reason.
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

/// Returns whether the object of a key holds positions in its file.
fn holds_positions(entry: &KeyEntry) -> bool {
    RNTUPLES.contains(&&*entry.class) || TREES.contains(&&*entry.class)
}

/// Returns the reason why an object that may hold branches is not copied, if any.
fn reason_against(payload: Result<Vec<u8>>) -> Result<Option<String>> {
    let payload = match payload {
        Err(error) if is_of_one_object(&error) => return Ok(Some(error.message().to_owned())),
        payload => payload?,
    };
    let branch = payload.windows(NEW_BRANCH.len()).any(|window| window == NEW_BRANCH);
    Ok(branch.then(|| HOLDS_POSITIONS.to_owned()))
}

/// Returns the reason why an object is not copied if the output describes a class in it with other members.
fn described_otherwise(
    clashes: &Clashes<'_>,
    entry: &KeyEntry,
    record: &Record,
) -> Result<Option<String>> {
    match clashes.is_empty() {
        true => Ok(None),
        false => Ok(clashes.reason_against_object(&entry.class, &record.payload()?)),
    }
}

/// Returns whether an error concerns one object only, so that the others can be copied.
fn is_of_one_object(error: &Error) -> bool {
    matches!(error.kind(), Kind::OutOfSpecification | Kind::Unsupported | Kind::LimitExceeded)
}

/// Returns whether `out` has an object with this name. Two directories with one name become one.
fn is_taken(out: &RootFileWriter, entry: &KeyEntry) -> bool {
    !entry.is_directory() && out.has(&entry.path)
}

fn is_at_or_below(path: &str, other: &str) -> bool {
    let other = other.trim_matches('/');
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
