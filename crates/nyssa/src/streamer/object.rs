//! Objects with keys of their own: histograms, graphs, parameters, and all else that a file holds.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, LargeBinaryArray};
use arrow_schema::Field;

use super::builtin::Builtin;
use super::{ObjectLayout, Origin};
use crate::arrow::streamer_field;
use crate::error::{Result, ResultExt};
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::info::{ClassInfo, StreamerInfos, known};

/// What stands before the name of a class that was not named before (`kNewClassTag`).
const NEW_CLASS: [u8; 4] = [0xFF; 4];
/// Layouts kept.
const MAX_LAYOUTS: usize = 256;

/// A class, and the classes of the objects in one of its own.
type Kind = (String, BTreeSet<String>);

/// Reads the objects of a file; the layout of a class is made when it is first met.
pub struct ObjectReader {
    file: RootFile,
    layouts: Mutex<HashMap<Kind, Arc<ObjectLayout>>>,
}

impl ObjectReader {
    /// For the objects of `file`. Reads nothing.
    pub fn new(file: RootFile) -> Self {
        Self { file, layouts: Mutex::default() }
    }

    /// The file.
    pub fn file(&self) -> &RootFile {
        &self.file
    }

    /// The object of a key as an array of one row, in the form that [`ObjectLayout`] gives its class,
    /// and the field of that array, named as the key.
    ///
    /// # Errors
    /// `Unsupported` naming the class, and the member where it is one's, when the file lacks its streamer
    /// info or the class is streamed in a way of its own; `OutOfSpecification` naming class, member
    /// and byte of the object when bytes and streamer info disagree; those of
    /// [`RootFile::payload`].
    pub fn read(&self, key: &KeyEntry) -> Result<(Field, ArrayRef)> {
        self.decode(key).in_file(self.file.name()).in_object(&key.path)
    }

    /// As [`ObjectReader::read`], with the bytes that the streamer of the class made: of any class.
    ///
    /// # Errors
    /// Those of [`RootFile::payload`].
    pub fn read_raw(&self, key: &KeyEntry) -> Result<(Field, ArrayRef)> {
        let payload = self.file.payload(key)?;
        let bytes = LargeBinaryArray::from_iter_values([payload]);
        Ok((streamer_field(&key.name, &key.class), Arc::new(bytes)))
    }

    fn decode(&self, key: &KeyEntry) -> Result<(Field, ArrayRef)> {
        let payload = self.file.payload(key)?;
        let layout = self.layout(&key.class, &payload, key.keylen)?;
        let size = i64::try_from(payload.len()).unwrap_or(i64::MAX);
        let origin = Origin::Object(key.keylen.into());
        // There is one object, which is no entry of anything.
        let array = layout
            .decode_from(&payload, &[0, size], origin)
            .map_err(|error| error.move_entry(|_| None))?;
        Ok((layout.arrow_field(&key.name), array))
    }

    /// The newest version of each class that the file describes.
    ///
    /// # Errors
    /// Those of [`RootFile::streamer_infos`].
    pub fn classes(&self) -> Result<Vec<ClassInfo>> {
        let infos = self.file.streamer_infos()?;
        let mut newest: BTreeMap<&str, &ClassInfo> = BTreeMap::new();
        for info in infos.classes() {
            let known = newest.entry(&info.name).or_insert(info);
            if known.version < info.version {
                *known = info;
            }
        }
        Ok(newest.into_values().cloned().collect())
    }

    /// The newest version of a class of ROOT that nyssa knows by heart, for files that leave it out.
    pub fn by_heart(class: &str) -> Option<ClassInfo> {
        known::by_heart(class).last().cloned()
    }

    /// The layout of the class for an object.
    fn layout(&self, class: &str, payload: &[u8], keylen: u16) -> Result<Arc<ObjectLayout>> {
        let infos = self.file.streamer_infos()?;
        let layouts = || self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (class.to_owned(), classes(payload, &infos));
        if let Some(layout) = layouts().get(&of) {
            return Ok(Arc::clone(layout));
        }
        // Which versions of the classes that the file leaves out are needed, only the object tells.
        if infos.leaves_out(of.1.iter().map(String::as_str).chain([class])) {
            let names = of.1.iter().map(String::as_str);
            let more = infos.left_out((class, payload, keylen), names);
            return ObjectLayout::compile_met(&infos, &more, &[class], &of.1).map(Arc::new);
        }
        let layout = Arc::new(ObjectLayout::compile_met(&infos, &[], &[class], &of.1)?);
        let mut layouts = layouts();
        if layouts.len() >= MAX_LAYOUTS {
            layouts.clear();
        }
        Ok(Arc::clone(layouts.entry(of).or_insert(layout)))
    }
}

/// The classes of the objects that pointers in an object lead to, and perhaps some more: names behind
/// the mark of a new class, and those with a version in a `TClonesArray`.
fn classes(payload: &[u8], infos: &StreamerInfos) -> BTreeSet<String> {
    let described = infos.classes().iter().map(|info| &*info.name);
    let known: HashSet<&str> = described
        .chain(known::names().map(|name| name as &str))
        .chain(Builtin::collections().map(|name| name as &str))
        .chain(Builtin::arrays().map(|name| name as &str))
        .collect();
    let longest = known.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut found = BTreeSet::new();
    let mut add = |name: &[u8]| {
        if let Some(name) = str::from_utf8(name).ok().filter(|name| known.contains(name)) {
            found.insert(name.to_owned());
        }
    };
    for (at, &byte) in payload.iter().enumerate() {
        let (before, behind) = (&payload[..at], &payload[at..]);
        if let Some(name) = behind.strip_prefix(&NEW_CLASS) {
            let name = &name[..name.len().min(longest + 1)];
            add(name.split(|&byte| byte == 0).next().unwrap_or_default());
        } else if byte == b';' {
            let before = &before[at - at.min(longest)..];
            let is_name = |byte: &&u8| byte.is_ascii_graphic() || **byte == b' ';
            let len = before.iter().rev().take_while(is_name).count();
            // The byte before the name, its length, may look like one of it.
            (before.len() - len..before.len()).for_each(|start| add(&before[start..]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infos(names: &[&str]) -> StreamerInfos {
        let class = |name: &&str| ClassInfo {
            name: (*name).to_owned(),
            version: 1,
            checksum: 0,
            elements: Vec::new(),
        };
        StreamerInfos::new(names.iter().map(class).collect())
    }

    #[test]
    fn finds_the_classes_of_pointers_and_arrays() {
        let infos = infos(&["TH1F", "TAxis", "My<int, 3>", "0Odd"]);
        let found = |bytes: &[u8]| classes(bytes, &infos).into_iter().collect::<Vec<_>>();
        assert_eq!(found(b"\x40\0\0\x09\xff\xff\xff\xffTH1F\0\0\x01"), ["TH1F"]);
        assert_eq!(found(b"\xff\xff\xff\xffTH1F"), ["TH1F"]);
        assert_eq!(found(b"\xff\xff\xff\xffTH\0\xff\xff\xff\xffTH1FF\0TAxis\0"), [""; 0]);
        // The byte before a name is its length, here a printable one.
        assert_eq!(found(b"\x0cMy<int, 3>;1 \x07TAxis;10"), ["My<int, 3>", "TAxis"]);
        assert_eq!(found(b"0TAxis;9"), ["TAxis"]);
        assert_eq!(found(b";;;TAxis\xe9;1"), [""; 0]);
    }
}
