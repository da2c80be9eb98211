//! Reads one object with all objects that its pointers lead to, each by the class that is met.
//!
//! ```text
//! whole object ──► its row; the numbers of the objects behind its pointers
//! those objects, by class and version ──► a table for each class; more numbers
//! ... until no object is left
//! ```
//!
//! Objects may be nested in any depth and refer to each other. Each of them is decoded once.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ArrayRef;
use arrow_schema::Field;

use super::column::ColumnBuilder;
use super::compile::ClassVersion;
use super::decode::{Decoder, Inside, Pending};
use super::{ObjectLayout, StreamerInfos};
use crate::cursor::Cursor;
use crate::error::{Error, Kind, Result};
use crate::streamer::info::known;

/// The largest number of stored layouts.
const MAX_LAYOUTS: usize = 256;
/// The largest number of classes in one object whose shape is not the shape of their newest version.
const MAX_CHOSEN: usize = 64;

/// An object with the objects that its pointers lead to.
#[derive(Debug, Default)]
pub struct ObjectGraph {
    tables: Vec<ObjectTable>,
    objects: Vec<Linked>,
}

/// Objects of one class as the rows of an array. The array has the type of an [`ObjectLayout`] with numbers for
/// pointers ([`crate::arrow::link_field`]).
#[derive(Clone, Debug)]
pub struct ObjectTable {
    /// The class.
    pub class: String,
    /// The field of the array.
    pub field: Field,
    /// The objects.
    pub array: ArrayRef,
}

/// The place of an object.
#[derive(Clone, Debug)]
pub enum Linked {
    /// The object is a row of a table.
    Row {
        /// The number of the table.
        table: usize,
        /// The row of the table.
        row: usize,
    },
    /// There is no object: a null pointer among the items of a `TClonesArray`.
    Null,
    /// The object is not decoded.
    Undecoded(Undecoded),
}

/// An object that is not decoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Undecoded {
    /// The class.
    pub class: String,
    /// The reason.
    pub reason: String,
}

/// Shows the class and the reason.
impl fmt::Display for Undecoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of class {} in it: {}", self.class, self.reason)
    }
}

impl ObjectGraph {
    /// Makes a graph of one object, which is the only row of an array.
    pub fn of_one(class: &str, field: Field, array: ArrayRef) -> Self {
        let table = ObjectTable { class: class.to_owned(), field, array };
        Self { tables: vec![table], objects: vec![Linked::Row { table: 0, row: 0 }] }
    }

    /// Returns the tables of all classes.
    pub fn tables(&self) -> &[ObjectTable] {
        &self.tables
    }

    /// Returns the places of all objects. A pointer has the number of its object, counted from 1. The whole object is
    /// the first.
    pub fn objects(&self) -> &[Linked] {
        &self.objects
    }

    /// Returns the objects that are not decoded.
    pub fn undecoded(&self) -> impl Iterator<Item = &Undecoded> {
        self.objects.iter().filter_map(|object| match object {
            Linked::Undecoded(undecoded) => Some(undecoded),
            _ => None,
        })
    }
}

/// A class, and the versions that give the shapes of the classes in it.
pub(super) type Shaped = (String, BTreeMap<String, ClassVersion>);

/// The layouts that were made, by class and the versions that give the shapes.
#[derive(Debug, Default)]
pub(super) struct KnownLayouts(Mutex<HashMap<Shaped, Arc<ObjectLayout>>>);

impl KnownLayouts {
    /// Returns the layout of the objects of a class.
    fn layout(&self, infos: &StreamerInfos, shaped: &Shaped) -> Result<Arc<ObjectLayout>> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = known().get(shaped) {
            return Ok(Arc::clone(layout));
        }
        let (class, chosen) = shaped;
        let layout = Arc::new(ObjectLayout::compile_links(infos, class, chosen)?);
        let mut known = known();
        if known.len() >= MAX_LAYOUTS {
            known.clear();
        }
        Ok(Arc::clone(known.entry(shaped.clone()).or_insert(layout)))
    }
}

