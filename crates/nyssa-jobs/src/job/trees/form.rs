//! Decides for each branch of a TTree whether its baskets are packed again, and how.

use nyssa_root::compression::Compression;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::fetch::read_all;
use nyssa_ttree::Basket;
use nyssa_ttree::repack::{OpenedBasket, PackedForm, Packer, PackingMemory};
use nyssa_ttree::stored::{BranchGrowth, StoredBranch, StoredTree};
use nyssa_ttree::write::{AutoFlush, optimized_size};

use super::options::BasketOptions;
use crate::heuristics::tree;
use crate::job::OutputOptions;

/// The action on a branch.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// It is left out.
    LeftOut,
    /// Its baskets are moved as they are.
    Moved,
    /// Its baskets keep their entries, and are compressed again.
    Resealed(Compression),
    /// Its entries are packed into other baskets.
    Packed(PackedForm),
}

/// The options that decide about branches.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub baskets: &'a BasketOptions,
    pub output: &'a OutputOptions,
    /// Whether other trees follow, whose branches may be stored in other ways.
    pub joins: bool,
}

/// The sizes of clusters, and of the branches in them.
pub(crate) struct Flush {
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
    pub(crate) fn of(
        (tree, at): (&StoredTree, usize),
        name: &str,
        all: bool,
        flush: &Flush,
        options: Wanted<'_>,
    ) -> Result<Self> {
        let Some(branch) = tree.branches.get(at) else { return Ok(Self::LeftOut) };
        let wanted = compression(branch, options);
        let size = basket_size(tree, branch, flush, options);
        let differs = |wanted| options.joins || stored_compression(branch) != Some(wanted);
        let other = wanted.filter(|(wanted, _)| differs(*wanted));
        let keeps_baskets = all && size.is_none() && flush.rule.is_none();
        let is_empty = branch.baskets.is_empty() && !options.joins;
        if is_empty || keeps_baskets && other.is_none() {
            return Ok(Self::Moved);
        }
        if branch.may_lack_offsets() {
            // ROOT 6.40 reads other values if such a branch has baskets with offsets.
            return match other {
                Some((other, _)) if keeps_baskets => Ok(Self::Resealed(other)),
                _ if all => Ok(Self::as_stored(branch, options)),
                _ => Err(Error::unsupported(
                    "its baskets may have no offsets (kGenerateOffsetMap), so that its entries cannot be taken apart: take \
                     all entries, or leave the branch out; ROOT 6.40 itself reads other items from such baskets than it has \
                     written, and uproot 5.7 reads none of them",
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

    /// Decides for a branch whose baskets keep their entries.
    pub(crate) fn as_stored(branch: &StoredBranch, options: Wanted<'_>) -> Self {
        match compression(branch, options) {
            Some((wanted, _)) if options.joins || stored_compression(branch) != Some(wanted) => {
                Self::Resealed(wanted)
            }
            _ => Self::Moved,
        }
    }

    /// Returns what changes in the metadata of the branch.
    pub(crate) fn growth(&self, title: Option<&str>) -> BranchGrowth {
        let (basket_size, compression) = match self {
            Self::Packed(form) => (i64::try_from(form.basket_size).ok(), Some(form.compression)),
            Self::Resealed(compression) => (None, Some(*compression)),
            Self::LeftOut | Self::Moved => (None, None),
        };
        BranchGrowth {
            is_left_out: matches!(self, Self::LeftOut),
            basket_size,
            compression: compression.map(|item| item.setting().into()),
            title: title.map(str::to_owned),
            ..BranchGrowth::default()
        }
    }
}

/// Returns the compression and effort that the options request for a branch.
fn compression(branch: &StoredBranch, options: Wanted<'_>) -> Option<(Compression, Effort)> {
    // A compression that is named for a branch is used with its full effort.
    let own = options.baskets.compression_of(branch).map(|own| (own, Effort::Full));
    let output = &options.output;
    own.or_else(|| output.compression.map(|_| (output.compression(), output.effort())))
}

/// Returns the compression that a branch states.
pub(super) fn stored_compression(branch: &StoredBranch) -> Option<Compression> {
    // uproot states no compression, whatever its baskets have.
    let is_compressed = branch.bytes.1 < branch.bytes.0;
    Compression::of_setting(branch.compression).filter(|item| item.level > 0 || !is_compressed)
}

/// Returns the size of the baskets of a branch, if it changes.
fn basket_size(
    tree: &StoredTree,
    branch: &StoredBranch,
    flush: &Flush,
    options: Wanted<'_>,
) -> Option<usize> {
    let given = options.baskets.basket_size_of(branch);
    let given = given.or_else(|| {
        let entries = flush.entries.filter(|_| flush.rule.is_some() && tree.entries > 0)?;
        let share = entries as f64 / tree.entries.max(1) as f64;
        let bytes = (branch.bytes.0.max(0) as f64 * share) as u64;
        Some(optimized_size(bytes, entries, branch.has_offsets))
    });
    given.filter(|&size| options.joins || i64::try_from(size) != Ok(branch.basket_size))
}

fn stored_size(branch: &StoredBranch) -> usize {
    usize::try_from(branch.basket_size).unwrap_or(0).clamp(tree::MIN_BASKET, tree::MAX_BASKET)
}

impl Flush {
    /// Clusters and baskets end where they end in the input.
    pub(crate) const KEPT: Self = Self { rule: None, entries: None };

    /// Finds the number of entries of a cluster. A size in bytes becomes a number of entries by samples: the first
    /// entries of each branch, compressed as in the output.
    ///
    /// # Errors
    /// An error if the first baskets cannot be read.
    pub(crate) fn new(tree: &StoredTree, kept: &[bool], options: Wanted<'_>) -> Result<Self> {
        let rule = options.baskets.auto_flush();
        let entries = match rule {
            None | Some(AutoFlush::Never) => None,
            Some(AutoFlush::Entries(count)) => Some(count),
            Some(AutoFlush::Bytes(bytes)) => {
                let branches = tree.branches.iter().zip(kept).filter(|(_, kept)| **kept);
                let branches: Vec<_> = branches.map(|(branch, _)| branch).collect();
                let mut size = 0.0;
                for some in branches.chunks(tree::SAMPLES_AT_ONCE) {
                    size += bytes_of(tree, some, options)? / tree.entries.max(1) as f64;
                }
                Some((bytes as f64 / size.max(f64::MIN_POSITIVE)).ceil().max(1.0) as u64)
            }
        };
        Ok(Self { rule, entries })
    }
}

/// Returns about how many bytes the baskets of some branches will have. Their first baskets are read at once.
fn bytes_of(tree: &StoredTree, branches: &[&StoredBranch], options: Wanted<'_>) -> Result<f64> {
    let (mut bytes, mut sampled, mut ranges) = (0.0, Vec::new(), Vec::new());
    for branch in branches {
        let wanted = compression(branch, options);
        let wanted = wanted.filter(|(wanted, _)| stored_compression(branch) != Some(*wanted));
        match (wanted, branch.baskets.first()) {
            (Some(wanted), Some(first)) if !branch.may_lack_offsets() => {
                ranges.push(match first.embedded {
                    Some(_) => 0..0,
                    None => tree.range(first).in_field(&branch.path)?,
                });
                sampled.push((branch, first, wanted));
            }
            _ => bytes += branch.bytes.1.max(0) as f64,
        }
    }
    for ((branch, first, wanted), raw) in sampled.into_iter().zip(read_all(tree.source(), &ranges)?)
    {
        let (before, after) = sample(first, &raw, wanted).in_field(&branch.path)?;
        bytes += branch.bytes.0.max(0) as f64 * after as f64 / (before as f64).max(1.0);
    }
    Ok(bytes)
}

/// Returns the bytes of the first entries of a basket before and after compression.
fn sample(place: &Basket, raw: &[u8], wanted: (Compression, Effort)) -> Result<(u64, u64)> {
    let form = PackedForm {
        name: String::new(),
        tree: String::new(),
        compression: wanted.0,
        effort: wanted.1,
        basket_size: tree::SAMPLE_BASKET,
        may_refer: false,
    };
    let memory = PackingMemory::default();
    let mut packer = Packer::new(&form, 0, &memory);
    let opened = OpenedBasket::open(raw, place)?;
    packer.add((&opened, None), std::slice::from_ref(&(0..place.entries)), None)?;
    let packed = packer.finish()?;
    let first = packed.first();
    Ok(first.map_or((0, 0), |first| (first.objlen, first.payload.len() as u64)))
}
