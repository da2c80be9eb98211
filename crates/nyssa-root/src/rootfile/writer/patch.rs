//! Makes small changes in place. A change inside one sector of the disk is atomic: a crash cannot leave a part of it.

/// The number of bytes that every disk writes at once, or not at all.
pub(super) const SECTOR: u64 = 512;

/// The bytes that replace others at an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub offset: u64,
    pub bytes: Vec<u8>,
}

impl Patch {
    /// Finds the bytes that differ between `old` and `new`, which lie at `offset` and have one length.
    /// Returns `None` when all are equal.
    pub(super) fn between(offset: u64, old: &[u8], new: &[u8]) -> Option<Self> {
        let differs = |(a, b): (&u8, &u8)| a != b;
        let first = old.iter().zip(new).position(differs)?;
        let last = old.iter().zip(new).rposition(differs)?;
        Some(Self { offset: offset + first as u64, bytes: new[first..=last].to_vec() })
    }

    /// Makes the change in the first bytes of a file. Returns `false`, and does nothing, if it does not lie in them.
    pub(super) fn apply(&self, start: &mut [u8]) -> bool {
        let first = usize::try_from(self.offset).ok();
        let place =
            first.and_then(|first| start.get_mut(first..first.checked_add(self.bytes.len())?));
        place.map(|place| place.copy_from_slice(&self.bytes)).is_some()
    }

    /// Returns whether the change lies inside one sector.
    pub(super) fn is_atomic(&self) -> bool {
        let end = self.offset + (self.bytes.len() as u64).saturating_sub(1);
        self.offset / SECTOR == end / SECTOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes() {
        assert_eq!(Patch::between(100, b"abcdef", b"abcdef"), None);
        let patch = Patch::between(100, b"abcdef", b"aXcYef").unwrap();
        assert_eq!(patch, Patch { offset: 101, bytes: b"XcY".to_vec() });
    }

    #[test]
    fn only_what_lies_in_the_start() {
        let mut start = *b"abcdef";
        assert!(Patch { offset: 4, bytes: b"XY".to_vec() }.apply(&mut start));
        assert!(!Patch { offset: 5, bytes: b"ZZ".to_vec() }.apply(&mut start));
        assert!(!Patch { offset: u64::MAX, bytes: b"ZZ".to_vec() }.apply(&mut start));
        assert_eq!(&start, b"abcdXY");
    }

    #[test]
    fn sectors() {
        for (offset, len, atomic) in
            [(0, 512, true), (510, 2, true), (510, 3, false), (512, 8, true)]
        {
            assert_eq!(Patch { offset, bytes: vec![0; len] }.is_atomic(), atomic, "{offset} {len}");
        }
    }
}
