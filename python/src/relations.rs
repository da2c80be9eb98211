//! Reads aliases and friends of a TTree.

use nyssa_data::dataset::{Dataset as Opened, Format};
use nyssa_jobs::open::open_with_friends;
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::Relations;
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::file::open_file;
use crate::job::Job;

/// Name and formula of each alias, and name, tree and file (`None` for the file of the tree) of each friend.
type Rows = (Vec<(String, String)>, Vec<(String, String, Option<String>)>);

/// Opens the file of a tree again, by the same options.
pub fn open_again(tree: &dyn Opened) -> nyssa_root::Result<RootFile> {
    open_file(tree.location(), &tree.open_options().into_iter().next().unwrap_or_default())
}

/// Loads the aliases and friends of a tree.
fn load(tree: &dyn Opened) -> nyssa_root::Result<Relations> {
    let file = open_again(tree)?;
    Relations::load(&file, &file.find(tree.name())?)
}

/// Returns the names and formulas of the aliases that are stored with a dataset. Only TTrees have them.
pub fn stored_aliases(dataset: &dyn Opened) -> nyssa_root::Result<Vec<(String, String)>> {
    match dataset.format() {
        Format::TTree => Ok(load(dataset)?.formulas()),
        Format::RNTuple => Ok(Vec::new()),
    }
}

/// Returns the aliases and friends of a tree.
#[pyfunction]
pub fn relations(py: Python<'_>, tree: PyRef<'_, Dataset>) -> PyResult<Rows> {
    let tree = tree.inner();
    Job::new(None).abandonable().run(py, move |_| {
        let found = load(tree.as_ref())?;
        let friends = found.friends.iter().cloned();
        let friends = friends.map(|friend| (friend.name, friend.tree, friend.file)).collect();
        Ok((found.formulas(), friends))
    })
}

/// Returns the tree with the columns of its friends.
#[pyfunction]
#[pyo3(signature = (tree, threads=None))]
pub fn with_friends(
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
