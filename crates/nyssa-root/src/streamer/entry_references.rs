//! Finds the references between the objects of an entry, by the streamer infos of its file. All objects behind pointers are
//! decoded, each by its own class, so that no number counts as a reference.

use std::fmt;
use std::sync::Arc;

use super::column::ColumnBuilder;
use super::decode::Decoder;
use super::graph::{KnownLayouts, note_places};
use super::leaf_list::LeafList;
use super::process_places::ProcessPlaces;
use super::reference_places::{FindReferences, ReferencePlaces};
use super::{ObjectLayout, Origin, StreamerInfos};
use crate::error::{Kind, Result};

/// How an entry is streamed.
#[derive(Clone, Copy, Debug)]
pub enum EntryForm<'a> {
    /// It is an object of this class with a version header.
    Object(&'a str),
    /// It is one value, or the values of several items.
    Value {
        /// The layout, whose pointers are read as numbers ([`super::ObjectsAs::Links`]).
        layout: &'a ObjectLayout,
        /// The number of items, for a member of the items of a collection.
        items: Option<usize>,
        /// The lengths of the arrays behind pointers, if another branch has them.
        lengths: Option<&'a [usize]>,
    },
}

/// The finder of references in entries that the streamer infos of one file describe.
pub struct ReferenceFinder {
    infos: Arc<StreamerInfos>,
    layouts: KnownLayouts,
}

impl ReferenceFinder {
    /// Makes a finder for the classes that `infos` describe.
    pub fn new(infos: Arc<StreamerInfos>) -> Self {
        Self { infos, layouts: KnownLayouts::default() }
    }

    /// Returns the places of all references in an entry, in order. References are counted from `origin` bytes before it.
    ///
    /// # Errors
    /// `Unsupported` if an object in the entry is not decoded and may have a reference; `OutOfSpecification` with class,
    /// member and byte if the bytes do not match the streamer info.
    pub fn find(&self, form: EntryForm<'_>, entry: &[u8], origin: usize) -> Result<Vec<usize>> {
        match self.places(form, entry, origin) {
            Ok((places, _)) => places.all(entry, origin),
            Err(error) if error.kind() == Kind::Unsupported => {
                let unknown = vec![(0..entry.len(), error.message().to_owned())];
                ReferencePlaces { references: Vec::new(), unknown }.all(entry, origin)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the places of references, and the places of the numbers of processes, counted from the entry.
    fn places(
        &self,
        form: EntryForm<'_>,
        entry: &[u8],
        origin: usize,
    ) -> Result<(ReferencePlaces, ProcessPlaces)> {
        let mut decoder = match form {
            EntryForm::Object(class) => Decoder::of_object(class, entry, origin),
            EntryForm::Value { .. } => Decoder::of_entry(entry, origin),
        };
        decoder.processes = Some(ProcessPlaces::default());
        if let EntryForm::Value { layout, items, mut lengths } = form {
            if layout.fixed_size().is_some() || LeafList::of(&layout.node).is_some() {
                return Ok(Default::default());
            }
            let mut column = ColumnBuilder::new(&layout.shape);
            let (range, origin) = (0..entry.len(), Origin::Object(origin as u32));
            decoder.entry_at(
                &layout.node,
                entry,
                range,
                origin,
                items,
                &mut lengths,
                &mut column,
            )?;
        }
        let decoder = note_places((&self.layouts, &self.infos), entry, decoder)?;
        Ok((decoder.marks.unwrap_or_default(), decoder.processes.unwrap_or_default()))
    }
}

/// Finds the references in the objects of a branch that are read as bytes.
#[derive(Debug)]
pub(super) struct RawReferences {
    /// The class.
    pub class: Arc<str>,
    /// The layout of objects without a header.
    pub members: Option<ObjectLayout>,
    pub finder: ReferenceFinder,
}

impl FindReferences for RawReferences {
    fn places(&self, object: &[u8], origin: usize) -> Result<(ReferencePlaces, ProcessPlaces)> {
        let form = match &self.members {
            Some(layout) => EntryForm::Value { layout, items: None, lengths: None },
            None => EntryForm::Object(&self.class),
        };
        self.finder.places(form, object, origin)
    }
}

/// Shows nothing of the streamer infos, which are many.
impl fmt::Debug for ReferenceFinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceFinder").finish_non_exhaustive()
    }
}
