//! Reads aliases and friends of a TTree, or of an RNTuple that was a TTree.

use nyssa_jobs::open::{open_again, open_with_friends, relations_of};
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::job::Job;

/// Name and formula of each alias, and name, tree and file (`None` for the file of the tree) of each friend.
type Rows = (Vec<(String, String)>, Vec<(String, String, Option<String>)>);

/// Returns the aliases and friends of a dataset.
#[pyfunction]
pub(crate) fn relations(py: Python<'_>, tree: PyRef<'_, Dataset>) -> PyResult<Rows> {
    let tree = tree.inner();
    Job::new(None).abandonable().run(py, move |_| {
        let tree_facts = relations_of(tree.as_ref())?;
        let friends = tree_facts.friends.iter().cloned();
        let friends = friends.map(|friend| (friend.name, friend.tree, friend.file)).collect();
        Ok((tree_facts.formulas(), friends))
    })
}

/// Returns the dataset with the columns of its friends.
#[pyfunction]
#[pyo3(signature = (tree, threads=None))]
pub(crate) fn with_friends(
    py: Python<'_>,
    tree: PyRef<'_, Dataset>,
    threads: Option<usize>,
) -> PyResult<Dataset> {
    let tree = tree.inner();
    Job::new(threads).run(py, move |context| {
        let file = open_again(tree.as_ref())?;
        open_with_friends(&file, tree.name(), context).map(Dataset::new)
    })
}
