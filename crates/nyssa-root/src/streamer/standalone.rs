//! Moves the bytes of an object to another place without decoding it.
//!
//! References to objects and classes that were streamed before are positions, counted from the start of a buffer. If
//! the layout of the bytes is known, so are the places of the references. In other bytes, a class reference is found
//! by the byte count before it. If such bytes may hold a reference of another kind, the object is not moved.

use std::collections::HashSet;
use std::ops::Range;
use std::slice::from_ref;

use super::reference_places::ReferencePlaces;
use crate::cursor::BYTE_COUNT;
use crate::error::{Error, Result};
use crate::streamer::wire::{CLASS, NEW_CLASS, TAG_OFFSET};

/// Returns the bytes of an object as if it were alone in its buffer. Now it is `origin` bytes after the start of its
/// buffer. If it has no header, it gets one with `version`. `marks` says where its references are.
///
/// # Errors
/// `Unsupported` for an object with bytes that may be a reference; `LimitExceeded` for an object of more than 1
/// GiB.
pub(super) fn standalone(
    bytes: &[u8],
    origin: usize,
    version: Option<&[u8]>,
    marks: Option<&ReferencePlaces>,
) -> Result<Vec<u8>> {
    let mut object = Vec::with_capacity(bytes.len());
    if let Some(version) = version {
        let count = u32::try_from(version.len() + bytes.len()).ok().filter(|&it| it < BYTE_COUNT);
        let count = count.ok_or_else(|| Error::limit("an object of more than 1 GiB"))?;
        object.extend_from_slice(&(count | BYTE_COUNT).to_be_bytes());
        object.extend_from_slice(version);
    }
    let header = object.len();
    object.extend_from_slice(bytes);
    let mut references = match marks {
        Some(marks) => {
            let objects = marks.objects.iter().filter_map(|&at| tag(at, origin));
            references_in(bytes, origin, &marks.unknown, objects)?
        }
        None => references_in(bytes, origin, from_ref(&(0..bytes.len())), [])?,
    };
    references.extend(marks.into_iter().flat_map(|marks| &marks.references));
    change(&references, bytes, (origin, header), &mut object[header..])?;
    Ok(object)
}

/// Returns the bytes of an object with unknown layout for a key of `to` bytes. Its current key has `from` bytes.
///
/// # Errors
/// `Unsupported` for an object with bytes that may be a reference to an object.
pub(super) fn moved(bytes: &[u8], from: usize, to: usize) -> Result<Vec<u8>> {
    let mut object = vec![0; to];
    object.extend_from_slice(bytes);
    let references = references_in(bytes, from, from_ref(&(0..bytes.len())), [])?;
    change(&references, bytes, (from, to), &mut object[to..])?;
    Ok(object.split_off(to))
}

/// Changes the references in bytes of unknown layout that move from one distance from the start of their buffer to another.
///
/// # Errors
/// `Unsupported` for bytes that may be a reference to an object. The bytes are then unchanged.
pub fn rebase(bytes: &mut [u8], from: usize, to: usize) -> Result<()> {
    let references = references_in(bytes, from, from_ref(&(0..bytes.len())), [])?;
    let mut changed = bytes.to_vec();
    change(&references, bytes, (from, to), &mut changed)?;
    bytes.copy_from_slice(&changed);
    Ok(())
}

/// Returns the places of the references in ranges of bytes with unknown layout. They are counted from `origin` bytes
/// before. `objects` are the tags of the objects in the other bytes.
///
/// # Errors
/// `Unsupported` for bytes that may be a reference to an object.
pub(super) fn references_in(
    bytes: &[u8],
    origin: usize,
    ranges: &[Range<usize>],
    objects: impl IntoIterator<Item = u32>,
) -> Result<Vec<usize>> {
    let mut search = match ranges {
        [] => return Ok(Vec::new()),
        _ => Search::new(bytes, origin),
    };
    search.objects.extend(objects);
    ranges.iter().try_for_each(|range| search.scan(range.clone()))?;
    Ok(search.places)
}

/// Changes the references in `object`, a copy of `bytes` that is moved between two distances from the start of its buffer.
fn change(
    references: &[usize],
    bytes: &[u8],
    (from, to): (usize, usize),
    object: &mut [u8],
) -> Result<()> {
    for &at in references {
        let tag = word(bytes, at).ok_or_else(|| doubtful(at))?;
        let place = ((tag & !CLASS) as usize).checked_sub(from);
        let place = place.and_then(|place| u32::try_from(place + to).ok());
        let room = object.get_mut(at..at + 4);
        let (place, room) = place.zip(room).ok_or_else(|| doubtful(at))?;
        room.copy_from_slice(&(place | tag & CLASS).to_be_bytes());
    }
    Ok(())
}

/// A search for references in bytes whose layout is not known.
struct Search<'a> {
    bytes: &'a [u8],
    origin: usize,
    places: Vec<usize>,
    /// The tags of bytes that are, or look like, classes and objects.
    classes: HashSet<u32>,
    objects: HashSet<u32>,
}

