//! Cuts out the entries of the table of references of a tree.

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::guard::to_usize;

use super::opened::OpenedBasket;
use crate::model::Basket;
use crate::stored::{ReferenceTable, StoredTree};

/// Returns the table of the references of a tree (`TBranchRef`), if it has a table.
///
/// # Errors
/// `Unsupported` for a table that no other tree can have; an error if it is damaged or cannot be read.
pub fn reference_table(tree: &StoredTree) -> Result<Option<ReferenceTable>> {
    let Some(references) = &tree.references else { return Ok(None) };
    let Some(branch) = tree.branches.get(references.branch) else { return Ok(None) };
    tree.reach(branch)?;
    let mut table = references.table()?;
    for basket in &branch.baskets {
        add(tree, basket, &mut table.entries).in_field(&branch.path)?;
    }
    if table.entries.len() as u64 != tree.entries {
        return Err(Error::unsupported(format!(
            "it has {} of the {} entries of the tree",
            table.entries.len(),
            tree.entries
        )));
    }
    Ok(Some(table))
}

/// Adds the entries of a basket.
fn add(tree: &StoredTree, basket: &Basket, entries: &mut Vec<Vec<u8>>) -> Result<()> {
    let raw = match basket.embedded {
        Some(_) => Vec::new(),
        None => tree.source().read_range(tree.range(basket)?)?.to_vec(),
    };
    let (opened, mut scratch) = (OpenedBasket::open(&raw, basket)?, Vec::new());
    let contents = opened.contents(&mut scratch)?;
    let offsets = contents.offsets(0..to_usize(basket.entries, "entry")?)?;
    let offsets = offsets.ok_or_else(|| Error::unsupported("its baskets have no offsets"))?;
    let entry = |ends: &[usize]| contents.data.get(ends[0]..ends[1]).unwrap_or_default().to_vec();
    entries.extend(offsets.windows(2).map(entry));
    Ok(())
}
