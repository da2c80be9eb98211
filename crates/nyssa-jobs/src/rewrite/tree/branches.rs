//! Selects the branches of a TTree that are written.

use std::collections::BTreeSet;

use nyssa_data::dataset::{glob, no_match};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_ttree::stored::{StoredBranch, StoredTree};

/// Returns which branches are written: those that match one of `include` (all if it is empty) and none of `exclude`, with
/// the branches below them, the branches above them, and the counters that they need. A glob matches the path or the name
/// of a branch. The table of the references between objects is left out with a branch whose objects are in it.
///
/// # Errors
/// `InvalidArgument` for a glob that does not parse, and if no branch is left; `NotFound` for a glob that matches nothing;
/// `Unsupported` for a part of a `TClonesArray` that is split the old way.
pub(super) fn select(
    tree: &StoredTree,
    include: &[String],
    exclude: &[String],
) -> Result<Vec<bool>> {
    let branches = &tree.branches;
    let named = below(branches, matches(branches, include)?);
    let dropped = below(branches, matches(branches, exclude)?);
    let table = tree.references.as_ref();
    let is_table = |at: usize| table.is_some_and(|table| table.branch == at);
    let wanted = |at: usize| include.is_empty() || named[at] || is_table(at);
    let chosen = |at: usize| wanted(at) && !dropped[at];
    let mut kept = vec![false; branches.len()];
    let mut open: Vec<usize> = (0..branches.len()).filter(|&at| chosen(at)).collect();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut kept[at], true) {
            open.extend(branches[at].parent.iter().chain(&branches[at].counters));
        }
    }
    if let Some(table) = table {
        kept[table.branch] &= table.parents.iter().all(|&at| kept[at]);
    }
    for branch in branches.iter().zip(&kept).filter(|(_, kept)| !**kept).map(|(branch, _)| branch) {
        let above = branch.parent.filter(|&above| kept[above] && branches[above].is_old_clones());
        if let Some(above) = above {
            let message = format!(
                "it cannot be left out alone: the objects of {} are split the old way (TBranchClones)",
                branches[above].path
            );
            return Err(Error::unsupported(message)).in_field(&branch.path);
        }
    }
    match kept.contains(&true) || branches.is_empty() {
        true => Ok(kept),
        false => Err(Error::invalid_argument("no branch is left to write")),
    }
}

/// Returns the paths of the branches of which no part is left out. Together they have all values that are written.
pub(super) fn whole(tree: &StoredTree, kept: &[bool]) -> Vec<String> {
    let branches = &tree.branches;
    // Objects that are split the old way are no column, but their members are.
    let mut is_whole: Vec<bool> =
        branches.iter().zip(kept).map(|(branch, kept)| *kept && !branch.is_old_clones()).collect();
    for at in (0..branches.len()).rev() {
        if let Some(parent) = branches[at].parent.filter(|_| !is_whole[at]) {
            is_whole[parent] = false;
        }
    }
    let is_first =
        |at: usize| is_whole[at] && branches[at].parent.is_none_or(|above| !is_whole[above]);
    let table = tree.references.as_ref().map(|table| table.branch);
    let first = (0..branches.len()).filter(|&at| is_first(at) && table != Some(at));
    first.map(|at| branches[at].path.clone()).collect()
}

/// Also marks the branches below the marked branches, which follow them.
fn below(branches: &[StoredBranch], mut marked: Vec<bool>) -> Vec<bool> {
    for at in 0..branches.len() {
        marked[at] |= branches[at].parent.is_some_and(|parent| marked[parent]);
    }
    marked
}

fn matches(branches: &[StoredBranch], globs: &[String]) -> Result<Vec<bool>> {
    let mut matched = vec![false; branches.len()];
    for text in globs {
        let glob = glob(text)?.compile_matcher();
        let mut any = false;
        for (branch, matched) in branches.iter().zip(&mut matched) {
            let matches = glob.is_match(&branch.path) || glob.is_match(&branch.name);
            *matched |= matches;
            any |= matches;
        }
        if !any {
            let names: BTreeSet<&str> = branches.iter().map(|item| item.path.as_str()).collect();
            return Err(no_match("branch", text, names));
        }
    }
    Ok(matched)
}
