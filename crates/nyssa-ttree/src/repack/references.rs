//! Finds out whether an entry may have references between its objects.

/// The word before the name of a class that an entry mentions first (`kNewClassTag`). There are no references before it.
const NEW_CLASS: [u8; 4] = [0xFF; 4];
/// The bit of a reference to a class (`kClassMask`).
const CLASS: u32 = 0x8000_0000;
/// A reference is a position plus this number (`kMapOffset`).
const OFFSET: u32 = 2;

/// Returns whether a word of `entry` may be a reference. The entry was streamed at the position `place`. The answer may
/// be true for an entry without references, but not false for an entry with references.
pub(super) fn may_refer(entry: &[u8], place: u32) -> bool {
    let Some(class) = entry.windows(4).position(|word| word == NEW_CLASS) else { return false };
    let first = place.saturating_add(OFFSET);
    entry.windows(4).enumerate().skip(class + 4).any(|(at, word)| {
        let word = word.iter().fold(0, |word, &byte| word << 8 | u32::from(byte)) & !CLASS;
        word.checked_sub(first).is_some_and(|target| (target as usize) < at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry at position 100: a class at byte 4, and a reference to the position `target`.
    fn entry(target: u32) -> Vec<u8> {
        let mut entry = vec![0; 4];
        entry.extend(NEW_CLASS);
        entry.extend(b"TRef\0?");
        entry.extend((target + OFFSET).to_be_bytes());
        entry
    }

    #[test]
    fn a_reference_leads_back_into_its_entry() {
        assert!(may_refer(&entry(CLASS | 104), 100));
        assert!(may_refer(&entry(100), 100));
        assert!(may_refer(&entry(113), 100));
        for other in [99, 114, 5000, CLASS | 20] {
            assert!(!may_refer(&entry(other), 100), "{other}");
        }
    }

    #[test]
    fn there_is_none_before_a_class() {
        let mut entry = entry(104);
        entry[4] = 0;
        assert!(!may_refer(&entry, 100));
        assert!(!may_refer(&[0xFF; 3], 0));
        assert!(!may_refer(&[0xFF; 4], 0));
    }
}
