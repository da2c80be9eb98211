//! Finds the references between the objects of entries that come to another place.
//!
//! References are positions, counted from the start of the key, so that they change where an entry moves. The streamer infos of
//! the file say where they are.

use std::ops::Range;
use std::sync::OnceLock;

use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::{ObjectsAs, ReferenceFinder, may_refer};

use super::Reader;
use super::basket::Contents;
use crate::model::Basket;

/// The finder of the references in the baskets of a tree.
pub struct EntryReferences {
    file: RootFile,
    key: KeyEntry,
    /// The reader, which knows the layouts of branches, and the finder. They are made when an entry may have references.
    reader: OnceLock<(Reader, ReferenceFinder)>,
}

/// The references of an entry.
pub(crate) struct Referring {
    /// The entry, counted from the first entry of the basket.
    pub row: usize,
    /// The places of its references, counted from its first byte.
    pub places: Result<Vec<usize>>,
}

impl EntryReferences {
    /// Makes the finder for the tree of a key.
    pub(crate) fn new(file: &RootFile, key: &KeyEntry) -> Self {
        Self { file: file.clone(), key: key.clone(), reader: OnceLock::new() }
    }

    /// Returns the entries in `cuts` of a basket that may have references, in order. The entries `rows` are between the bytes
    /// `offsets` of its data, and all cuts are in them.
    ///
    /// # Errors
    /// `Unsupported` if nyssa does not read the branch; `OutOfSpecification` for a damaged basket.
    pub(crate) fn of(
        &self,
        (path, basket): (&str, &Basket),
        contents: &Contents<'_>,
        (rows, offsets): (Range<usize>, &[usize]),
        cuts: &[Range<u64>],
    ) -> Result<Vec<Referring>> {
        let places = contents.places(rows.clone(), offsets);
        let entries = rows.zip(offsets.windows(2)).zip(places);
        let is_cut = |row: usize| {
            let next = cuts.partition_point(|cut| cut.end <= row as u64);
            cuts.get(next).is_some_and(|cut| cut.contains(&(row as u64)))
        };
        let may = entries.filter(|((row, entry), place)| {
            let entry = contents.data.get(entry[0]..entry[1]).unwrap_or_default();
            is_cut(*row) && may_refer(entry, *place)
        });
        let wanted: Vec<usize> = may.map(|((row, _), _)| row).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (reader, finder) = self.reader()?;
        let places = reader.references((path, basket), contents, &wanted, finder)?;
        Ok(wanted.into_iter().zip(places).map(|(row, places)| Referring { row, places }).collect())
    }

    fn reader(&self) -> Result<&(Reader, ReferenceFinder)> {
        if let Some(known) = self.reader.get() {
            return Ok(known);
        }
        let infos = self.file.streamer_infos()?;
        let reader = Reader::of_key(&self.file, &self.key, &self.key.path, ObjectsAs::Links)?;
        Ok(self.reader.get_or_init(|| (reader, ReferenceFinder::new(infos))))
    }
}

/// Returns the error for an entry whose references are not known, so that it cannot move.
pub(crate) fn cannot_move(error: &Error) -> Error {
    Error::unsupported(format!(
        "an entry may have references between its objects, which nyssa cannot find, so that it cannot be moved to another place \
         in a basket: {}; leave the branch out, or leave its baskets as they are",
        error.message()
    ))
}
