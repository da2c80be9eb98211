//! Reads objects with their own keys, such as histograms, graphs and parameters, as arrays.

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

/// The mark before the name of a class that was not named before (`kNewClassTag`).
const NEW_CLASS: [u8; 4] = [0xFF; 4];
/// The largest number of layouts that are kept.
const MAX_LAYOUTS: usize = 256;

/// The name of a class, and the classes of the objects inside an object of the class.
type Kind = (String, BTreeSet<String>);

/// A reader of the objects of a file. The layout of a class is made when its first object is read.
pub struct ObjectReader {
    file: RootFile,
    layouts: Mutex<HashMap<Kind, Arc<ObjectLayout>>>,
}

impl ObjectReader {
    /// Makes a reader of the objects of `file`. Nothing is read yet.
    pub fn new(file: RootFile) -> Self {
        Self { file, layouts: Mutex::default() }
    }

    /// Returns the file.
    pub fn file(&self) -> &RootFile {
        &self.file
    }

    /// Reads the object of a key as an array with one row, whose type is that of [`ObjectLayout`]. Returns the
    /// array and its field, which has the name of the key.
    ///
    /// # Errors
    /// `Unsupported` with the class, and with the member if there is one, if the file has no streamer info of
    /// the class or the class has its own streamer; `OutOfSpecification` with class, member and byte of the
    /// object if the bytes do not match the streamer info; the errors of [`RootFile::payload`].
    pub fn read(&self, key: &KeyEntry) -> Result<(Field, ArrayRef)> {
        self.decode(key).in_file(self.file.name()).in_object(&key.path)
    }

    /// Reads the object of a key as [`ObjectReader::read`] does, but as the bytes that the streamer of the
    /// class wrote. The class may be any.
    ///
    /// # Errors
    /// The errors of [`RootFile::payload`].
    pub fn read_raw(&self, key: &KeyEntry) -> Result<(Field, ArrayRef)> {
        let payload = self.file.payload(key)?;
        let bytes = LargeBinaryArray::from_iter_values([payload]);
        Ok((streamer_field(&key.name.to_string(), &key.class), Arc::new(bytes)))
    }

    fn decode(&self, key: &KeyEntry) -> Result<(Field, ArrayRef)> {
        let payload = self.file.payload(key)?;
        let layout = self.layout(&key.class, &payload, key.keylen)?;
        let size = i64::try_from(payload.len()).unwrap_or(i64::MAX);
        let origin = Origin::Object(key.keylen.into());
        // The object is not an entry of a tree.
        let array = layout
            .decode_from(&payload, &[0, size], origin)
            .map_err(|error| error.move_entry(|_| None))?;
        Ok((layout.arrow_field(&key.name.to_string()), array))
    }

    /// Returns the newest version of each class that the file describes.
    ///
    /// # Errors
    /// The errors of [`RootFile::streamer_infos`].
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

    /// Returns the newest version of a class of ROOT from nyssa's own tables, for files that do not describe it.
    pub fn built_in(class: &str) -> Option<ClassInfo> {
        known::built_in(class).last().cloned()
    }

    /// Returns the layout of the class for an object.
    fn layout(&self, class: &str, payload: &[u8], keylen: u16) -> Result<Arc<ObjectLayout>> {
        let infos = self.file.streamer_infos()?;
        let layouts = || self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (class.to_owned(), classes(payload, &infos));
        if let Some(layout) = layouts().get(&of) {
            return Ok(Arc::clone(layout));
        }
        // Only the object says which versions are needed of classes that the file does not describe.
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

/// Returns the classes of the objects that pointers in an object lead to, and perhaps some more. They are the
/// names after the mark of a new class, and the names with a version in a `TClonesArray`.
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
            // The byte before the name is its length, which may look like a character of the name.
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
