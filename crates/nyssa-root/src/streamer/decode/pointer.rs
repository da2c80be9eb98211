//! Decodes pointers to objects by their tags.
//!
//! A tag is 0 for null, a byte count before a new object, or the place of an object that was seen before. The place
//! is 2 more than the offset from the origin of references. References to classes are such tags with a mark.

use super::header::RAW;
use super::{Decoder, alternative};
use crate::cursor::{BYTE_COUNT, Cursor};
use crate::error::{Error, Result};
use crate::streamer::column::{ColumnBuilder, mismatch};
use crate::streamer::node::{Pointer, PointerForm};
use crate::streamer::wire::{CLASS, NEW_CLASS, TAG_OFFSET};

/// The tag of the object that contains all others (`TBufferFile::MapObject` before it is streamed).
const WHOLE: u32 = 1;
/// The largest depth of references to references. A file with deeper references is damaged.
const MAX_DEPTH: usize = 100;

impl Decoder<'_> {
    /// Decodes a pointer, which is null, a new object, or an object that was seen before.
    pub(super) fn pointer(&mut self, pointer: &Pointer, column: &mut ColumnBuilder) -> Result<()> {
        if pointer.form == PointerForm::Link {
            return self.link(pointer, column);
        }
        let start = self.cursor.clone();
        let tag = self.cursor.be_u32()?;
        if tag == 0 {
            return self.push_defaults(column, 1);
        }
        if tag & BYTE_COUNT == 0 || tag == NEW_CLASS {
            return self.reference(pointer, column, tag, &start);
        }
        // The version of an object follows its byte count, where a pointer has the tag of a class.
        if pointer.bare && self.cursor.clone().be_u32()? & CLASS == 0 {
            self.cursor = start;
            return self.bare(pointer, column);
        }
        let end = self.cursor.end_of(tag)?;
        if self.depth > 0 {
            self.repeated(end - start.position())?;
        }
        let class = self.class_name()?;
        let index = pointer.classes.iter().position(|(name, _)| *name == class);
        match index {
            Some(index) => self.object_of(pointer, index, column)?,
            None if pointer.open => {
                return Err(Error::unsupported(format!(
                    "an object of class {class} behind a pointer to {} has no place in the type of the column: the \
                     file has no streamer info of class {class}, or describes too many classes, or such objects are \
                     nested too deep; {RAW}",
                    pointer.declared
                )));
            }
            None => {
                return Err(Error::unsupported(format!(
                    "a pointer to {} leads to an object of class {class}, whose streamer info \
                     does not say that it is derived from it",
                    pointer.declared
                )));
            }
        }
        if self.cursor.position() != end {
            return Err(start.error(format!(
                "the pointer says that its object of class {class} ends at byte {end}, its members \
                 end at byte {}",
                self.cursor.position()
            )));
        }
        Ok(())
    }

    /// Decodes an object without a tag, which is of the class of the pointer.
    fn bare(&mut self, pointer: &Pointer, column: &mut ColumnBuilder) -> Result<()> {
        let own = pointer.classes.iter().position(|(name, _)| *name == pointer.declared);
        let own = own.ok_or_else(|| {
            Error::unsupported(format!(
                "the file has no streamer info of class {}",
                pointer.declared
            ))
        })?;
        self.object_of(pointer, own, column)
    }

    /// Decodes an object of one of the classes of the pointer.
    fn object_of(
        &mut self,
        pointer: &Pointer,
        index: usize,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let (_, node) = pointer.classes.get(index).ok_or_else(mismatch)?;
        self.node(node, objects(pointer, column, index, 1)?)
    }

    /// Returns the position in the object that a tag before `start` refers to.
    pub(super) fn place(&self, tag: u32, start: &Cursor<'_>) -> Option<usize> {
        let place = (tag.checked_sub(TAG_OFFSET)? as usize).checked_sub(self.origin)?;
        (place < start.position()).then_some(place)
    }

    /// Decodes a pointer to an object that an earlier pointer led to.
    fn reference(
        &mut self,
        pointer: &Pointer,
        column: &mut ColumnBuilder,
        tag: u32,
        start: &Cursor<'_>,
    ) -> Result<()> {
        if tag == WHOLE && pointer.open {
            return Err(Error::unsupported(format!(
                "a pointer to {} leads to the object that it is in, which has no place in a column; {RAW}",
                pointer.declared
            )));
        }
        let place = self.place(tag, start).filter(|_| tag & CLASS == 0);
        let Some(place) = place else {
            return Err(start.error(format!("tag {tag:#x} refers to no object before it")));
        };
        if self.depth >= MAX_DEPTH {
            return Err(start.error("objects refer to each other without end"));
        }
        let back = self.cursor.clone();
        self.cursor.seek(place)?;
        self.depth += 1;
        let read = self.pointer(pointer, column);
        self.depth -= 1;
        self.cursor = back;
        read
    }

    /// Returns the class that the next tag names or refers to.
    pub(super) fn class_name(&mut self) -> Result<String> {
        let start = self.cursor.clone();
        let tag = self.cursor.be_u32()?;
        if tag == NEW_CLASS {
            return Ok(self.cursor.class_name()?.into_owned());
        }
        let place = self.place(tag & !CLASS, &start).filter(|_| tag & CLASS != 0);
        let mut there = self.cursor.clone();
        match place {
            Some(place) => {
                self.marks.iter_mut().for_each(|marks| marks.references.push(start.position()));
                there.seek(place)?;
            }
            None => return Err(start.error(format!("class tag {tag:#x} refers to no class"))),
        }
        if there.be_u32()? != NEW_CLASS {
            return Err(start.error(format!("class tag {tag:#x} refers to no class")));
        }
        Ok(there.class_name()?.into_owned())
    }
}

/// Adds `count` objects of one of the classes, and returns the column for them.
pub(super) fn objects<'c>(
    items: &Pointer,
    column: &'c mut ColumnBuilder,
    index: usize,
    count: usize,
) -> Result<&'c mut ColumnBuilder> {
    match (items.form, column) {
        (PointerForm::Nullable, ColumnBuilder::Optional { valid, value }) => {
            valid.append_n(count, true);
            Ok(value)
        }
        (_, column) => alternative(column, index, count),
    }
}
