//! Reads pointers between objects of one record.
//!
//! ```text
//! 0                                  null
//! 0x80000000 | class tag             new object of a class seen before
//! 0xFFFFFFFF name '\0'               new object of a new class
//! object tag                         an object seen before
//! (a byte count comes before new objects)
//! ```
//!
//! A tag is the position of the class or object in the record, with the key, plus 2
//! (`TBufferFile::ReadObjectAny`, `ReadClass`). Records of very old files use numbers instead.

use std::sync::Arc;

use crate::cursor::BYTE_COUNT;
use crate::error::{Kind, Result};
use crate::streamer::values::reader::{MAX_DEPTH, Reader, Tag};
use crate::streamer::values::value::Value;
use crate::streamer::wire::{CLASS, NEW_CLASS, TAG_OFFSET};

impl Reader<'_> {
    /// Reads a pointer, which is null, a new object, or an earlier object.
    pub(super) fn pointer(&mut self) -> Result<Value> {
        let start = self.cursor.position();
        let mut tag = self.cursor.be_u32()?;
        let mut end = None;
        let mut class_tag = 0;
        if tag & BYTE_COUNT != 0 && tag != NEW_CLASS {
            self.positions = true;
            let last = self.cursor.end_of(tag)?;
            self.keep_count(start, last);
            end = Some(last);
            class_tag = self.tag_here()?;
            tag = self.cursor.be_u32()?;
        }
        if tag > 1 && tag != NEW_CLASS && self.positions {
            self.references.push(self.cursor.position() - 4);
        }
        if tag & CLASS == 0 {
            return self.reference(tag);
        }
        let class: Arc<str> = if tag == NEW_CLASS {
            let name: Arc<str> = self.cursor.class_name()?.into();
            let own = self.next_tag(class_tag);
            self.tags.insert(own, Tag::Class(name.clone()));
            name
        } else {
            self.class_at(tag & !CLASS)?
        };
        let own = if self.positions {
            self.count += 1;
            self.tag_at(start)?
        } else {
            self.next_tag(0)
        };
        let Some(id) = self.table.find(&class) else {
            self.check_lack(&class, None)?;
            let reason = format!("the file has no streamer info of class {class}");
            return self.skip_to(end, reason.into());
        };
        self.pending = Some(own);
        let value = self.class(id);
        self.pending = None;
        match (value, end) {
            (Err(error), Some(end)) if error.kind() == Kind::Unsupported => {
                self.unknown.push(self.cursor.position()..end);
                self.cursor.seek(end)?;
                Ok(Value::Unknown(error.message().into()))
            }
            (Ok(value), Some(end)) if self.cursor.position() != end => {
                let position = self.cursor.position();
                let reason = format!(
                    "object of class {class} ends at byte {position}, its pointer says {end}"
                );
                // The end is checked only if the object was read, since a skipped object may have a wrong position.
                if matches!(value, Value::Unknown(_)) {
                    self.cursor.seek(end)?;
                    return Ok(value);
                }
                Err(self.cursor.error(reason))
            }
            (value, _) => value,
        }
    }

    /// Returns whether the next object has no tag, at a place where a pointer may be.
    pub(super) fn is_bare(&self) -> bool {
        let mut ahead = self.cursor.clone();
        let mut next = || ahead.be_u32().ok();
        let is_object = |count: u32| count & BYTE_COUNT != 0 && count != NEW_CLASS;
        next().is_some_and(is_object) && next().is_some_and(|version| version & CLASS == 0)
    }

    /// Returns the object that an object tag refers to.
    fn reference(&mut self, tag: u32) -> Result<Value> {
        if tag == 0 {
            return Ok(Value::Null);
        }
        if let Some(Tag::Object(id)) = self.tags.get(&tag) {
            return Ok(Value::Object(*id));
        }
        // The object is in bytes that were skipped. They are read now.
        let place = self.position_of(tag)?;
        let back = self.cursor.position();
        self.cursor.seek(place)?;
        if self.depth >= MAX_DEPTH || self.budget == 0 {
            return Err(self.cursor.error("objects refer to each other without end"));
        }
        self.depth += 1;
        self.budget -= 1;
        let value = self.pointer();
        self.depth -= 1;
        let value = value?;
        self.cursor.seek(back)?;
        Ok(value)
    }

    /// Returns the class that a class tag refers to.
    fn class_at(&mut self, tag: u32) -> Result<Arc<str>> {
        if let Some(Tag::Class(name)) = self.tags.get(&tag) {
            return Ok(name.clone());
        }
        let place = self.position_of(tag)?;
        let back = self.cursor.position();
        self.cursor.seek(place)?;
        if self.cursor.be_u32()? != NEW_CLASS {
            return Err(self.cursor.error(format!("class tag {tag} refers to no class")));
        }
        let name: Arc<str> = self.cursor.class_name()?.into();
        self.tags.insert(tag, Tag::Class(name.clone()));
        self.cursor.seek(back)?;
        Ok(name)
    }

    /// Returns the position before the cursor that a tag refers to.
    fn position_of(&self, tag: u32) -> Result<usize> {
        let place = tag.checked_sub(TAG_OFFSET + self.keylen).map(|place| place as usize);
        place
            .filter(|&place| self.positions && place < self.cursor.position())
            .ok_or_else(|| self.cursor.error(format!("tag {tag} refers to nothing before it")))
    }

    fn tag_at(&self, position: usize) -> Result<u32> {
        u32::try_from(position)
            .ok()
            .and_then(|position| position.checked_add(self.keylen + TAG_OFFSET))
            .ok_or_else(|| self.cursor.error("object is too large for its tags"))
    }

    fn tag_here(&self) -> Result<u32> {
        self.tag_at(self.cursor.position())
    }

    /// Returns the tag of the next object or class: its position, or its number if tags are not positions.
    fn next_tag(&mut self, position: u32) -> u32 {
        let number = self.count;
        self.count += 1;
        if self.positions { position } else { number }
    }
}
