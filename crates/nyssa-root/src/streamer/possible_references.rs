//! Says whether bytes of unknown layout may have references to objects or classes.

use std::ops::Range;

use crate::cursor::BYTE_COUNT;
use crate::streamer::wire::{CLASS, NEW_CLASS, TAG_OFFSET};

/// Returns whether a number in an entry leads back into the entry, as references do, which are counted from `place` bytes
/// before it. The answer may be true for an entry without references, but not false for an entry with references.
pub fn may_refer(entry: &[u8], place: u32) -> bool {
    let leads_back = |at| target(entry, at, place as usize).is_some();
    first_class(entry).is_some_and(|class| (class + 4..entry.len()).any(leads_back))
}

/// Returns the first place in a range of an object that may be a reference: it leads to a class, or to an object behind a
/// pointer. References are counted from `origin` bytes before the object.
pub(super) fn possible_reference(
    object: &[u8],
    range: Range<usize>,
    origin: usize,
) -> Option<usize> {
    let mut places = range.start.max(first_class(object)? + 4)..range.end.saturating_sub(3);
    places.find(|&at| is_possible(object, at, origin))
}

/// Returns whether the bytes at `at` lead to a class or to an object before them.
fn is_possible(object: &[u8], at: usize, origin: usize) -> bool {
    let Some((tag, target)) = target(object, at, origin) else { return false };
    let there = word(object, target);
    match tag & CLASS {
        0 => {
            let is_counted = there.is_some_and(|it| it & BYTE_COUNT != 0 && it != NEW_CLASS);
            is_counted && word(object, target + 4).is_some_and(|class| class & CLASS != 0)
        }
        _ => there == Some(NEW_CLASS),
    }
}

/// Returns the number at `at` and the place before it to which it leads, if it is a reference.
fn target(object: &[u8], at: usize, origin: usize) -> Option<(u32, usize)> {
    let tag = word(object, at)?;
    let target = ((tag & !CLASS) as usize).checked_sub(origin + TAG_OFFSET as usize)?;
    (target < at).then_some((tag, target))
}

/// Returns the place of the first name of a class. There are no references before it.
fn first_class(object: &[u8]) -> Option<usize> {
    object.windows(4).position(|word| word == NEW_CLASS.to_be_bytes())
}

/// Returns the four bytes at a place as a number.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry at position 100: an object of a new class, whose tag is at byte 4, and a word.
    fn entry(word: u32) -> Vec<u8> {
        let object = [&[0x40, 0, 0, 9], &NEW_CLASS.to_be_bytes()[..], b"TRef\0?"].concat();
        [object, word.to_be_bytes().to_vec()].concat()
    }

    #[test]
    fn a_reference_leads_to_a_class_or_an_object() {
        for other in [CLASS | 106, 102] {
            assert_eq!(possible_reference(&entry(other), 0..18, 100), Some(14));
            assert!(may_refer(&entry(other), 100));
        }
        for other in [103, 106, 115, CLASS | 102, CLASS | 107] {
            assert_eq!(possible_reference(&entry(other), 0..18, 100), None, "{other}");
            assert!(may_refer(&entry(other), 100));
        }
        for other in [0, 1, 101, 116, 5000, CLASS | 20, NEW_CLASS] {
            assert_eq!(possible_reference(&entry(other), 0..18, 100), None, "{other}");
            assert!(!may_refer(&entry(other), 100), "{other}");
        }
    }

    #[test]
    fn there_is_none_before_a_class() {
        let mut entry = entry(102);
        entry[4] = 0;
        assert!(!may_refer(&entry, 100));
        assert!(!may_refer(&[0xFF; 3], 0));
        assert!(!may_refer(&[0xFF; 4], 0));
        assert!(!may_refer(&[], 0));
    }

    #[test]
    fn a_reference_is_inside_the_range() {
        for range in [0..17, 15..18, 0..0, 18..18, 20..30] {
            assert_eq!(possible_reference(&entry(102), range.clone(), 100), None, "{range:?}");
        }
        assert_eq!(possible_reference(&entry(102), 14..18, 100), Some(14));
    }
}
