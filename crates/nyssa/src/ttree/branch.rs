//! Branches of a streamed TTree: `TBranch` and its derived classes.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result, ResultExt};
use crate::rootfile::View;
use crate::rootfile::object::ObjectId;
use crate::ttree::basket_table::basket_table;
use crate::ttree::layout::SEVERAL_LEAVES;
use crate::ttree::leaf::{self, LeafInfo, OrReason};
use crate::ttree::{Branch, CountSource, Shape};

/// Starts the reason why a branch with a file of its own cannot be read.
const ELSEWHERE: &str = "its baskets are in another file";

/// Reads the branches of a tree.
pub(super) struct Branches {
    /// Which branch has a leaf, so that counters can be named.
    owners: HashMap<ObjectId, CountSource>,
    seen: HashSet<ObjectId>,
}

impl Branches {
    /// The top branches of a tree, with all below them.
    pub fn read(tree: View<'_>) -> Result<Vec<Branch>> {
        let mut this = Self { owners: HashMap::new(), seen: HashSet::new() };
        this.find_leaves(tree, "")?;
        this.branches(tree, "")
    }

    fn find_leaves(&mut self, parent: View<'_>, prefix: &str) -> Result<()> {
        for branch in parent.list("fBranches")?.into_iter().flatten() {
            let path = format!("{prefix}{}", branch.str("fName")?);
            if !self.seen.insert(branch.id()) {
                return Err(Error::out_of_spec("branch is listed twice")).in_field(&path);
            }
            for leaf in branch.list("fLeaves")?.into_iter().flatten() {
                let source =
                    CountSource { branch: path.clone(), leaf: leaf.str("fName")?.to_owned() };
                self.owners.insert(leaf.id(), source);
            }
            self.find_leaves(branch, &format!("{path}/"))?;
        }
        Ok(())
    }

    fn branches(&self, parent: View<'_>, prefix: &str) -> Result<Vec<Branch>> {
        let branches = parent.list("fBranches")?.into_iter().flatten();
        branches
            .map(|view| {
                let path = format!("{prefix}{}", view.str("fName")?);
                self.branch(view, &path).in_field(&path)
            })
            .collect()
    }

    fn branch(&self, view: View<'_>, path: &str) -> Result<Branch> {
        let branches = self.branches(view, &format!("{path}/"))?;
        let leaves = view.list("fLeaves")?.into_iter().flatten();
        let leaves: Vec<LeafInfo> =
            leaves.map(|leaf| leaf::read(leaf, &self.owners)).collect::<Result<_>>()?;
        let entries = view.u64("fEntries")?;
        let table = basket_table(view, entries)?;
        let shape = shape(view, &leaves, !branches.is_empty())?;
        // A branch that is split keeps its data in its sub-branches, not in baskets; what could be
        // read must have all of them.
        let shape = match (shape, table.complete) {
            (Err(reason), _) if !reason.starts_with(SEVERAL_LEAVES) => Err(reason),
            (_, Err(incomplete)) => Err(incomplete),
            (shape, Ok(())) => shape,
        };
        Ok(Branch {
            name: view.str("fName")?.to_owned(),
            title: view.str("fTitle")?.to_owned(),
            class: view.class().to_owned(),
            entries,
            leaves: leaves.into_iter().map(|info| info.leaf).collect(),
            baskets: table.baskets,
            branches,
            shape,
        })
    }
}

/// Whether the baskets of a branch are in another file (`fFileName`): its table says nothing of this one.
pub(crate) fn is_elsewhere(branch: &Branch) -> bool {
    branch.shape.as_ref().is_err_and(|reason| reason.starts_with(ELSEWHERE))
}

/// What a branch reads as; the reason when it does not.
fn shape(view: View<'_>, leaves: &[LeafInfo], split: bool) -> Result<OrReason<Shape>> {
    let file_name = view.str("fFileName")?;
    if !file_name.is_empty() {
        return Ok(Err(format!("{ELSEWHERE}, {file_name:?}")));
    }
    if let Some(first) = view.get("fFirstEntry").and_then(|value| value.as_i64())
        && first != 0
    {
        return Ok(Err(format!("it starts at entry {first} of the tree")));
    }
    Ok(match view.class() {
        "TBranch" => match leaves {
            [] => Err("it has no leaf".to_owned()),
            [only] => only.shape.clone(),
            several => Err(several_leaves(several)),
        },
        "TBranchElement" => element_shape(view, leaves, split)?,
        "TBranchObject" => Err(format!(
            "it holds objects of class {} streamed as a whole, not leaves",
            view.str("fClassName")?
        )),
        "TBranchRef" => Err("it holds references between objects, not data".to_owned()),
        class => Err(format!("branches of class {class} are not supported yet")),
    })
}

/// Leaves named in a reason.
const LISTED_LEAVES: usize = 4;

fn several_leaves(leaves: &[LeafInfo]) -> String {
    let names: Vec<&str> =
        leaves.iter().take(LISTED_LEAVES).map(|info| info.leaf.name.as_str()).collect();
    let more = if leaves.len() > LISTED_LEAVES { ", ..." } else { "" };
    format!(
        "{SEVERAL_LEAVES} ({}{more}), not all of them of fixed size, which is not supported yet",
        names.join(", ")
    )
}

/// `TBranchElement`: plain data only where the element is a fundamental type or a fixed array of
/// one, outside of collections (`fType` 0).
fn element_shape(view: View<'_>, leaves: &[LeafInfo], split: bool) -> Result<OrReason<Shape>> {
    let class = view.str("fClassName")?;
    let code = view.i64("fStreamerType")?;
    let id = view.i64("fID")?;
    let kind = view.i64("fType")?;
    if split {
        return Ok(Err(format!("it is split: read its sub-branches (class {class})")));
    }
    let reason = match kind {
        3 | 4 => format!("it holds the sizes of a split collection ({class})"),
        31 | 41 => format!("it holds one member of all items of a collection ({class})"),
        0 if id < 0 && class.starts_with("vector<") => {
            "std::vector branches are not leaf branches".to_owned()
        }
        0 if id < 0 => format!("it holds objects of class {class} streamed as a whole"),
        0 => match (leaves, leaf::element_of_code(code)) {
            ([leaf], Some(element)) => return Ok(leaf::plain(&leaf.leaf, element)),
            _ => not_plain(view.str("fName")?, class, code),
        },
        _ => format!("it holds objects of class {class} streamed as a whole"),
    };
    Ok(Err(reason))
}

/// Why a member of a class is no plain data, by its streamer type.
fn not_plain(name: &str, class: &str, code: i64) -> String {
    let what = match code {
        9 | 29 => "Double32_t".to_owned(),
        19 | 39 => "Float16_t".to_owned(),
        41..=59 => "a variable-size array".to_owned(),
        300 | 365 | 500 => "a standard container or string".to_owned(),
        _ => format!("no plain data (streamer type {code})"),
    };
    format!("member {name} of class {class} is {what}, which is not supported yet")
}
