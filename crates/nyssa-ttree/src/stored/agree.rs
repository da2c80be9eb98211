//! Checks that trees can be joined: their baskets must hold the same kinds of values.

use std::collections::HashMap;

use nyssa_root::error::{Error, Result, ResultExt};

use super::tree::{StoredBranch, StoredTree};

impl StoredTree {
    /// Returns, for each branch of this tree, the branch of `other` with the same path. `whose` names the tree of `self` in
    /// messages.
    ///
    /// # Errors
    /// `InvalidArgument` with the first branch that only one of the trees has, or that differs.
    pub fn matching(&self, other: &Self, whose: &str) -> Result<Vec<usize>> {
        let mut places: HashMap<&str, usize> =
            other.branches.iter().enumerate().map(|(at, item)| (item.path.as_str(), at)).collect();
        let mut matching = Vec::with_capacity(self.branches.len());
        for own in &self.branches {
            let place = places.remove(own.path.as_str()).ok_or_else(|| {
                Error::invalid_argument(format!("branch {} is in {whose}, but not here", own.path))
            })?;
            own.check(&other.branches[place], whose).in_field(&own.path)?;
            matching.push(place);
        }
        match (&self.references, &other.references) {
            (Some(own), Some(theirs)) if !own.agrees_with(theirs) => {
                return Err(Error::unsupported(format!(
                    "its table of references between objects (TBranchRef) numbers branches in another way than \
                     {whose}: copy the entries of both with ROOT (TChain::CloneTree without \"fast\")"
                )));
            }
            _ => {}
        }
        let new = other.branches.iter().find(|branch| places.contains_key(branch.path.as_str()));
        match new {
            Some(new) => {
                Err(Error::invalid_argument(format!("branch {} is not in {whose}", new.path)))
            }
            None => Ok(matching),
        }
    }
}

impl StoredTree {
    /// Adds the processes in the table of the references of another tree, whose entries come to this tree. Returns the numbers
    /// that they have here.
    pub fn join_processes(&mut self, other: &Self) -> Vec<usize> {
        match (&mut self.references, &other.references) {
            (Some(own), Some(theirs)) => own.join(theirs),
            _ => Vec::new(),
        }
    }
}

impl StoredBranch {
    fn check(&self, other: &Self, whose: &str) -> Result<()> {
        let differs = |what: &str, here: &str, there: &str| {
            Err(Error::invalid_argument(format!(
                "{what} is {here:?}, but {there:?} in {whose}: baskets can only be joined if they are equal"
            )))
        };
        for ((name, own), (other_name, theirs)) in self.form.iter().zip(&other.form) {
            if name != other_name {
                return differs("a property", other_name, name);
            }
            if own != theirs {
                return differs(name, theirs, own);
            }
        }
        if self.form.len() != other.form.len() {
            let count = |branch: &Self| branch.leaves.len().to_string();
            return differs("the number of leaves", &count(other), &count(self));
        }
        Ok(())
    }
}
