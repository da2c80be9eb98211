//! Declares the options of a skim. The command line makes flags and help of a declaration, and Python reads its
//! keywords by these flags.

use std::path::Path;
use std::str::FromStr;

use nyssa_data::cut::Cut;
use nyssa_rntuple::write::check_memory;
use nyssa_root::error::{Error, Result};
use nyssa_tables::{ending, format_of_name};
use serde::Serialize;

use crate::convert::To;
use crate::job::given::{flags, given};
use crate::job::{BasketOptions, EntryRange, OutputOptions, StorageOptions};

/// A cut, with the name that the cut flow has for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedCut {
    /// The name. It is the expression if no name is given.
    pub name: String,
    /// The expression.
    pub cut: String,
}

impl NamedCut {
    /// Makes a cut with a name.
    ///
    /// # Errors
    /// `InvalidArgument` for an expression that does not parse, with its place.
    pub fn new(name: String, cut: String) -> Result<Self> {
        Cut::parse(&cut)?;
        Ok(Self { name, cut })
    }
}

impl FromStr for NamedCut {
    type Err = Error;

    /// Parses `EXPRESSION` or `NAME=EXPRESSION`. The equals sign of `nJet == 2` or `pt >= 20` names nothing.
    fn from_str(text: &str) -> Result<Self> {
        let is_name =
            |name: &str| !name.is_empty() && !name.contains(|c| "<>=!&|()+*/%'\"`".contains(c));
        let named = text
            .split_once('=')
            .filter(|(name, cut)| is_name(name.trim()) && !cut.starts_with('='));
        let (name, cut) = named.map_or((text, text), |(name, cut)| (name, cut));
        Self::new(name.trim().to_owned(), cut.trim().to_owned())
    }
}

/// The options of a skim.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// # let context = nyssa::Context::new(None)?;
/// let columns = vec!["n".to_owned()];
/// let options = nyssa::SkimOptions { columns, ..Default::default() };
/// let inputs = ["../../testdata/rntuple/codec-zstd.root".to_owned()];
/// nyssa::skim(&inputs, &output, &options, &context)?;
/// assert_eq!(nyssa::open(output.to_str().unwrap())?.columns().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct SkimOptions {
    /// Take only columns whose name matches a glob, such as 'Muon_*', and these new columns (repeatable). The default is
    /// all columns.
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub columns: Vec<String>,
    /// Leave out columns whose name matches a glob (repeatable).
    #[cfg_attr(feature = "cli", arg(long, value_name = "GLOB"))]
    pub exclude: Vec<String>,
    /// Add a column that is computed for each entry, such as 'ht=sum(Jet_pt[Jet_pt > 30])' (repeatable). Expressions and
    /// cuts may use it.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME=EXPRESSION", value_parser = crate::job::words::pair))]
    pub define: Vec<(String, String)>,
    /// Take only entries for which this is true, such as 'nMuon >= 2' or 'two muons=nMuon >= 2' (repeatable: an entry
    /// must pass all). The report has the number of entries after each.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "[NAME=]EXPRESSION", allow_hyphen_values = true)
    )]
    pub cut: Vec<NamedCut>,
    /// Take entries A up to, not including, B.
    #[cfg_attr(feature = "cli", arg(long, value_name = "A:B", allow_hyphen_values = true))]
    pub entries: Option<EntryRange>,
    /// Format of the output: rntuple, ttree, parquet or arrow. The default is what the name of the output says, and for
    /// .root the format of the input, or rntuple.
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT"))]
    pub format: Option<To>,
    /// Leave out columns that nyssa cannot read, or that the format cannot hold. The report lists them.
    #[cfg_attr(feature = "cli", arg(long))]
    pub skip_unsupported: bool,
    /// Leave out columns with damaged data. The report lists them; the exit status is then 1.
    #[cfg_attr(feature = "cli", arg(long))]
    pub skip_unreadable: bool,
    /// Also take the columns of the friends of a TTree, or of an RNTuple that was one, as friend.branch.
    #[cfg_attr(feature = "cli", arg(long))]
    pub friends: bool,
    /// The options that say how a TTree is stored.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub baskets: BasketOptions,
    /// The options that all jobs share.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub output: OutputOptions,
    /// The options that say how an RNTuple is stored. The size of a cluster is also the size of a row group of Parquet.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub storage: StorageOptions,
}

impl SkimOptions {
    /// Checks the options, and returns the format of the output. `default` is the format of the inputs.
    ///
    /// # Errors
    /// `InvalidArgument` for options that this format does not have.
    pub(super) fn checked(&self, output: &Path, default: To) -> Result<To> {
        let by_name = format_of_name(output).and_then(To::of_format);
        let to = self.format.or(by_name).unwrap_or(match default {
            To::TTree => To::TTree,
            _ => To::RNTuple,
        });
        let is_table = matches!(to, To::Parquet | To::Arrow);
        let is_root = ending(output).is_some_and(|ending| ending == "root");
        if by_name.is_some_and(|named| named != to) || (is_table && is_root) {
            return Err(Error::invalid_argument(format!(
                "the name of the output is not the name of a file of the format {to}"
            )));
        }
        self.output.memory.map_or(Ok(()), check_memory)?;
        self.baskets.validate()?;
        let mut storage = self.storage.clone();
        let mut others = flags(&given(&self.baskets)?);
        match to {
            To::RNTuple => self.storage.validate(&self.output)?,
            To::TTree => others = flags(&given(&storage)?),
            To::Parquet | To::Arrow => {
                if to == To::Parquet {
                    storage.cluster_size = None;
                }
                others.extend(flags(&given(&storage)?));
            }
        }
        match others.is_empty() {
            true => Ok(to),
            false => Err(Error::invalid_argument(format!(
                "the format {to} has no option {}",
                others.join(", ")
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_may_have_names() {
        let parsed = |text: &str| {
            let NamedCut { name, cut } = text.parse().unwrap();
            (name, cut)
        };
        let plain = |text: &str| (text.to_owned(), text.to_owned());
        for text in ["nJet == 2", "nJet==2", "x >= 1", "x<=1 && y == 2", "any(pt != 0)"] {
            assert_eq!(parsed(text), plain(text));
        }
        assert_eq!(parsed("two jets=nJet == 2"), ("two jets".to_owned(), "nJet == 2".to_owned()));
        assert_eq!(parsed("a = x > 1"), ("a".to_owned(), "x > 1".to_owned()));
        assert!("two=".parse::<NamedCut>().is_err());
    }
}
