//! Moves the bytes of an object to another place without decoding its values.
//!
//! References to objects and classes that were streamed before are positions, counted from the start of a buffer. Their places
//! in the bytes are known (`entry_references`).

use super::possible_references::word;
use super::reference_places::ReferencePlaces;
use crate::cursor::BYTE_COUNT;
use crate::error::{Error, Result};
use crate::streamer::wire::CLASS;

/// Returns the bytes of an object as if it were alone in its buffer. Now it is `origin` bytes after the start of its
/// buffer. If it has no header, it gets one with `version`. `places` says where its references are.
///
/// # Errors
/// `Unsupported` for an object with bytes that are not decoded and may have a reference; `LimitExceeded` for an object of
/// more than 1 GiB.
pub(super) fn standalone(
    bytes: &[u8],
    origin: usize,
    version: Option<&[u8]>,
    places: &ReferencePlaces,
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
    rebase(&mut object[header..], &places.all(bytes, origin)?, origin, header)?;
    Ok(object)
}

/// Changes the references at `places` of an object that moves from one distance from the start of its buffer to another.
///
/// # Errors
/// `OutOfSpecification` for a reference to something before the object; `LimitExceeded` for a distance of more than 1 GiB. Some
/// references may then be changed.
pub fn rebase(object: &mut [u8], places: &[usize], from: usize, to: usize) -> Result<()> {
    for &at in places {
        let outside = || Error::out_of_spec(format!("no reference at byte {at} of the object"));
        let tag = word(object, at).ok_or_else(outside)?;
        let target = ((tag & !CLASS) as usize).checked_sub(from).ok_or_else(outside)?;
        let target = u32::try_from(target + to).ok().filter(|&target| target < BYTE_COUNT);
        let target = target.ok_or_else(|| Error::limit("a reference beyond 1 GiB"))?;
        object[at..at + 4].copy_from_slice(&(target | tag & CLASS).to_be_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::error::Kind;
    use crate::streamer::wire::NEW_CLASS;

    /// Returns a pointer to an object of a new class, then a pointer to another object of the same class, and a number that
    /// looks like a pointer. The first is `origin` bytes after the start of the buffer.
    fn two(origin: u32, number: u32) -> Vec<u8> {
        let new = [&[0x40, 0, 0, 8], &NEW_CLASS.to_be_bytes()[..], b"A\0", b"xy"].concat();
        let old = [&[0x40, 0, 0, 6][..], &(CLASS | (4 + 2 + origin)).to_be_bytes(), b"zz"].concat();
        [new, old, vec![0x40, 0, 0, 4], number.to_be_bytes().to_vec()].concat()
    }

    const NUMBER: u32 = CLASS | (4 + 2 + 100);

    fn places(references: &[usize], unknown: Option<Range<usize>>) -> ReferencePlaces {
        let unknown = unknown.into_iter().map(|range| (range, "a reason".to_owned())).collect();
        ReferencePlaces { references: references.to_vec(), unknown }
    }

    #[test]
    fn references_count_from_the_object_and_numbers_stay() {
        let object = two(100, NUMBER);
        let alone = standalone(&object, 100, None, &places(&[16, 16], None)).unwrap();
        assert_eq!(alone, two(0, NUMBER));
        let alone =
            standalone(&object, 100, Some(&[0, 7]), &places(&[16], Some(12..20))).unwrap_err();
        assert!(alone.message().contains("at byte 16"), "{alone}");
        let headed = standalone(&object, 100, Some(&[0, 7]), &places(&[16], None)).unwrap();
        assert_eq!(headed, [&[0x40, 0, 0, 32, 0, 7], &two(6, NUMBER)[..]].concat());
    }

    #[test]
    fn bytes_that_may_be_a_reference_are_refused_where_nothing_is_known() {
        let object = two(100, NUMBER);
        let error = standalone(&object, 100, None, &places(&[16], Some(22..30))).unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(error.message().contains("at byte 26") && error.message().contains("a reason"));
        let plain = two(100, 7);
        assert_eq!(standalone(&plain, 100, None, &places(&[16], Some(22..30))).unwrap(), two(0, 7));
    }

    #[test]
    fn references_count_from_the_key() {
        for to in [70, 130, 100] {
            let mut object = two(100, NUMBER);
            rebase(&mut object, &[16], 100, to).unwrap();
            assert_eq!(object, two(to as u32, NUMBER));
        }
    }

    #[test]
    fn references_that_lead_nowhere_are_refused() {
        assert_eq!(
            rebase(&mut two(100, 0), &[28], 100, 70).unwrap_err().kind(),
            Kind::OutOfSpecification
        );
        assert!(rebase(&mut two(100, 0), &[28], 100, 70).is_err());
        assert!(rebase(&mut two(100, 0), &[16], 200, 70).is_err());
        let far = BYTE_COUNT as usize;
        assert_eq!(
            rebase(&mut two(100, 0), &[16], 100, far).unwrap_err().kind(),
            Kind::LimitExceeded
        );
    }
}