impl<'a> Search<'a> {
    fn new(bytes: &'a [u8], origin: usize) -> Self {
        let names = || (4..bytes.len()).filter(|&at| word(bytes, at) == Some(NEW_CLASS));
        let classes = names().filter_map(|at| Some(tag(at, origin)? | CLASS)).collect();
        // An object begins with a byte count, and its class follows.
        let objects = names().filter_map(|at| tag(at - 4, origin)).collect();
        Self { bytes, origin, places: Vec::new(), classes, objects }
    }

    /// Finds the references to classes in a range.
    fn scan(&mut self, range: Range<usize>) -> Result<()> {
        for at in range.start..range.end.saturating_sub(3) {
            let Some(value) = word(self.bytes, at) else { continue };
            if self.classes.contains(&value) {
                let before = at.checked_sub(4).filter(|&before| self.is_count(before));
                let before = before.ok_or_else(|| doubtful(at))?;
                self.objects.extend(tag(before, self.origin));
                self.places.push(at);
            } else if self.objects.contains(&value) {
                return Err(doubtful(at));
            }
        }
        Ok(())
    }

    /// Returns whether the bytes at `at` may be the byte count of an object. It counts the reference to the class, too, so
    /// that a float of 2 (`0x40000000`) is none.
    fn is_count(&self, at: usize) -> bool {
        let room = 4..=self.bytes.len() - at - 4;
        word(self.bytes, at).is_some_and(|count| {
            count & BYTE_COUNT != 0 && room.contains(&((count & !BYTE_COUNT) as usize))
        })
    }
}

/// Returns the tag of an object or class at a place.
fn tag(place: usize, origin: usize) -> Option<u32> {
    u32::try_from(place + TAG_OFFSET as usize + origin).ok().filter(|tag| tag & CLASS == 0)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*word))
}

fn doubtful(at: usize) -> Error {
    Error::unsupported(format!(
        "the bytes at byte {at} of the object may refer to another object within it, which nyssa cannot \
         write"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pointer to an object of a new class, and then a pointer to another object of the same class,
    /// which are `origin` bytes after the start of the buffer.
    fn two(origin: u32) -> Vec<u8> {
        let new = [&[0x40, 0, 0, 8], &[0xFF; 4][..], b"A\0", b"xy"].concat();
        let old = [&[0x40, 0, 0, 6][..], &(CLASS | (4 + 2 + origin)).to_be_bytes(), b"zz"].concat();
        [new, old].concat()
    }

    fn moved(bytes: &[u8]) -> Result<Vec<u8>> {
        standalone(bytes, 100, None, None)
    }

    #[test]
    fn class_references_count_from_the_object() {
        assert_eq!(moved(&two(100)).unwrap(), two(0));
        assert_eq!(standalone(&two(0), 0, None, None).unwrap(), two(0));
    }

    #[test]
    fn a_number_after_a_float_of_two_is_no_reference() {
        let number = CLASS | (4 + 2 + 100);
        let object = [&two(100)[..], &2_f32.to_be_bytes(), &number.to_be_bytes()].concat();
        assert!(moved(&object).is_err());
        assert!(rebase(&mut object.clone(), 100, 70).is_err());
    }

    #[test]
    fn class_references_count_from_the_key() {
        assert_eq!(super::moved(&two(100), 100, 70).unwrap(), two(70));
        assert_eq!(super::moved(&two(100), 100, 130).unwrap(), two(130));
        let reference = [&two(100)[..], &102_u32.to_be_bytes()].concat();
        assert!(super::moved(&reference, 100, 70).is_err());
    }

    #[test]
    fn an_object_without_a_header_gets_one() {
        let object = standalone(&two(100), 100, Some(&[0, 7]), None).unwrap();
        assert_eq!(object, [&[0x40, 0, 0, 24, 0, 7], &two(6)[..]].concat());
    }

    #[test]
    fn bytes_without_classes_stay_as_they_are() {
        let bytes = [0x40, 0, 0, 6, 0, 1, 0, 0, 0, 102];
        assert_eq!(moved(&bytes).unwrap(), bytes);
    }

    /// The first object is at byte 0, so its tag is 102.
    #[test]
    fn what_may_be_a_reference_to_an_object_is_refused_where_nothing_is_known() {
        let number = [&two(100)[..], &102_u32.to_be_bytes()].concat();
        let error = moved(&number).unwrap_err().to_string();
        assert!(error.contains("at byte 22"), "{error}");
        let mut marks = ReferencePlaces::default();
        marks.references.push(16);
        let expected = [&two(0)[..], &102_u32.to_be_bytes()].concat();
        assert_eq!(standalone(&number, 100, None, Some(&marks)).unwrap(), expected, "a number");
        marks.references.push(22);
        let expected = [&two(0)[..], &2_u32.to_be_bytes()].concat();
        assert_eq!(standalone(&number, 100, None, Some(&marks)).unwrap(), expected, "a reference");
        marks.references.pop();
        marks.unknown.push(20..26);
        assert!(standalone(&number, 100, None, Some(&marks)).is_err());
    }

    #[test]
    fn a_class_reference_without_a_byte_count_is_refused() {
        let bytes = [&two(100)[..], &(CLASS | 106).to_be_bytes()].concat();
        assert!(moved(&bytes).is_err());
    }
}
