//! Reads pointers as the numbers of the objects that they lead to. These objects are decoded afterwards, each by its own
//! class, so that neither the classes nor the depth of the objects have to be known before.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::{Decoder, in_object};
use crate::cursor::{BYTE_COUNT, Cursor};
use crate::error::{Error, Result};
use crate::streamer::ObjectLayout;
use crate::streamer::column::ColumnBuilder;
use crate::streamer::node::{Class, Node, Pointer, Version};
use crate::streamer::number;
use crate::streamer::reference_places::ReferencePlaces;
use crate::streamer::shape::Shape;
use crate::streamer::wire::{BYPASS_STREAMER, CLASS, NEW_CLASS};

/// The tag of the object that contains all others (`TBufferFile::MapObject` before it is streamed).
const WHOLE: u32 = 1;

/// The largest depth of objects inside objects that are streamed member by member.
const MAX_DEPTH: usize = 100;

/// The objects that were met so far. They are counted from 1.
pub(super) struct Met<'a> {
    payload: &'a [u8],
    /// The number of each object by the position of its first byte.
    numbers: HashMap<usize, u32>,
    count: u32,
    /// The numbers of null pointers among the items of a `TClonesArray`.
    nulls: HashSet<u32>,
    pending: Vec<Pending>,
    /// The layout of the objects that are being decoded.
    layout: Option<Arc<ObjectLayout>>,
    inside: Vec<Inside>,
    /// The number, the type and the reason of members that are not decoded.
    skipped_members: Vec<(u32, String, Arc<str>)>,
    /// The bytes of other objects in the object that is being decoded.
    skipped: usize,
}

/// Objects inside objects of their own class that are streamed member by member, so that they are decoded with these.
pub(in crate::streamer) struct Inside {
    pub class: String,
    /// The number of the first object.
    pub first: u32,
    pub count: usize,
    pub shape: Shape,
    pub column: ColumnBuilder,
}

/// Objects of one class that are to be decoded.
#[derive(Debug)]
pub(in crate::streamer) struct Pending {
    pub class: String,
    /// The number of the first object.
    pub first: u32,
    pub bytes: Range<usize>,
    pub items: Option<Items>,
}

/// The numbers of places and objects that were noted.
pub(in crate::streamer) struct Noted {
    references: usize,
    pending: usize,
    processes: usize,
}

/// The items of a `TClonesArray`.
#[derive(Clone, Copy, Debug)]
pub(in crate::streamer) struct Items {
    count: usize,
    version: i32,
    by_member: bool,
}

impl Pending {
    /// Returns the version that the array of the objects states.
    pub(crate) fn version(&self) -> Option<i32> {
        self.items.map(|items| items.version)
    }

    /// Returns the number of objects.
    pub(crate) fn count(&self) -> usize {
        self.items.map_or(1, |items| items.count)
    }
}

impl<'a> Decoder<'a> {
    /// Makes a decoder of an object and of the objects that its pointers lead to. References are counted from
    /// `origin` bytes before the object.
    pub(crate) fn of_objects(payload: &'a [u8], class: &str, origin: usize) -> Self {
        let whole =
            Pending { class: class.to_owned(), first: 1, bytes: 0..payload.len(), items: None };
        let met = Met {
            payload,
            numbers: HashMap::from([(0, 1)]),
            count: 1,
            nulls: HashSet::new(),
            pending: vec![whole],
            layout: None,
            inside: Vec::new(),
            skipped_members: Vec::new(),
            skipped: 0,
        };
        Self { met: Some(met), origin, ..Self::new(payload.len()) }
    }

    /// Makes a decoder of the value of an entry and of the objects that its pointers lead to, which notes the places of
    /// references.
    pub(crate) fn of_entry(entry: &'a [u8], origin: usize) -> Self {
        let mut decoder = Self::of_objects(entry, "", origin);
        if let Some(met) = &mut decoder.met {
            met.pending.clear();
            met.numbers.clear();
        }
        decoder.marks = Some(ReferencePlaces::default());
        decoder
    }

