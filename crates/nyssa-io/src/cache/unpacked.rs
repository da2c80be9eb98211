//! Defines what a source knows of the unpacked forms of its pages and baskets.

use std::ops::Range;

use bytes::Bytes;

use super::record::Form;

/// The unpacked form of the bytes of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpackedPage {
    /// The form: [`Form::Raw`] or [`Form::Lz4`].
    pub form: Form,
    /// The number of bytes before they were compressed.
    pub size: u64,
    /// The bytes, which are compressed if the form says so.
    pub bytes: Bytes,
}

/// The unpacked pages and baskets of a source. A page or basket is known by the range of its packed bytes.
pub trait Unpacked: Send + Sync {
    /// Returns the form in which new pages are kept, or `None` if they are not kept unpacked.
    fn wanted(&self) -> Option<Form>;

    /// Returns for each range whether its unpacked form is known.
    fn knows(&self, ranges: &[Range<u64>]) -> Vec<bool>;

    /// Returns whether any unpacked form is known or wanted.
    fn is_in_use(&self) -> bool;

    /// Reads the unpacked forms of ranges. An element is `None` if its range is not known, or is damaged in the
    /// cache.
    fn read(&self, ranges: &[Range<u64>]) -> Vec<Option<UnpackedPage>>;

    /// Keeps the unpacked forms of ranges. If they cannot be written, they are not kept.
    fn keep(&self, pages: Vec<(Range<u64>, UnpackedPage)>);
}