impl ObjectGraph {
    /// Reads an object of a class and all objects that its pointers lead to. References are counted from `origin`
    /// bytes before its payload.
    ///
    /// # Errors
    /// `Unsupported` if the class has no streamer info or its own streamer; `OutOfSpecification` with class, member
    /// and byte of the object if the bytes do not match the streamer info.
    pub fn read(infos: &StreamerInfos, class: &str, payload: &[u8], origin: u16) -> Result<Self> {
        Self::read_with(&KnownLayouts::default(), infos, class, payload, origin)
    }

    /// Reads an object of a class and all objects that its pointers lead to, with the layouts that are known.
    pub(super) fn read_with(
        layouts: &KnownLayouts,
        infos: &StreamerInfos,
        class: &str,
        payload: &[u8],
        origin: u16,
    ) -> Result<Self> {
        let decoder = Decoder::of_objects(payload, class, origin.into());
        let mut walk = Walk::new((layouts, infos), payload, decoder);
        walk.all()?;
        Ok(walk.graph)
    }
}

/// Decodes the objects that a decoder has met in `payload`, and the objects that their pointers lead to, for the places that
/// the decoder notes. Their values are not kept.
///
/// # Errors
/// `Unsupported` if the first object cannot be decoded; `OutOfSpecification` with class, member and byte if the bytes do
/// not match the streamer info.
pub(super) fn note_places<'w>(
    classes: (&'w KnownLayouts, &'w StreamerInfos),
    payload: &'w [u8],
    decoder: Decoder<'w>,
) -> Result<Decoder<'w>> {
    let mut walk = Walk { keeps_values: false, ..Walk::new(classes, payload, decoder) };
    walk.all()?;
    Ok(walk.decoder)
}

/// The reading of one object.
struct Walk<'w> {
    layouts: &'w KnownLayouts,
    infos: &'w StreamerInfos,
    payload: &'w [u8],
    decoder: Decoder<'w>,
    /// Whether a class has several versions.
    several: HashMap<String, bool>,
    graph: ObjectGraph,
    /// Whether the graph gets the values of the objects.
    keeps_values: bool,
}

impl<'w> Walk<'w> {
    fn new(
        (layouts, infos): (&'w KnownLayouts, &'w StreamerInfos),
        payload: &'w [u8],
        decoder: Decoder<'w>,
    ) -> Self {
        let (several, graph) = (HashMap::new(), ObjectGraph::default());
        Self { layouts, infos, payload, decoder, several, graph, keeps_values: true }
    }

    fn all(&mut self) -> Result<()> {
        loop {
            let pending = self.decoder.take_pending();
            if pending.is_empty() {
                return Ok(());
            }
            self.graph.objects.resize(self.decoder.objects(), Linked::Null);
            let mut groups: BTreeMap<Shaped, Vec<Pending>> = BTreeMap::new();
            for item in pending {
                let chosen = self.version_of(&item).map(|version| (item.class.clone(), version));
                let shaped = (item.class.clone(), chosen.into_iter().collect());
                groups.entry(shaped).or_default().push(item);
            }
            groups.into_iter().try_for_each(|(shaped, group)| self.group(shaped, &group))?;
            for (number, class, reason) in self.decoder.take_skipped() {
                let reason = reason.to_string();
                self.place(number, Linked::Undecoded(Undecoded { class, reason }));
            }
        }
    }

    /// Returns the version of the objects if their class has several.
    fn version_of(&mut self, pending: &Pending) -> Option<ClassVersion> {
        let (infos, class) = (self.infos, &*pending.class);
        let several = self.several.entry(class.to_owned()).or_insert_with(|| {
            let described = infos.classes().iter().filter(|info| info.name == class).count();
            let known = known::built_in(class).len();
            described > 1 || described == 0 && known > 1
        });
        if !*several {
            return None;
        }
        let mut cursor = Cursor::new(self.payload.get(..pending.bytes.end)?, 0);
        cursor.seek(pending.bytes.start).ok()?;
        let number = match pending.version() {
            Some(version) => version,
            None => cursor.version_header().ok()?.version.cast_signed().into(),
        };
        let checksum = if number > 0 { 0 } else { cursor.be_u32().unwrap_or(0) };
        Some(ClassVersion { number, checksum })
    }

