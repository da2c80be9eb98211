//! Defines the options of a rewrite.

use arrow_buffer::BooleanBuffer;
use nyssa_data::cut::Cut;
use nyssa_data::view::ReadRule;
use nyssa_root::error::{Error, Result};

use crate::job::given::{flags, given};
use crate::job::{BasketOptions, EntryRange, OutputOptions, StorageOptions};

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
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RewriteOptions {
    /// Take only fields or branches whose path matches a glob, such as 'Muon_*' or 'jets._0.pt' (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub include: Vec<String>,
    /// Leave out fields or branches whose path matches a glob (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub exclude: Vec<String>,
    /// Store streamer fields whose name matches a glob in columns of their members, such as '*' (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub split: Vec<String>,
    /// Store fields of classes and containers whose name matches a glob as streamer fields, such as '*' (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub streamed: Vec<String>,
    /// Take entries A up to, not including, B.
    #[cfg_attr(feature = "cli", arg(long, value_name = "A:B", allow_hyphen_values = true))]
    pub entries: Option<EntryRange>,
    /// Take only entries for which this is true, such as 'nMuon >= 2 && any(abs(Muon_eta) < 2.4)'.
    #[cfg_attr(feature = "cli", arg(long, value_name = "EXPRESSION", value_parser = expression))]
    pub cut: Option<EntryCut>,
    /// The options that all jobs share.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub output: OutputOptions,
    /// The options that say how an RNTuple is stored.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub storage: StorageOptions,
    /// The options that say how a TTree is stored. It keeps its compression if the output has none.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub baskets: BasketOptions,
    /// The rules for the classes of the fields. The members that the rules add are written, too. Cuts do not
    /// see them.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub rules: Vec<ReadRule>,
}

#[cfg(feature = "cli")]
fn expression(text: &str) -> std::result::Result<EntryCut, String> {
    Cut::parse(text).map(EntryCut::Expression).map_err(|error| error.message().to_owned())
}

impl RewriteOptions {
    /// Takes the options that the profile states, writes out the defaults of RNTuples, and checks the numbers.
    ///
    /// # Errors
    /// `InvalidArgument` for options that are not allowed; an error if the profile cannot be read.
    pub(super) fn settled(&self) -> Result<Self> {
        let mut settled = self.clone();
        settled.storage.settle(&mut settled.output)?;
        settled.storage.validate(&settled.output)?;
        settled.baskets.validate()?;
        Ok(settled)
    }

    /// Refuses options that no dataset uses. There are RNTuples, TTrees or both.
    ///
    /// # Errors
    /// `InvalidArgument` with the names of these options.
    pub fn check_formats(&self, has_ntuples: bool, has_trees: bool) -> Result<()> {
        let (mut ntuples, trees) = (flags(&given(&self.storage)?), flags(&given(&self.baskets)?));
        ntuples.extend((!self.split.is_empty()).then(|| "split".to_owned()));
        ntuples.extend((!self.streamed.is_empty()).then(|| "streamed".to_owned()));
        let refuse = |names: &[String], format: &str| {
            Err(Error::invalid_argument(format!(
                "{} of {format}, and there is none to rewrite",
                match names {
                    [option] => format!("{option} is an option"),
                    several => format!("{} are options", several.join(", ")),
                }
            )))
        };
        match () {
            () if !has_ntuples && !ntuples.is_empty() => refuse(&ntuples, "RNTuples"),
            () if !has_trees && !trees.is_empty() => refuse(&trees, "TTrees"),
            () => Ok(()),
        }
    }
}
