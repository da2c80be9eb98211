//! Reads aliases and friends of a TTree, or of an RNTuple that was a TTree.

use nyssa_data::dataset::{Dataset as Opened, Format};
use nyssa_jobs::open::{self, open_with_friends};
use nyssa_root::error::Kind;
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::Relations;
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::file::open_file;
use crate::job::Job;

/// Name and formula of each alias, and name, tree and file (`None` for the file of the tree) of each friend.
type Rows = (Vec<(String, String)>, Vec<(String, String, Option<String>)>);

/// Opens the file of a tree again, by the same options.
pub(crate) fn open_again(tree: &dyn Opened) -> nyssa_root::Result<RootFile> {
    open_file(tree.location(), &tree.open_options().into_iter().next().unwrap_or_default())
}

/// Loads the aliases and friends of a dataset.
fn load(tree: &dyn Opened) -> nyssa_root::Result<Relations> {
    match open::relations(&open_again(tree)?, tree.name()) {
        // No path leads to the RNTuple of an attribute set.
        Err(error) if tree.format() == Format::RNTuple && error.kind() == Kind::NotFound => {
            Ok(Relations::default())
        }
        facts => facts,
    }
}

/// Returns the names and formulas of the aliases that are stored with a dataset.
pub(crate) fn stored_aliases(dataset: &dyn Opened) -> nyssa_root::Result<Vec<(String, String)>> {
    Ok(load(dataset)?.formulas())
}

/// Returns the aliases and friends of a dataset.
#[pyfunction]
pub(crate) fn relations(py: Python<'_>, tree: PyRef<'_, Dataset>) -> PyResult<Rows> {
    let tree = tree.inner();
    Job::new(None).abandonable().run(py, move |_| {
        let tree_facts = load(tree.as_ref())?;
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
