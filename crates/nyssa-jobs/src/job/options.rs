//! Declares the options of the output that all jobs have. The command line makes flags and help of a declaration, and
//! Python reads its keywords by these flags.

use nyssa_root::compression::Compression;
use nyssa_root::effort::{CompressionChoice, Effort};
use serde::Serialize;

/// The default for the largest size of the decoded and sealed data that are in memory at the same time.
pub const DEFAULT_MEMORY: u64 = 512 << 20;

/// The options of the output that all jobs have.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let output = nyssa::OutputOptions {
///     compression: Some("zstd:9".parse()?),
///     verify: true,
///     force: true,
///     ..Default::default()
/// };
/// let options = nyssa::RewriteOptions { output, ..Default::default() };
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct OutputOptions {
    /// zstd, zlib, lz4 or lzma, with or without a level from 1 to 9; a ROOT setting such as 505; or none. A
    /// level is used exactly; without a level, zstd spends time where a sample of a column shows that it pays.
    /// The default is the value of the profile, or zstd.
    #[cfg_attr(feature = "cli", arg(long, value_name = "ALGORITHM[:LEVEL]"))]
    pub compression: Option<CompressionChoice>,
    /// auto: spend time where a sample shows that it pays, and at most the time of the level; full: use the level
    /// for every column. The default is the value of the profile, or full with a level, and auto without.
    /// docs/effort.md explains effort and the price of time.
    #[cfg_attr(feature = "cli", arg(long))]
    pub effort: Option<Effort>,
    /// Largest size of the data that are in memory at the same time, at least 1MiB. The default is 512MiB.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SIZE", value_parser = nyssa_io::parse_size))]
    pub memory: Option<u64>,
    /// Read input and output back and compare every value before the output appears. Columns that were chosen with
    /// less precision are compared within the error that their encoding states.
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(skip)]
    pub verify: bool,
    /// Do not copy the other objects of the (first) input file. The report names them.
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_carry: bool,
    /// Replace an existing output.
    #[cfg_attr(feature = "cli", arg(long, short))]
    #[serde(skip)]
    pub force: bool,
    /// Name of the RNTuple, or of the TTree. The default is its path in the (first) input.
    #[cfg_attr(feature = "cli", arg(long))]
    pub name: Option<String>,
    /// Write the same bytes every time: no dates, no random identity.
    #[cfg_attr(feature = "cli", arg(long))]
    pub reproducible: bool,
    /// The identity (UUID) of the file. `None` makes a random UUID. A job over many files computes it from its inputs
    /// and its options, so that a later run recognises its outputs. It is not an option for users.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub identity: Option<[u8; 16]>,
}

impl OutputOptions {
    /// Returns the compression algorithm and level of data that is encoded again.
    pub fn compression(&self) -> Compression {
        self.compression.unwrap_or_default().compression
    }

    /// Returns the CPU time that compression may take.
    pub fn effort(&self) -> Effort {
        self.compression.unwrap_or_default().effort(self.effort)
    }

    /// Returns the largest size in bytes of the data that are in memory at the same time.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.unwrap_or(DEFAULT_MEMORY)
    }

    /// Writes out the defaults. Options that mean the same are then equal.
    pub(crate) fn settle(&mut self) {
        self.effort = Some(self.effort());
        self.compression = Some(self.compression().into());
    }
}
