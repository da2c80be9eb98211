//! Objects as the bytes that they are, moved to another place.
//!
//! What refers to something that was streamed before counts from the start of a buffer. Class
//! references are found by what stands before them, a byte count; whatever else could be a reference
//! keeps the object from being moved, so that none is overlooked.

use std::collections::HashSet;

use crate::cursor::BYTE_COUNT;
use crate::error::{Error, Result};

/// Class name follows (`kNewClassTag`).
const NEW_CLASS: u32 = 0xFFFF_FFFF;
/// Mark of a class tag (`kClassMask`).
const CLASS: u32 = 0x8000_0000;
/// Added to positions so that tags 0 and 1 are free (`kMapOffset`).
const TAG_OFFSET: usize = 2;

/// The bytes of an object that lies `origin` bytes behind the start of its buffer, as if it was alone in it.
///
/// # Errors
/// `Unsupported` for an object in which pointers may share objects.
pub(super) fn alone(bytes: &[u8], origin: usize) -> Result<Vec<u8>> {
    let mut moved = bytes.to_vec();
    // Where class names, or what look like them, are.
    let names: Vec<usize> =
        (4..bytes.len()).filter(|&at| word(bytes, at) == Some(NEW_CLASS)).collect();
    if names.is_empty() {
        return Ok(moved);
    }
    let tag = |place: usize| {
        u32::try_from(place + TAG_OFFSET + origin).ok().filter(|tag| tag & CLASS == 0)
    };
    let classes: HashSet<u32> = names.iter().filter_map(|&at| Some(tag(at)? | CLASS)).collect();
    // Objects begin with a byte count, before their class.
    let mut objects: HashSet<u32> = names.iter().filter_map(|&at| tag(at - 4)).collect();
    for at in 0..bytes.len().saturating_sub(3) {
        let Some(found) = word(bytes, at) else { continue };
        if objects.contains(&found) {
            return Err(shared(at));
        }
        if !classes.contains(&found) {
            continue;
        }
        let before = at.checked_sub(4);
        let counted = before.and_then(|before| word(bytes, before)).is_some_and(|count| {
            count & BYTE_COUNT != 0 && (count & !BYTE_COUNT) as usize <= bytes.len() - at
        });
        match (before, u32::try_from(origin)) {
            (Some(before), Ok(origin)) if counted => {
                objects.extend(tag(before));
                if let Some(room) = moved.get_mut(at..at + 4) {
                    room.copy_from_slice(&(found - origin).to_be_bytes());
                }
            }
            _ => return Err(shared(at)),
        }
    }
    Ok(moved)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*word))
}

fn shared(at: usize) -> Error {
    Error::unsupported(format!(
        "an object that may be referred to within another, at byte {at}, which nyssa cannot move"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pointer to an object of a new class, then one to another of the same class, `origin` bytes
    /// behind the start of the buffer.
    fn two(origin: u32) -> Vec<u8> {
        let new = [&[0x40, 0, 0, 8], &[0xFF; 4][..], b"A\0", b"xy"].concat();
        let old = [&[0x40, 0, 0, 6][..], &(CLASS | (4 + 2 + origin)).to_be_bytes(), b"zz"].concat();
        [new, old].concat()
    }

    #[test]
    fn class_references_count_from_the_object() {
        assert_eq!(alone(&two(100), 100).unwrap(), two(0));
        assert_eq!(alone(&two(0), 0).unwrap(), two(0));
    }

    #[test]
    fn bytes_without_classes_stay_as_they_are() {
        let bytes = [0x40, 0, 0, 6, 0, 1, 0, 0, 0, 102];
        assert_eq!(alone(&bytes, 100).unwrap(), bytes);
    }

    #[test]
    fn what_may_be_a_reference_to_an_object_is_refused() {
        let mut bytes = two(100);
        bytes.extend(102_u32.to_be_bytes());
        let error = alone(&bytes, 100).unwrap_err().to_string();
        assert!(error.contains("at byte 22"), "{error}");
    }

    #[test]
    fn a_class_reference_without_a_byte_count_is_refused() {
        let mut bytes = two(100);
        bytes.extend((CLASS | 106).to_be_bytes());
        assert!(alone(&bytes, 100).is_err());
    }
}
