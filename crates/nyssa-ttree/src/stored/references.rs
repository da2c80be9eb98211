//! Reads the table of the references between the objects of a tree (`TRefTable`).
//!
//! The branch `TBranchRef` has, for each entry of the tree, the number of the branch that holds each referenced object. The
//! numbers count the branches in `TRefTable::fParents`, in the order in which they were filled first. A referenced object is
//! known by its process (`fProcessGUIDs`) and its number there. `TRef::GetObject` finds the branch by the table, and reads it.

use std::collections::HashMap;

use nyssa_root::error::Result;
use nyssa_root::streamer::values::{ObjectId, Value, View};

/// The table of the references between the objects of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    /// The branch with the table (`TBranchRef`).
    pub branch: usize,
    /// The branches with referenced objects.
    pub parents: Vec<usize>,
    /// The paths of these branches, in the order of their numbers. A tree may lack a branch that it had.
    paths: Vec<Option<String>>,
    /// The processes of the objects, in the order of their numbers.
    processes: Vec<String>,
}

impl References {
    /// Reads the table of a `TBranchRef`, which follows `branches`, given by their objects and paths.
    pub(super) fn read(branch: View<'_>, branches: &[(ObjectId, &str)]) -> Result<Self> {
        let mut this = Self {
            branch: branches.len(),
            parents: Vec::new(),
            paths: Vec::new(),
            processes: Vec::new(),
        };
        let Some(table) = branch.view("fRefTable")? else { return Ok(this) };
        let known: HashMap<ObjectId, usize> =
            branches.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        let parents = match table.view("fParents")? {
            Some(parents) => parents.items()?,
            None => Vec::new(),
        };
        for parent in parents {
            let at = parent.and_then(|parent| known.get(&parent.id()).copied());
            this.parents.extend(at);
            this.paths.push(at.map(|at| branches[at].1.to_owned()));
        }
        if let Some(Value::List(processes)) = table.get("fProcessGUIDs") {
            this.processes = processes.iter().map(|process| format!("{process:?}")).collect();
        }
        Ok(this)
    }

    /// Returns whether the entries of another table mean the same in this table: its branches and processes have the same
    /// numbers here.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.paths.starts_with(&other.paths) && self.processes.starts_with(&other.processes)
    }
}
