//! Leaves some branches out of a tree.

use std::collections::{HashMap, HashSet};

use crate::model::data_type;
use crate::model::{Branch, Split, SplitMember};

/// Makes branches unreadable. `reasons` gives the reason for the path of each. The records of split branches
/// lose them.
pub(super) fn leave_out(branches: &mut [Branch], reasons: &HashMap<&str, &str>) {
    let mut gone = HashSet::new();
    take(branches, reasons, &mut gone);
}

fn take(branches: &mut [Branch], reasons: &HashMap<&str, &str>, gone: &mut HashSet<String>) {
    for branch in branches {
        let before = gone.len();
        take(&mut branch.branches, reasons, gone);
        if let Some(split) = branch.split.as_mut().filter(|_| gone.len() > before) {
            without(split, gone);
            split.data_type = match split.members.is_empty() {
                true => Err("none of its sub-branches can be read".to_owned()),
                false => data_type(&branch.branches, split, split.collection.is_some()),
            };
            if split.members.is_empty() {
                gone.insert(branch.path.clone());
            }
        }
        if let Some(&reason) = reasons.get(branch.path.as_str()) {
            branch.shape = Err(reason.to_owned());
            if let Some(split) = &mut branch.split {
                split.data_type = Err(reason.to_owned());
            }
            gone.insert(branch.path.clone());
        }
    }
}

/// Removes the members whose branches are left out, and objects that have no member left.
fn without(split: &mut Split, gone: &HashSet<String>) {
    split.members.retain_mut(|(_, member)| match member {
        SplitMember::Branch(path) => !gone.contains(path),
        SplitMember::Inside(inside) => {
            let before = inside.members.len();
            without(inside, gone);
            !inside.members.is_empty() || before == 0
        }
    });
}
