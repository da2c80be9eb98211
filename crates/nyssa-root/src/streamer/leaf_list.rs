//! Finds the empty strings in the entries of a leaf list.
//!
//! For an empty string, `TLeafC::FillBasket` writes nothing, not even a length; other versions of ROOT write the
//! length 0. So the leaves behind it begin where its length should be. The size of the entry shows which strings are
//! missing.

use super::node::{Node, Step};
use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// The name of the class of the leaves of a leaf list. No class of C++ can have it.
pub(super) const NAME: &str = "leaf list";

/// The largest number of strings of which any may be missing. Of more strings, all or none may be missing.
const STRINGS: u32 = 6;

/// The leaves of a leaf list with strings.
pub(super) struct LeafList<'a> {
    leaves: &'a [Step],
    strings: u32,
}

impl<'a> LeafList<'a> {
    /// Returns the leaves of `node` if it is a leaf list with strings.
    pub(super) fn of(node: &'a Node) -> Option<Self> {
        let Node::Members(class, version) = node else { return None };
        let leaves = &class.versions.get(*version)?.steps[..];
        let strings = leaves.iter().filter(|leaf| matches!(leaf.node, Node::Text)).count();
        let strings = u32::try_from(strings).ok().filter(|&strings| strings > 0)?;
        (&*class.name == NAME).then_some(Self { leaves, strings })
    }

    /// Returns the bytes of an entry with the lengths of its empty strings. Returns `None` if all lengths are there,
    /// or if the bytes do not have this form.
    ///
    /// # Errors
    /// `Unsupported` if the bytes do not show which strings are empty.
    pub(super) fn completed(&self, entry: &[u8]) -> Result<Option<Vec<u8>>> {
        if self.places(entry, 0).is_some() {
            return Ok(None);
        }
        let masks: Vec<u64> = match self.strings {
            ..=STRINGS => (1..1 << self.strings).collect(),
            _ => vec![u64::MAX],
        };
        let mut layouts = masks.into_iter().filter_map(|missing| {
            let places = self.places(entry, missing)?;
            Some(with_zeros(entry, &places))
        });
        let first = layouts.next();
        if layouts.any(|other| first.as_ref() != Some(&other)) {
            return Err(Error::unsupported(
                "ROOT stores nothing for an empty string of a leaf list, and here the bytes do not say which of its \
                 strings is empty",
            ));
        }
        Ok(first)
    }

    /// Returns where the lengths of the strings in `missing` belong, one bit for each string, if the leaves then are as
    /// long as the entry.
    fn places(&self, entry: &[u8], missing: u64) -> Option<Vec<usize>> {
        let mut cursor = Cursor::new(entry, 0);
        let at = |cursor: &Cursor<'_>| entry.len() - cursor.remaining().len();
        let (mut places, mut strings, mut numbers) = (Vec::new(), 0, Vec::<(&str, u64)>::new());
        for leaf in self.leaves {
            match &leaf.node {
                Node::Text => {
                    // If there are more strings than bits, all strings are missing or none.
                    if missing >> strings.min(u64::BITS - 1) & 1 == 1 {
                        places.push(at(&cursor));
                    } else {
                        cursor.root_bytes().ok()?;
                    }
                    strings += 1;
                }
                Node::Counted(counted) => {
                    let (_, count) = numbers.iter().find(|(name, _)| *name == counted.name)?;
                    let bytes =
                        usize::try_from(*count).ok()?.checked_mul(counted.item.fixed_size()?);
                    cursor.skip(bytes?).ok()?;
                }
                node => {
                    let bytes = cursor.bytes(node.fixed_size()?).ok()?;
                    if matches!(node, Node::Number(_)) {
                        let number =
                            bytes.iter().fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
                        numbers.push((&*leaf.name, number));
                    }
                }
            }
        }
        cursor.remaining().is_empty().then_some(places)
    }
}

/// Returns the bytes with zeros before these places.
fn with_zeros(bytes: &[u8], places: &[usize]) -> Vec<u8> {
    let mut all = Vec::with_capacity(bytes.len() + places.len());
    let mut done = 0;
    for &place in places {
        all.extend(&bytes[done..place]);
        all.push(0);
        done = place;
    }
    all.extend(&bytes[done..]);
    all
}