    /// Makes a decoder of an object and of the objects that its pointers lead to, which notes the places of references.
    pub(crate) fn of_object(class: &str, object: &'a [u8], origin: usize) -> Self {
        let marks = Some(ReferencePlaces::default());
        Self { marks, ..Self::of_objects(object, class, origin) }
    }

    /// Returns how much was noted.
    pub(crate) fn noted(&self) -> Noted {
        Noted {
            references: self.marks.as_ref().map_or(0, |marks| marks.references.len()),
            pending: self.met.as_ref().map_or(0, |met| met.pending.len()),
            processes: self.processes.as_ref().map_or(0, |places| places.places.len()),
        }
    }

    /// Forgets what was noted in objects that could not be decoded, whose layout may be another one.
    pub(crate) fn forget(&mut self, before: &Noted) {
        let (Some(marks), Some(met)) = (&mut self.marks, &mut self.met) else { return };
        marks.references.truncate(before.references);
        for pending in met.pending.drain(before.pending..) {
            met.numbers.remove(&pending.bytes.start);
        }
        self.processes.iter_mut().for_each(|places| places.places.truncate(before.processes));
    }

    /// Notes that bytes are not decoded, for a reason.
    pub(crate) fn unknown(&mut self, bytes: Range<usize>, reason: &str) {
        self.marks.iter_mut().for_each(|marks| marks.unknown.push((bytes.clone(), reason.into())));
        self.hides_processes();
    }

    /// Takes the objects that were met since the last call.
    pub(crate) fn take_pending(&mut self) -> Vec<Pending> {
        self.met.as_mut().map(|met| std::mem::take(&mut met.pending)).unwrap_or_default()
    }

    /// Takes the number, the type and the reason of the members that were not decoded since the last call.
    pub(crate) fn take_skipped(&mut self) -> Vec<(u32, String, Arc<str>)> {
        self.met.as_mut().map(|met| std::mem::take(&mut met.skipped_members)).unwrap_or_default()
    }

    /// Takes the objects inside others that were decoded since the last call.
    pub(crate) fn take_inside(&mut self) -> Vec<Inside> {
        self.met.as_mut().map(|met| std::mem::take(&mut met.inside)).unwrap_or_default()
    }

    /// Returns whether the item of a `TClonesArray` with this number is a null pointer.
    pub(crate) fn is_null(&self, number: u32) -> bool {
        self.met.as_ref().is_some_and(|met| met.nulls.contains(&number))
    }

    /// Returns the number of objects that were met.
    pub(crate) fn objects(&self) -> usize {
        self.met.as_ref().map_or(0, |met| met.count as usize)
    }

    /// Decodes objects that were met.
    pub(crate) fn pending(
        &mut self,
        layout: &Arc<ObjectLayout>,
        pending: &Pending,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let Some(met) = &mut self.met else { return Ok(()) };
        let node = &layout.node;
        met.layout = Some(Arc::clone(layout));
        self.cursor = Cursor::new(met.payload, 0);
        met.skipped = 0;
        self.conflict = None;
        self.cursor
            .seek(pending.bytes.start)
            .and_then(|()| match pending.items {
                None => self.node(node, column),
                Some(items) => self.clones_items(node, pending, items, column),
            })
            .and_then(|()| self.ended(pending))
            .map_err(|error| super::header::of_value(node, in_object(error)))
    }

    fn ended(&mut self, pending: &Pending) -> Result<()> {
        let Range { start, end } = pending.bytes;
        let (at, class) = (self.cursor.position(), &pending.class);
        if at != end {
            return Err(self.cursor.error(format!(
                "the object of class {class} ends at byte {end}, but its members end at byte {at}"
            )));
        }
        let skipped = self.met.as_ref().map_or(0, |met| met.skipped);
        self.repeated((end - start).saturating_sub(skipped))
    }

