//! Defines the options of a rewrite.

use std::ops::Range;

use arrow_buffer::BooleanBuffer;
use nyssa_data::cut::Cut;
use nyssa_data::view::ReadRule;
use nyssa_root::error::{Error, Result};

use crate::job::OutputOptions;
use crate::job::options::entry_range;

/// The selection of the entries that are written.
#[derive(Clone, Debug)]
pub enum EntryCut {
    /// The entries for which an expression is true.
    Expression(Cut),
    /// The entries whose bit is set. There is one bit for each entry of the range [`RewriteOptions::entries`].
    Mask(BooleanBuffer),
}

impl EntryCut {
    /// Makes a mask of `count` bits. The least significant bit of each byte comes first.
    ///
    /// # Errors
    /// `InvalidArgument` if `bits` has fewer bits.
    pub fn from_bits(bits: Vec<u8>, count: usize) -> Result<Self> {
        if bits.len() < count.div_ceil(8) {
            return Err(Error::invalid_argument(format!(
                "{} bytes are not a mask of {count} bits",
                bits.len()
            )));
        }
        Ok(Self::Mask(BooleanBuffer::new(bits.into(), 0, count)))
    }
}

/// The options of a rewrite.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let options = nyssa::RewriteOptions { exclude: vec!["text".to_owned()], ..Default::default() };
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// # let context = nyssa::Context::new(None)?;
/// nyssa::rewrite("../../testdata/rntuple/codec-zstd.root", &output, &options, &context)?;
/// assert_eq!(nyssa::open(output.to_str().unwrap())?.columns().len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct RewriteOptions {
    /// The options that all jobs share.
    pub output: OutputOptions,
    /// The globs of the paths of fields to write, such as `Muon_*` or `jets._0.pt`. An empty list takes all
    /// fields.
    pub include: Vec<String>,
    /// The globs of the paths of fields to leave out, even if `include` takes them.
    pub exclude: Vec<String>,
    /// The range of entries to write. `None` takes all entries.
    pub entries: Option<Range<u64>>,
    /// The selection of entries in the range. `None` selects all entries.
    pub cut: Option<EntryCut>,
    /// The rules for the classes of the fields. The members that the rules add are written, too. Cuts do not
    /// see them.
    pub rules: Vec<ReadRule>,
}

impl RewriteOptions {
    /// Returns the range of entries within an RNTuple of `total` entries.
    ///
    /// # Errors
    /// `InvalidArgument` when it reaches beyond the end or runs backwards.
    pub fn entry_range(&self, total: u64) -> Result<Range<u64>> {
        entry_range(self.entries.as_ref(), total, "RNTuple")
    }
}
