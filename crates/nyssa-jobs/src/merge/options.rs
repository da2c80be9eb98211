//! Defines the options of a merge.

use nyssa_io::OpenOptions;
use nyssa_rntuple::choose::Encodings;
use nyssa_rntuple::write::{DEFAULT_APPROX_ZIPPED_CLUSTER, MIN_MEMORY};
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result};

use crate::heuristics::merge;
use crate::job::{BasketOptions, OutputOptions, StorageOptions};

/// The action if the inputs have different fields.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// assert_eq!("union".parse::<nyssa::Mode>()?, nyssa::Mode::Union);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Refuses the inputs with the first field that is not in all of them.
    #[default]
    Strict,
    /// Takes the fields of all inputs. If an input lacks a field, its entries read as zero, empty, or no value.
    Union,
    /// Takes only the fields that all inputs have.
    Filter,
}

nyssa_root::named_variants!(Mode, "mode", Strict = "strict", Union = "union", Filter = "filter");

#[cfg(feature = "cli")]
impl clap::Args for Mode {
    fn augment_args(command: clap::Command) -> clap::Command {
        let flag = |name: &'static str, help: &'static str| {
            clap::Arg::new(name).long(name).help(help).action(clap::ArgAction::SetTrue)
        };
        let flags = [
            flag("strict", "Refuse inputs that do not have the same fields (the default)"),
            flag(
                "union",
                "Take the fields of all inputs; if an input lacks a field, its entries are zero or empty",
            ),
            flag("filter", "Take only the fields that all inputs have"),
        ];
        let group = clap::ArgGroup::new("mode").args(flags.iter().map(clap::Arg::get_id));
        command.group(group).args(flags)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

#[cfg(feature = "cli")]
impl clap::FromArgMatches for Mode {
    fn from_arg_matches(matches: &clap::ArgMatches) -> std::result::Result<Self, clap::Error> {
        let flag = matches.get_one::<clap::Id>("mode");
        Ok(flag.and_then(|flag| flag.as_str().parse().ok()).unwrap_or_default())
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &clap::ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The options of a merge.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let mut options = nyssa::MergeOptions { mode: nyssa::Mode::Union, ..Default::default() };
/// // All data are decoded and written again in clusters of this size.
/// options.storage.cluster_size = Some(200_000_000);
/// # Ok(())
/// # }
/// ```
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let context = nyssa::Context::new(None)?;
/// let mut options = nyssa::MergeOptions { skip_bad: true, ..Default::default() };
/// options.output.compression = Some("zstd:9".parse()?);
/// let inputs = ["../../testdata/rntuple/plain.root", "missing.root"].map(str::to_owned);
/// let report = nyssa::merge(&inputs, &output, &options, &context)?;
/// assert_eq!(report.bad.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(
    mut_arg("cluster_size", |arg| arg.long("recluster").help(
        "Decode all data and write them again in clusters of this compressed size, within a few percent: at least \
         256 bytes, and 64 bytes for each column"
    )),
    mut_arg("compression", |arg| arg.help(
        "Decompress all pages and baskets and compress them again: zstd, zlib, lz4 or lzma, with or without a level from 1 \
         to 9; a ROOT setting such as 505; or none. Without it they are copied as they are, and with --recluster all \
         data get zstd"
    )),
    mut_arg("memory", |arg| arg.help(
        "Largest size of the data that are in memory at the same time, at least 1MiB, with --recluster 2MiB. The \
         default is 256MiB, with --recluster what clusters of its size need, at least 448MiB"
    ))
))]
pub struct MergeOptions {
    /// The action if the inputs have different fields.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub mode: Mode,
    /// Do not check the pages against their checksums.
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_checksums: bool,
    /// Leave out objects beside the RNTuples and TTrees that cannot be merged, and name them; without this they are
    /// refused.
    #[cfg_attr(feature = "cli", arg(long))]
    pub skip_unsupported: bool,
    /// Leave out inputs that are missing or damaged, and name them. The exit status is then 1. Data are damaged if a
    /// checksum or a size is wrong; then the merge starts again without the input.
    #[cfg_attr(feature = "cli", arg(long, short = 'k'))]
    pub skip_bad: bool,
    /// Add to an existing output: its datasets and objects come first, as if it were the first input. It is replaced
    /// when the new file is complete, so that it needs space for both.
    #[cfg_attr(feature = "cli", arg(long, short = 'a'))]
    pub append: bool,
    /// The options with which the inputs are opened.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub open: OpenOptions,
    /// The options that all jobs share. Without a compression, pages and baskets are copied as they are.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub output: OutputOptions,
    /// The options that say how an RNTuple is stored. With a size of clusters, all data are decoded and written again.
    /// Otherwise the pages are copied without change, and there are no other options of this kind.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub storage: StorageOptions,
    /// The options that say how a TTree is stored. With one of them, the entries of TTrees are packed into other baskets.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub baskets: BasketOptions,
}

impl MergeOptions {
    /// Returns whether all data are decoded and written again in new clusters. Otherwise the pages are copied.
    pub(super) fn reclusters(&self) -> bool {
        self.storage.cluster_size.is_some()
    }

