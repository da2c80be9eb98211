//! Joins stored trees, so that their entries follow each other.

use std::ops::Range;
use std::sync::Arc;

use nyssa_io::Source;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_ttree::Basket;
use nyssa_ttree::stored::{Counted, StoredTree};

use super::form::stored_compression;

/// The baskets of trees whose entries follow each other.
pub(crate) struct Joined<'a> {
    trees: Vec<&'a StoredTree>,
    /// The branches, in the order of the first tree.
    pub branches: Vec<JoinedBranch>,
    /// The first entry, and the entry after the last entry.
    pub entries: Range<u64>,
}

/// A branch of all trees.
pub(crate) struct JoinedBranch {
    /// The path.
    pub path: String,
    /// The baskets in order of entries.
    pub baskets: Vec<JoinedBasket>,
    /// The number of bytes before compression.
    pub bytes: u64,
    /// The compression that the first tree states.
    pub compression: Compression,
    /// How a counter gives the size of each entry, if baskets may lack their offsets.
    pub counted: Option<Counted>,
}

/// A basket of one of the trees.
pub(crate) struct JoinedBasket {
    /// The number of the tree.
    pub tree: usize,
    /// The first entry of all trees.
    pub first: u64,
    /// The basket, as its tree describes it.
    pub basket: Basket,
}

impl JoinedBasket {
    /// Returns the entry after the last entry.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(self.basket.entries)
    }

    /// Returns whether the basket has an entry.
    pub(crate) fn holds(&self, entry: u64) -> bool {
        (self.first..self.end()).contains(&entry)
    }
}

impl<'a> Joined<'a> {
    /// Joins trees behind `start` entries. The numbers of a tree say where it has the branches of the first tree.
    pub(crate) fn new(start: u64, trees: &[(&'a StoredTree, &[usize])]) -> Self {
        let mut end = start;
        let mut branches: Vec<JoinedBranch> = Vec::new();
        for (number, &(tree, matching)) in trees.iter().enumerate() {
            for (own, &at) in matching.iter().enumerate() {
                let Some(stored) = tree.branches.get(at) else { continue };
                if branches.len() <= own {
                    branches.push(JoinedBranch {
                        path: stored.path.clone(),
                        baskets: Vec::new(),
                        bytes: 0,
                        compression: stored_compression(stored).unwrap_or(Compression::DEFAULT),
                        counted: None,
                    });
                }
                let counted = tree.counted(at).and_then(|counted| {
                    let counter = matching.iter().position(|&at| at == counted.counter)?;
                    Some(Counted { counter, ..counted })
                });
                let joined = stored.baskets.iter().map(|basket| JoinedBasket {
                    tree: number,
                    first: end.saturating_add(basket.first_entry),
                    basket: basket.clone(),
                });
                branches[own].baskets.extend(joined);
                branches[own].counted = branches[own].counted.or(counted);
                branches[own].bytes += u64::try_from(stored.bytes.0).unwrap_or(0);
            }
            end += tree.entries;
        }
        Self { trees: trees.iter().map(|(tree, _)| *tree).collect(), branches, entries: start..end }
    }

    /// Returns the bytes of a tree.
    pub(crate) fn source(&self, tree: usize) -> Result<&Arc<dyn Source>> {
        Ok(self.tree(tree)?.source())
    }

    /// Returns the number of trees.
    pub(crate) fn trees(&self) -> usize {
        self.trees.len()
    }

    /// Returns the place of a basket in the bytes of its tree. A basket inside the tree has none.
    ///
    /// # Errors
    /// `OutOfSpecification` for a basket beyond the end of its file; `Unsupported` for a file that may not be read; `Io`.
    pub(crate) fn range(&self, basket: &JoinedBasket) -> Result<Option<Range<u64>>> {
        match basket.basket.embedded {
            Some(_) => Ok(None),
            None => {
                let tree = self.tree(basket.tree)?;
                tree.range(&basket.basket).map(Some).in_file(tree.source().name())
            }
        }
    }

    /// Returns a tree.
    pub(crate) fn tree(&self, number: usize) -> Result<&StoredTree> {
        let missing = || Error::invalid_argument("a basket without a tree");
        self.trees.get(number).copied().ok_or_else(missing)
    }
}

impl JoinedBranch {
    /// Returns the number of the basket with an entry.
    pub(crate) fn basket_of(&self, entry: u64) -> usize {
        self.baskets.partition_point(|basket| basket.first <= entry).saturating_sub(1)
    }

    /// Returns the number of the first basket that begins at `entry` or behind it.
    pub(crate) fn basket_from(&self, entry: u64) -> usize {
        self.baskets.partition_point(|basket| basket.first < entry)
    }

    /// Returns the numbers of the baskets with entries of `rows`.
    pub(crate) fn needed(&self, rows: &Range<u64>) -> Range<usize> {
        self.basket_of(rows.start)..self.basket_from(rows.end)
    }
}