    /// Decodes a pointer, which is null, a new object, or an object that was met earlier.
    pub(super) fn link(&mut self, pointer: &Pointer, column: &mut ColumnBuilder) -> Result<()> {
        let start = self.cursor.clone();
        let tag = self.cursor.be_u32()?;
        let number = match tag {
            0 => 0,
            WHOLE => 1,
            _ if tag & BYTE_COUNT == 0 || tag == NEW_CLASS => self.link_again(tag, &start)?,
            // The version of an object follows its byte count, where a pointer has the tag of a class.
            _ if pointer.bare && self.cursor.clone().be_u32()? & CLASS == 0 => {
                self.cursor = start;
                return self.embedded(&pointer.declared, column);
            }
            _ => {
                let (class, bytes) = self.pointee(tag)?;
                self.cursor.seek(bytes.end)?;
                self.meet(class, bytes)?
            }
        };
        number::push_u32(column, number)
    }

    /// Decodes an object that is not behind a pointer, but is read as a pointer.
    pub(super) fn embedded(&mut self, class: &str, column: &mut ColumnBuilder) -> Result<()> {
        let start = self.cursor.position();
        let end = self.cursor.version_header()?.end;
        let end = end.ok_or_else(|| {
            Error::unsupported(format!(
                "an object of class {class} inside another one has no byte count"
            ))
        })?;
        self.cursor.seek(end)?;
        let number = self.meet(class.to_owned(), start..end)?;
        number::push_u32(column, number)
    }

    /// Returns the layout of the objects that are being decoded, if pointers are read as numbers.
    pub(super) fn around(&self) -> Option<Arc<ObjectLayout>> {
        self.met.as_ref()?.layout.clone()
    }

    /// Decodes items of the surrounding class, which are streamed member by member, and reads them as the numbers of
    /// objects.
    pub(super) fn embedded_by_member(
        &mut self,
        class: &Class,
        version: &Version,
        column: &mut ColumnBuilder,
        count: usize,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        if self.depth >= MAX_DEPTH {
            return Err(Error::unsupported(format!(
                "objects of class {} are nested deeper than {MAX_DEPTH} levels, member by member",
                class.name
            )));
        }
        let shape = class.shape();
        let mut items = ColumnBuilder::new(&shape);
        self.depth += 1;
        let read = self.many_by_member(class, version, &mut items, count);
        self.depth -= 1;
        read?;
        let limit = || Error::limit("too many objects in one object");
        let met = self.met.as_mut().ok_or_else(limit)?;
        let first = met.count.checked_add(1).ok_or_else(limit)?;
        let more = u32::try_from(count).map_err(|_| limit())?;
        met.count = met.count.checked_add(more).ok_or_else(limit)?;
        let class = class.name.to_string();
        met.inside.push(Inside { class, first, count, shape, column: items });
        (first..).take(count).try_for_each(|number| number::push_u32(column, number))
    }

    /// Skips a member that is not decoded, up to the end that its header says.
    pub(super) fn skipped(
        &mut self,
        class: &str,
        reason: &Arc<str>,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let start = self.cursor.position();
        let end = self.cursor.version_header()?.end;
        let end = end.ok_or_else(|| Error::unsupported(reason.to_string()))?;
        self.cursor.seek(end)?;
        self.unknown(start..end, &format!("a member of type {class}: {reason}"));
        let limit = || Error::limit("too many objects in one object");
        let met = self.met.as_mut().ok_or_else(limit)?;
        met.count = met.count.checked_add(1).ok_or_else(limit)?;
        met.skipped_members.push((met.count, class.to_owned(), Arc::clone(reason)));
        number::push_u32(column, met.count)
    }

