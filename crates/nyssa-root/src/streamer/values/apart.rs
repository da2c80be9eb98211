//! Holds items of an array that were streamed apart from the array.

/// Items of an array (`TObjArray`) that were streamed apart from it. Their place in the array is not known yet.
#[derive(Debug, Default)]
pub struct Apart {
    /// The number of items.
    pub(in crate::streamer) count: usize,
    pub(in crate::streamer) bytes: Vec<u8>,
    /// The labels of the objects in the bytes, and where these objects start.
    pub(in crate::streamer) labels: Vec<(usize, usize)>,
    /// The places of references in the bytes, and what they refer to.
    pub(in crate::streamer) references: Vec<(usize, Reference)>,
}

/// The target of a reference.
#[derive(Clone, Copy, Debug)]
pub(in crate::streamer) enum Reference {
    /// The class that is named at this place of the same bytes.
    Class(usize),
    /// The object with this label.
    Object(usize),
}
