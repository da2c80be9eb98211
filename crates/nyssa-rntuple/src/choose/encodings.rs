//! Defines the option for the choice of column types.

use nyssa_root::compression::Compression;
use nyssa_root::effort::{Chooser, Effort};

/// The way in which the column types of a writer are chosen.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// assert_eq!("auto".parse::<nyssa::Encodings>()?, nyssa::Encodings::Auto);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encodings {
    /// The types of the schema. The default types are ROOT's: split if compressed, otherwise unsplit.
    #[default]
    Default,
    /// Split or unsplit, by a sample of each column. With [`Effort::Auto`] the sample also decides the effort;
    /// size then counts more than time.
    Auto,
}

nyssa_root::named_variants!(Encodings, "encoding", Default = "default", Auto = "auto");

impl Encodings {
    /// Returns the chooser for the options, or `None` if they leave nothing to choose.
    pub fn chooser(self, compression: Compression, effort: Effort) -> Option<Chooser> {
        match self {
            Self::Auto => Chooser::for_size(compression, effort),
            Self::Default => Chooser::for_time(compression, effort),
        }
    }
}