    /// Returns whether the baskets of TTrees are compressed or packed again. Otherwise they are copied.
    pub(super) fn wants_other_baskets(&self) -> bool {
        self.output.compression.is_some() || !self.baskets.are_default()
    }

    /// Returns the compression of pages and baskets that are copied, if it changes.
    pub(super) fn recompression(&self) -> Option<Compression> {
        let compression = self.output.compression.map(|choice| choice.compression);
        compression.filter(|_| !self.reclusters())
    }

    /// Checks that the options can be combined and that their numbers are allowed.
    ///
    /// # Errors
    /// `InvalidArgument` with the range of the option.
    pub fn validate(&self) -> Result<()> {
        let StorageOptions { profile, field_options, .. } = &self.storage;
        if profile.is_some() {
            return Err(Error::invalid_argument(
                "a profile is for convert and rewrite: a merge has none",
            ));
        }
        self.storage.validate(&self.output)?;
        self.baskets.validate()?;
        let is_default = self.storage.encoding() == Encodings::Default
            && field_options.is_empty()
            && self.storage.page_size() == StorageOptions::default().page_size();
        let memory = self.memory();
        if self.append && self.output.name.is_some() {
            return Err(Error::invalid_argument(
                "what is appended keeps its path: leave out the name, or merge without append",
            ));
        }
        match self.reclusters() {
            false if !is_default => Err(Error::invalid_argument(
                "pages are moved as they are: encodings, options of fields and page sizes need new clusters, \
                 use recluster",
            )),
            true if memory < 2 * MIN_MEMORY => Err(Error::invalid_argument(format!(
                "{memory} bytes of memory are not enough to make new clusters: at least {} are needed",
                2 * MIN_MEMORY
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the largest size in bytes of the data that are in memory at the same time. With `recluster` the
    /// default is enough to read the inputs and to write clusters of the requested size, whatever their columns are.
    pub(super) fn memory(&self) -> u64 {
        self.output.memory.unwrap_or_else(|| default_memory(self))
    }
}

/// Returns the default of the memory for a merge.
pub(super) fn default_memory(options: &MergeOptions) -> u64 {
    match options.reclusters() {
        false => merge::MOVE_MEMORY,
        true => {
            let cluster = options.storage.cluster_size().max(DEFAULT_APPROX_ZIPPED_CLUSTER);
            (cluster / 2).saturating_mul(7)
        }
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    fn parse(words: &[&str]) -> std::result::Result<MergeOptions, clap::Error> {
        let command = MergeOptions::augment_args(Command::new("merge").no_binary_name(true));
        MergeOptions::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    #[test]
    fn a_flag_chooses_the_mode() {
        for (words, mode) in [
            (&[][..], Mode::Strict),
            (&["--strict"], Mode::Strict),
            (&["--union"], Mode::Union),
            (&["--no-checksums", "--filter"], Mode::Filter),
        ] {
            assert_eq!(parse(words).unwrap().mode, mode);
        }
        assert!(parse(&["--union", "--filter"]).is_err());
        assert!(parse(&["--strict", "--union"]).is_err());
    }

    #[test]
    fn recluster_is_the_size_of_clusters() {
        let options = parse(&["--recluster", "1MB"]).unwrap();
        assert!(options.reclusters() && options.storage.cluster_size() == 1_000_000);
        assert!(!parse(&[]).unwrap().reclusters());
        assert!(parse(&["--cluster-size", "1MB"]).is_err());
    }
}
