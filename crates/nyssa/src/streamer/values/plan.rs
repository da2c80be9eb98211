//! How to read one version of a class: its members, compiled once from streamer info.

use std::sync::Arc;

use crate::streamer::basic::Basic;
use crate::streamer::container::Item;

/// Number of a class in the table of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClassId(pub u32);

/// One version of a class.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Class name.
    pub class: Arc<str>,
    /// Class version.
    pub version: i32,
    /// Checksum of the class layout, by which classes without a version are found.
    pub checksum: u32,
    /// Members in the order they are streamed, base classes first.
    pub members: Vec<Member>,
}

/// One member, or base class, of a class.
#[derive(Debug)]
pub(crate) struct Member {
    /// Name.
    pub name: Arc<str>,
    /// How it is streamed.
    pub step: Step,
}

/// How a member is streamed.
#[derive(Debug)]
pub(crate) enum Step {
    /// A base class.
    Base(ClassId),
    /// One number.
    Scalar(Basic),
    /// A C array of numbers.
    Fixed(Basic, usize),
    /// Old `TStreamerElement::fMaxIndex`: a 32-bit length, then numbers.
    Prefixed(Basic),
    /// A pointer to as many numbers as another member says; `usize` such pointers.
    Counted(Basic, Counter, usize),
    /// `TBranch::fBasketSeek` before version 10: 32-bit positions, 64-bit ones if its flag is 2.
    Seeks(Counter),
    /// An object, or an array of them, without tags.
    Embedded(ClassId, Option<usize>),
    /// An array of objects behind one version header.
    Versioned(ClassId, usize),
    /// A pointer to an object, or an array of them: tagged, may be null or refer back.
    Pointer(Option<usize>),
    /// `char*`.
    CString,
    /// A standard container or string.
    Container(Item<ClassId>),
    /// Streamed by code nyssa does not know, behind a byte count.
    Opaque(Arc<str>),
}

/// Where the length of a counted pointer is.
#[derive(Debug)]
pub(crate) enum Counter {
    /// Index of a member of the same class.
    Own(usize),
    /// Name of a member of a base class.
    Named(Arc<str>),
}
