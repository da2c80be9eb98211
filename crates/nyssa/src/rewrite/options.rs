//! What a rewrite does.

use std::ops::Range;

use arrow_buffer::BooleanBuffer;

use crate::cut::Cut;
use crate::error::{Error, Result};
use crate::job::OutputOptions;
use crate::job::options::entry_range;
use crate::view::ReadRule;

/// Which entries are taken.
#[derive(Clone, Debug)]
pub enum EntryCut {
    /// Those for which an expression is true.
    Expression(Cut),
    /// Those whose bit is set: one bit for each entry of the range [`Options::entries`].
    Mask(BooleanBuffer),
}

impl EntryCut {
    /// A mask of `count` bits, least significant first.
    ///
    /// # Errors
    /// `InvalidArgument` when there are fewer bits.
    pub fn from_bits(bits: Vec<u8>, count: usize) -> Result<Self> {
        if bits.len() < count.div_ceil(8) {
            return Err(Error::invalid_argument(format!(
                "{} bytes are no mask of {count} bits",
                bits.len()
            )));
        }
        Ok(Self::Mask(BooleanBuffer::new(bits.into(), 0, count)))
    }
}

/// Options of a rewrite.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What all jobs have.
    pub output: OutputOptions,
    /// Globs of field paths to take, such as `Muon_*` or `jets._0.pt`; empty takes all.
    pub include: Vec<String>,
    /// Globs of field paths to leave out, stronger than `include`.
    pub exclude: Vec<String>,
    /// Entries to take; `None` takes all.
    pub entries: Option<Range<u64>>,
    /// Which of these entries to take; `None` takes all.
    pub cut: Option<EntryCut>,
    /// Rules for the classes of the fields: the members that they make are written as well. Cuts do
    /// not see them.
    pub rules: Vec<ReadRule>,
}

impl Options {
    /// The entry range within an RNTuple of `total` entries.
    ///
    /// # Errors
    /// `InvalidArgument` when it reaches beyond the end or runs backwards.
    pub fn entry_range(&self, total: u64) -> Result<Range<u64>> {
        entry_range(self.entries.as_ref(), total, "RNTuple")
    }
}
