//! What a branch says of the member or the leaf that it holds.

use super::basic::{Basic, DOUBLE32, FLOAT16};

/// A member of a class, by what a branch says of it.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Class that has the member.
    pub class: &'a str,
    /// Its version.
    pub version: i32,
    /// Its checksum, 0 where it is not known.
    pub checksum: u32,
    /// Index of the member in the streamer info.
    pub index: usize,
}

/// One leaf of a branch: numbers, or a string.
#[derive(Clone, Debug)]
pub struct LeafNumbers {
    /// Name.
    pub name: String,
    /// How a number is stored; `None` for a string.
    pub(crate) basic: Option<Basic>,
    /// Fixed dimensions, outermost first.
    pub dimensions: Vec<usize>,
    /// The leaf of the same branch that says how many items there are.
    pub counter: Option<String>,
}

impl LeafNumbers {
    /// Numbers packed as the title of a `TLeafD32` (`double`) or `TLeafF16` asks for.
    pub(crate) fn packed(title: &str, double: bool) -> Option<Basic> {
        let range = title.rfind('[').map_or("", |at| &title[at..]);
        Basic::from_code(if double { DOUBLE32 } else { FLOAT16 }, range)
    }
}