    /// Decodes objects of one class together. If one of them cannot be decoded, each is decoded alone.
    fn group(&mut self, mut shaped: Shaped, group: &[Pending]) -> Result<()> {
        let layout = match self.layouts.layout(self.infos, &shaped) {
            Err(error) => return self.undecoded(group, error),
            layout => layout?,
        };
        let error = match self.table(&layout, &shaped.0, group) {
            Err(error) if error.kind() == Kind::Unsupported => error,
            done => return done,
        };
        // A member may have another type in another version of its class. Then this version gives the shape.
        if let Some((class, version)) = self.decoder.conflict.take()
            && shaped.1.len() < MAX_CHOSEN
            && !shaped.1.contains_key(&class)
        {
            shaped.1.insert(class, version);
            return self.group(shaped, group);
        }
        match group {
            [_] => self.undecoded(group, error),
            group => {
                shaped.1.retain(|class, _| *class == shaped.0);
                group
                    .iter()
                    .try_for_each(|item| self.group(shaped.clone(), std::slice::from_ref(item)))
            }
        }
    }

    /// Makes a table of objects.
    fn table(&mut self, layout: &Arc<ObjectLayout>, class: &str, group: &[Pending]) -> Result<()> {
        // The objects of a group that could not be decoded are of no use.
        self.decoder.take_inside();
        let mut column = ColumnBuilder::new(&layout.shape);
        let before = self.decoder.noted();
        for item in group {
            let decoded = self.decoder.pending(layout, item, &mut column);
            decoded.inspect_err(|_| self.decoder.forget(&before))?;
        }
        if !self.keeps_values {
            return Ok(());
        }
        let array = column.finish(&layout.shape)?;
        let table = self.graph.tables.len();
        let field = layout.arrow_field("");
        self.graph.tables.push(ObjectTable { class: class.to_owned(), field, array });
        let numbers = group.iter().flat_map(|element| (element.first..).take(element.count()));
        for (row, number) in numbers.enumerate() {
            let place = match self.decoder.is_null(number) {
                true => Linked::Null,
                false => Linked::Row { table, row },
            };
            self.place(number, place);
        }
        self.decoder.take_inside().into_iter().try_for_each(|inside| self.inside(inside))
    }

    /// Makes a table of objects that were decoded with the objects around them.
    fn inside(&mut self, inside: Inside) -> Result<()> {
        let Inside { class, first, count, shape, column } = inside;
        let table = self.graph.tables.len();
        let (field, array) = (shape.field(""), column.finish(&shape)?);
        self.graph.tables.push(ObjectTable { class, field, array });
        for (row, number) in (first..).take(count).enumerate() {
            self.place(number, Linked::Row { table, row });
        }
        Ok(())
    }

    /// Records that objects are not decoded. Returns an error that concerns the whole object.
    fn undecoded(&mut self, group: &[Pending], error: Error) -> Result<()> {
        if error.kind() != Kind::Unsupported || group.iter().any(|element| element.first == 1) {
            return Err(error);
        }
        for item in group {
            let (class, reason) = (item.class.clone(), error.message().to_owned());
            let undecoded = Undecoded { class, reason };
            self.decoder.unknown(item.bytes.clone(), &undecoded.to_string());
            let undecoded = Linked::Undecoded(undecoded);
            for number in (item.first..).take(item.count()) {
                self.place(number, undecoded.clone());
            }
        }
        Ok(())
    }

    fn place(&mut self, number: u32, place: Linked) {
        let index = (number as usize).wrapping_sub(1);
        if self.graph.objects.len() <= index {
            self.graph.objects.resize(self.decoder.objects(), Linked::Null);
        }
        if let Some(room) = self.graph.objects.get_mut(index) {
            *room = place;
        }
    }
}
