//! Declares the options that say how a TTree is stored.

use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result};
use nyssa_ttree::stored::StoredBranch;
use nyssa_ttree::write::{AutoFlush, BranchOptions, TreeWriteOptions, check_basket_size};
use serde::Serialize;

/// The options that say how a TTree is stored. An option that is not given leaves the input as it is.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct BasketOptions {
    /// Size of a basket of a TTree before compression. The default is the size in the TTree from which the data come, or
    /// 32kB, as in ROOT; a rewrite with --auto-flush takes the size of the entries of a branch in a cluster.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SIZE", value_parser = nyssa_io::parse_size))]
    pub basket_size: Option<u64>,
    /// Where clusters of a TTree end: a number of entries, or a compressed size such as 30MB; 0 makes no clusters. The
    /// default is the value of the TTree from which the data come, or 30MB, as in ROOT; a rewrite keeps the clusters.
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "ENTRIES|SIZE",
            allow_hyphen_values = true,
            value_parser = crate::job::auto_flush::auto_flush
        )
    )]
    pub auto_flush: Option<i64>,
    /// Compression, basket-size or title of the branches of a TTree whose path matches a glob (repeatable; the last
    /// glob that matches counts). A backslash before a comma, a colon or an equals sign makes it a character of the glob
    /// or of the value.
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "GLOB:NAME=VALUE,...",
            value_parser = crate::job::by_glob::branch_options
        )
    )]
    pub branch_options: Vec<BranchOptions>,
}

impl BasketOptions {
    /// Returns whether no option is given.
    pub(crate) fn are_default(&self) -> bool {
        let Self { basket_size, auto_flush, branch_options } = self;
        basket_size.is_none() && auto_flush.is_none() && branch_options.is_empty()
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// `InvalidArgument` with the range of a size.
    pub(crate) fn validate(&self) -> Result<()> {
        let own = self.basket_size();
        let sizes = self.branch_options.iter().filter_map(|options| options.basket_size);
        sizes.chain(own).try_for_each(check_basket_size)
    }

    /// Checks that each glob matches one of the branches of all trees, given by their paths.
    ///
    /// # Errors
    /// `InvalidArgument` with suggestions.
    pub(crate) fn require_matches(&self, branches: &[&str]) -> Result<()> {
        let globs = self.branch_options.iter().map(|options| &options.glob);
        let mut unmatched =
            globs.filter(|glob| !branches.iter().any(|branch| glob.is_match(branch)));
        let Some(glob) = unmatched.next() else { return Ok(()) };
        let pattern = glob.glob().glob();
        let message = format!("the pattern of branches {pattern:?} matches nothing in the TTrees");
        Err(Error::invalid_argument(message).suggest(pattern, branches.iter().copied()))
    }

    /// Returns the options of a new tree. What is not given has ROOT's default.
    pub(crate) fn write_options(&self) -> TreeWriteOptions {
        let default = TreeWriteOptions::default();
        TreeWriteOptions {
            basket_size: self.basket_size().unwrap_or(default.basket_size),
            auto_flush: self.auto_flush().unwrap_or(default.auto_flush),
            branches: self.branch_options.clone(),
            ..default
        }
    }

    /// Returns where clusters end, if that is given.
    pub(crate) fn auto_flush(&self) -> Option<AutoFlush> {
        self.auto_flush.map(AutoFlush::from)
    }

    /// Returns the size of the baskets of all branches, if it is given.
    pub(crate) fn basket_size(&self) -> Option<usize> {
        self.basket_size.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Returns the size of the baskets of a branch, if it is given.
    pub(crate) fn basket_size_of(&self, branch: &StoredBranch) -> Option<usize> {
        let own = self.last(branch, |options| options.basket_size);
        own.or_else(|| self.basket_size())
    }

    /// Returns the compression of a branch, if it is given for the branch.
    pub(crate) fn compression_of(&self, branch: &StoredBranch) -> Option<Compression> {
        self.last(branch, |options| options.compression)
    }

    /// Returns the title of a branch, if it is given.
    pub(crate) fn title_of(&self, branch: &StoredBranch) -> Option<&str> {
        self.last(branch, |options| options.title.as_deref())
    }

    fn last<'a, T>(
        &'a self,
        branch: &StoredBranch,
        option: impl Fn(&'a BranchOptions) -> Option<T>,
    ) -> Option<T> {
        let matching = self.branch_options.iter().rev();
        let matching = matching.filter(|options| options.glob.is_match(&branch.path));
        matching.filter_map(option).next()
    }
}
