//! Reads aliases and friends of a TTree, and selects entries by cuts, which may name aliases.

use std::sync::Arc;

use nyssa::Kind;
use nyssa::cut::Cut;
use nyssa::dataset::{Dataset as Opened, Format};
use nyssa::open::open_with_friends;
use nyssa::rootfile::RootFile;
use nyssa::ttree::Relations;
use nyssa::view::Selected;
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::file::open_file;
use crate::job::Job;

/// Name and formula of each alias, and name, tree and file (`None` for the file of the tree) of each friend.
type Rows = (Vec<(String, String)>, Vec<(String, String, Option<String>)>);

/// Opens the file of a tree again, by the same options.
fn open_again(tree: &dyn Opened) -> nyssa::Result<RootFile> {
    open_file(tree.file(), &tree.open_options().into_iter().next().unwrap_or_default())
}

/// Loads the aliases and friends of a tree.
fn load(tree: &dyn Opened) -> nyssa::Result<Relations> {
    let file = open_again(tree)?;
    Relations::load(&file, &file.find(tree.name())?)
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

/// Returns the entries of a range that pass a cut. Only the columns of the cut are read.
#[pyfunction]
#[pyo3(signature = (dataset, cut, start, stop, threads=None))]
pub fn with_cut(
    py: Python<'_>,
    dataset: PyRef<'_, Dataset>,
    cut: &str,
    start: u64,
    stop: u64,
    threads: Option<usize>,
) -> PyResult<Dataset> {
    let (dataset, cut) = (dataset.inner(), cut.to_owned());
    Job::new(threads).abandonable().run(py, move |context| {
        let cut = Cut::parse(&cut)?;
        let cut = match cut.check(dataset.columns()) {
            // The name may be that of an alias of the tree.
            Err(error) if error.kind() == Kind::NotFound && dataset.format() == Format::TTree => {
                let formulas = load(dataset.as_ref())?.formulas();
                cut.with_aliases(dataset.columns(), &formulas)?
            }
            _ => cut,
        };
        let selected = Selected::passing(dataset, &cut, start..stop, context)?;
        Ok(Dataset::new(Arc::new(selected)))
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