    /// Returns the number of an object that an earlier pointer leads to.
    fn link_again(&mut self, tag: u32, start: &Cursor<'a>) -> Result<u32> {
        let place = self.place(tag, start).filter(|_| tag & CLASS == 0);
        let none = || start.error(format!("tag {tag:#x} refers to no object before it"));
        self.marks.iter_mut().for_each(|marks| marks.references.push(start.position()));
        let back = self.cursor.clone();
        self.cursor.seek(place.ok_or_else(none)?)?;
        let tag = self.cursor.be_u32()?;
        if tag & BYTE_COUNT == 0 || tag == NEW_CLASS {
            return Err(none());
        }
        let (class, bytes) = self.pointee(tag)?;
        self.cursor = back;
        let skipped = self.met.as_ref().map_or(0, |met| met.skipped);
        let number = self.meet(class, bytes);
        self.met.iter_mut().for_each(|met| met.skipped = skipped);
        number
    }

    /// Returns the class and the bytes of a new object after its byte count.
    fn pointee(&mut self, count: u32) -> Result<(String, Range<usize>)> {
        let end = self.cursor.end_of(count)?;
        let class = self.class_name()?;
        match self.cursor.position() {
            start if start <= end => Ok((class, start..end)),
            _ => Err(self.cursor.error(format!("an object of class {class} without bytes"))),
        }
    }

    /// Returns the number of an object.
    fn meet(&mut self, class: String, bytes: Range<usize>) -> Result<u32> {
        let limit = || Error::limit("too many objects in one object");
        let met = self.met.as_mut().ok_or_else(limit)?;
        met.skipped += bytes.len();
        if let Some(number) = met.numbers.get(&bytes.start) {
            return Ok(*number);
        }
        met.count = met.count.checked_add(1).ok_or_else(limit)?;
        met.numbers.insert(bytes.start, met.count);
        met.pending.push(Pending { class, first: met.count, bytes, items: None });
        Ok(met.count)
    }

    /// Reads the items of a `TClonesArray` up to its `end` as the numbers of objects.
    pub(super) fn link_clones(
        &mut self,
        (class, version): (&str, i32),
        (count, bits): (usize, u32),
        end: Option<usize>,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let start = self.cursor.position();
        let end = end.ok_or_else(|| {
            Error::unsupported(format!("a TClonesArray of {class} without a byte count"))
        })?;
        let left = end.saturating_sub(start);
        if count > left {
            return Err(self.cursor.error(format!("{count} items in {left} bytes")));
        }
        let limit = || Error::limit("too many objects in one object");
        let met = self.met.as_mut().ok_or_else(limit)?;
        met.skipped += left;
        let first = match met.numbers.get(&start) {
            Some(first) => *first,
            None => {
                let first = met.count.checked_add(1).ok_or_else(limit)?;
                let more = u32::try_from(count).map_err(|_| limit())?;
                met.count = met.count.checked_add(more).ok_or_else(limit)?;
                met.numbers.insert(start, first);
                let by_member = bits & BYPASS_STREAMER != 0;
                let items = Some(Items { count, version, by_member });
                let class = class.to_owned();
                met.pending.push(Pending { class, first, bytes: start..end, items });
                first
            }
        };
        self.cursor.seek(end)?;
        (first..).take(count).try_for_each(|number| number::push_u32(column, number))
    }

    /// Decodes the items of a `TClonesArray`.
    fn clones_items(
        &mut self,
        node: &Node,
        pending: &Pending,
        items: Items,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let Items { count, version, by_member } = items;
        if by_member {
            let Node::Object(class) = node else { return Err(no_members(&pending.class)) };
            let known = class.version(version).ok_or_else(|| {
                super::header::unknown_version(class, &format!("version {version}"))
            })?;
            return self.many_by_member(class, known, column, count);
        }
        for number in (pending.first..).take(count) {
            if self.cursor.u8()? != 0 {
                self.node(node, column)?;
            } else {
                if let Some(met) = &mut self.met {
                    met.nulls.insert(number);
                }
                self.push_defaults(column, 1)?;
            }
        }
        Ok(())
    }
}

/// Returns the error of items without members that are streamed member by member.
pub(super) fn no_members(class: &str) -> Error {
    Error::unsupported(format!(
        "objects of class {class}, which nyssa does not split into members, are streamed member by member"
    ))
}
