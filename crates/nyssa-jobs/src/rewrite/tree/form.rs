//! Decides for each branch of a TTree whether its baskets are packed again, and how.

use nyssa_root::compression::Compression;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::read_one;
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::Basket;
use nyssa_ttree::repack::{OpenedBasket, PackedForm, Packer, PackingMemory};
use nyssa_ttree::stored::{StoredBranch, StoredTree};
use nyssa_ttree::write::{AutoFlush, optimized_size};

use crate::heuristics::tree;
use crate::rewrite::options::RewriteOptions;

/// What happens to a branch.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    /// It is left out.
    LeftOut,
    /// Its baskets are moved as they are.
    Moved,
    /// Its entries are packed into other baskets.
    Packed(PackedForm),
}

/// The sizes of clusters, and of the branches in them.
pub(super) struct Flush {
    /// The rule, if the options state it.
    pub rule: Option<AutoFlush>,
    /// The number of entries of a cluster, if the rule says or implies it.
    pub entries: Option<u64>,
}

impl Fate {
    /// Decides for a branch of a tree named `name`. Its entries are `all` of the tree or not.
    ///
    /// # Errors
    /// `Unsupported` if its entries have to be taken apart, and cannot be.
    pub(super) fn of(
        (tree, branch): (&StoredTree, &StoredBranch),
        name: &str,
        all: bool,
        flush: &Flush,
        options: &RewriteOptions,
    ) -> Result<Self> {
        let wanted = compression(branch, options);
        let size = basket_size(tree, branch, flush, options);
        let changes = wanted.is_some_and(|(wanted, _)| stored_compression(branch) != Some(wanted))
            || size.is_some()
            || flush.rule.is_some();
        if branch.baskets.is_empty() || all && !changes {
            return Ok(Self::Moved);
        }
        if branch.may_lack_offsets() {
            return match all {
                true => Ok(Self::Moved),
                false => Err(Error::unsupported(
                    "its baskets may have no offsets (kGenerateOffsetMap), so that its entries cannot be taken apart: take \
                     all entries, or leave the branch out",
                )),
            };
        }
        let kept = stored_compression(branch).unwrap_or(Compression::DEFAULT);
        let (compression, effort) = wanted.unwrap_or((kept, Effort::Full));
        Ok(Self::Packed(PackedForm {
            name: branch.name.clone(),
            tree: name.to_owned(),
            compression,
            effort,
            basket_size: size.unwrap_or_else(|| stored_size(branch)),
            may_refer: branch.has_offsets && branch.property("class") != Some("TBranch"),
        }))
    }
}

/// Returns the compression and effort that the options request for a branch.
fn compression(branch: &StoredBranch, options: &RewriteOptions) -> Option<(Compression, Effort)> {
    // A compression that is named for a branch is used with its full effort.
    let own = options.baskets.compression_of(branch).map(|own| (own, Effort::Full));
    let output = &options.output;
    own.or_else(|| output.compression.map(|_| (output.compression(), output.effort())))
}

/// Returns the compression that a branch states.
fn stored_compression(branch: &StoredBranch) -> Option<Compression> {
    // uproot states no compression, whatever its baskets have.
    let is_compressed = branch.bytes.1 < branch.bytes.0;
    Compression::of_setting(branch.compression).filter(|one| one.level > 0 || !is_compressed)
}

/// Returns the size of the baskets of a branch, if it changes.
fn basket_size(
    tree: &StoredTree,
    branch: &StoredBranch,
    flush: &Flush,
    options: &RewriteOptions,
) -> Option<usize> {
    let given = options.baskets.basket_size_of(branch);
    let given = given.or_else(|| {
        let entries = flush.entries.filter(|_| flush.rule.is_some())?;
        let share = entries as f64 / tree.entries.max(1) as f64;
        let bytes = (branch.bytes.0.max(0) as f64 * share) as u64;
        Some(optimized_size(bytes, entries, branch.has_offsets))
    });
    given.filter(|&size| i64::try_from(size) != Ok(branch.basket_size))
}

fn stored_size(branch: &StoredBranch) -> usize {
    usize::try_from(branch.basket_size).unwrap_or(0).clamp(tree::MIN_BASKET, tree::MAX_BASKET)
}

impl Flush {
    /// Finds the number of entries of a cluster. A size in bytes becomes a number of entries by samples: the first entries
    /// of each branch, compressed as in the output.
    ///
    /// # Errors
    /// An error if the first baskets cannot be read.
    pub(super) fn new(
        input: &RootFile,
        tree: &StoredTree,
        kept: &[bool],
        options: &RewriteOptions,
    ) -> Result<Self> {
        let rule = options.baskets.auto_flush();
        let entries = match rule {
            None | Some(AutoFlush::Never) => None,
            Some(AutoFlush::Entries(count)) => Some(count),
            Some(AutoFlush::Bytes(bytes)) => {
                let branches = tree.branches.iter().zip(kept).filter(|(_, kept)| **kept);
                let mut size = 0.0;
                for (branch, _) in branches {
                    size += branch_bytes(input, branch, options)? / tree.entries.max(1) as f64;
                }
                Some((bytes as f64 / size.max(f64::MIN_POSITIVE)).ceil().max(1.0) as u64)
            }
        };
        Ok(Self { rule, entries })
    }
}

/// Returns about how many bytes the baskets of a branch will have.
fn branch_bytes(input: &RootFile, branch: &StoredBranch, options: &RewriteOptions) -> Result<f64> {
    let stored = branch.bytes.1.max(0) as f64;
    let Some((compression, effort)) = compression(branch, options) else { return Ok(stored) };
    let Some(first) = branch.baskets.first() else { return Ok(0.0) };
    if stored_compression(branch) == Some(compression) || branch.may_lack_offsets() {
        return Ok(stored);
    }
    let form = PackedForm {
        name: String::new(),
        tree: String::new(),
        compression,
        effort,
        basket_size: tree::SAMPLE_BASKET,
        may_refer: false,
    };
    let (before, after) = sampled(&open(input, first)?, first, &form)?;
    Ok(branch.bytes.0.max(0) as f64 * after as f64 / (before as f64).max(1.0))
}

/// Returns the bytes of the first entries of a basket before and after compression.
fn sampled(basket: &OpenedBasket, place: &Basket, form: &PackedForm) -> Result<(u64, u64)> {
    let memory = PackingMemory::default();
    let mut packer = Packer::new(form, 0, &memory);
    packer.add(basket, 0..place.entries)?;
    let packed = packer.finish()?;
    let first = packed.first();
    Ok(first.map_or((0, 0), |first| (first.objlen, first.payload.len() as u64)))
}

fn open(input: &RootFile, basket: &Basket) -> Result<OpenedBasket> {
    let raw = match basket.embedded {
        Some(_) => bytes::Bytes::default(),
        None => read_one(input.source(), basket.seek..basket.seek.saturating_add(basket.bytes))?,
    };
    OpenedBasket::open(&raw, basket)
}
