//! Encodes pointers. After each pointer comes its object, with the name of the class or the position of this
//! name.

use super::source::Source;
use super::{Encoder, misfit, span};
use crate::error::{Error, Result};
use crate::streamer::node::{Node, Pointer, PointerForm};
use crate::streamer::wire::{CLASS, NEW_CLASS, TAG_OFFSET, too_far};

/// The tag of the object that holds all others.
const WHOLE: [u8; 4] = [0, 0, 0, 1];

impl<'n> Encoder<'n> {
    /// Writes a pointer, which is null or an object.
    pub(super) fn pointer(
        &mut self,
        pointer: &'n Pointer,
        source: &Source<'_>,
        row: usize,
    ) -> Result<()> {
        match (pointer.form, source) {
            (_, Source::Nothing) => self.null(),
            (PointerForm::Nullable, Source::Optional { nulls, value }) => {
                if nulls.is_some_and(|nulls| row >= nulls.len() || nulls.is_null(row)) {
                    return self.null();
                }
                let (name, node) = pointer.classes.first().ok_or_else(misfit)?;
                self.new_object(name, node, value, row)
            }
            (PointerForm::Union, Source::Union { ids, offsets, children }) => {
                let id =
                    ids.get(row).and_then(|&id| usize::try_from(id).ok()).ok_or_else(misfit)?;
                let place = offsets.get(row).and_then(|&place| usize::try_from(place).ok());
                let place = place.ok_or_else(misfit)?;
                let Some(index) = id.checked_sub(1) else { return self.null() };
                let child = children.get(index).ok_or_else(misfit)?;
                match pointer.classes.get(index) {
                    Some((name, node)) => self.new_object(name, node, child, place),
                    None => self.raw(pointer, child, place),
                }
            }
            (PointerForm::Raw, _) => self.raw(pointer, source, row),
            _ => Err(misfit()),
        }
    }

    fn null(&mut self) -> Result<()> {
        self.out.extend_from_slice(&[0; 4]);
        Ok(())
    }

    /// Writes the byte count, the class and the object.
    fn new_object(
        &mut self,
        name: &'n str,
        node: &'n Node,
        source: &Source<'_>,
        row: usize,
    ) -> Result<()> {
        self.has_objects = true;
        let start = self.begin();
        let known = self.classes.iter().find(|(known, _)| *known == name);
        match known.map(|(_, place)| u32::try_from(place + TAG_OFFSET as usize)) {
            Some(Ok(tag)) if tag & CLASS == 0 => {
                let place = self.out.len();
                self.references.as_mut().into_iter().for_each(|all| all.push(place));
                self.out.extend_from_slice(&(tag | CLASS).to_be_bytes());
            }
            Some(_) => return Err(too_far()),
            None => {
                self.classes.push((name, self.out.len() - self.origin));
                self.out.extend_from_slice(&NEW_CLASS.to_be_bytes());
                self.out.extend_from_slice(name.as_bytes());
                self.out.push(0);
            }
        }
        self.node(node, source, row)?;
        self.end(start)
    }

    /// Writes the bytes of an object that is not decoded. They must not contain references, since these are
    /// counted from the start of another object.
    fn raw(&mut self, pointer: &Pointer, source: &Source<'_>, row: usize) -> Result<()> {
        let Source::Bytes { offsets, data, nulls } = source else { return Err(misfit()) };
        if nulls.is_some_and(|nulls| row >= nulls.len() || nulls.is_null(row)) {
            return self.null();
        }
        let bytes = data.get(span(offsets, row)?).ok_or_else(misfit)?;
        let class = class_of(bytes);
        let around = self.stack.iter().find(|around| Some(around.name.as_bytes()) == class);
        let whole = bytes == WHOLE && !self.in_basket();
        if !whole && around.is_none_or(|around| around.has_pointers()) {
            let class = class.map_or("a class named elsewhere".into(), String::from_utf8_lossy);
            return Err(Error::unsupported(format!(
                "an object of {class} behind a pointer to {} is kept as bytes, which may refer to others; \
                 nyssa cannot write it",
                pointer.declared
            )));
        }
        self.has_objects = true;
        self.out.extend_from_slice(bytes);
        Ok(())
    }
}

/// Returns the class that the bytes of an object behind a pointer name.
fn class_of(bytes: &[u8]) -> Option<&[u8]> {
    let (tag, rest) = bytes.get(4..)?.split_first_chunk()?;
    if u32::from_be_bytes(*tag) != NEW_CLASS {
        return None;
    }
    rest.split(|&byte| byte == 0).next()
}
