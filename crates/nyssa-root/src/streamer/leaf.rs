//! Defines the member of a class, or the leaf, that a branch holds.

use super::basic::{Basic, DOUBLE32, FLOAT16};

/// A member of a class, as a branch refers to it.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The name of the class that has the member.
    pub class: &'a str,
    /// The version of the class.
    pub version: i32,
    /// The checksum of the class, or 0 if it is not known.
    pub checksum: u32,
    /// The index of the member in the streamer info.
    pub index: usize,
}

/// One leaf of a branch, which holds numbers or a string.
#[derive(Clone, Debug)]
pub struct LeafNumbers {
    /// The name.
    pub name: String,
    /// The stored form of a number. `None` for a string.
    pub basic: Option<Basic>,
    /// The fixed dimensions, outermost first.
    pub dimensions: Vec<usize>,
    /// The name of the leaf of the same branch that holds the number of items.
    pub counter: Option<String>,
}

impl LeafNumbers {
    /// Returns the stored form of numbers that the title of a `TLeafD32` (`double`) or `TLeafF16` requests.
    pub fn packed(title: &str, double: bool) -> Option<Basic> {
        let range = title.rfind('[').map_or("", |at| &title[at..]);
        Basic::from_code(if double { DOUBLE32 } else { FLOAT16 }, range)
    }
}
