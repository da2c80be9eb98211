//! Reads objects with their own keys, such as histograms, graphs and parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::LargeBinaryArray;

use super::graph::{KnownLayouts, ObjectGraph};
use crate::arrow::streamer_field;
use crate::error::{Result, ResultExt};
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::info::{ClassInfo, known};

/// A reader of the objects of a file. The layout of a class is made when its first object is read.
pub struct ObjectReader {
    file: RootFile,
    layouts: KnownLayouts,
}

impl ObjectReader {
    /// Makes a reader of the objects of `file`. Nothing is read yet.
    pub fn new(file: RootFile) -> Self {
        Self { file, layouts: KnownLayouts::default() }
    }

    /// Returns the file.
    pub fn file(&self) -> &RootFile {
        &self.file
    }

    /// Reads the object of a key, with all objects that its pointers lead to. The result names the objects in it that
    /// cannot be decoded.
    ///
    /// # Errors
    /// `Unsupported` with the class, and with the member if there is one, if the file has no streamer info of the
    /// class or the class has its own streamer; `OutOfSpecification` with class, member and byte of the object if the
    /// bytes do not match the streamer info; an error if the record is damaged or cannot be read.
    pub fn read(&self, key: &KeyEntry) -> Result<ObjectGraph> {
        let payload = self.file.payload(key)?;
        let infos = self.file.streamer_infos()?;
        ObjectGraph::read_with(&self.layouts, &infos, &key.class, &payload, key.keylen)
            .in_file(self.file.name())
            .in_object(&key.path)
    }

    /// Reads the object of a key as the bytes that the streamer of the class wrote. The class may be any.
    ///
    /// # Errors
    /// `OutOfSpecification` when the record lies beyond the file or disagrees with its key, or its compressed data is
    /// damaged.
    pub fn read_raw(&self, key: &KeyEntry) -> Result<ObjectGraph> {
        let payload = self.file.payload(key)?;
        let bytes = LargeBinaryArray::from_iter_values([payload]);
        let field = streamer_field(&key.name.to_string(), &key.class);
        Ok(ObjectGraph::of_one(&key.class, field, Arc::new(bytes)))
    }

    /// Returns the newest version of each class that the file describes.
    ///
    /// # Errors
    /// `OutOfSpecification` when the list is damaged.
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
}
