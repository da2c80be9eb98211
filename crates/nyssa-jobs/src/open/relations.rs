//! Reads the aliases, friends and index of a dataset: of a TTree, or of an RNTuple that was a TTree.

use nyssa_data::dataset::{Dataset, Format};
use nyssa_rntuple::read::Reader;
use nyssa_root::error::{Kind, Result};
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::Relations;

use super::format_of;
use crate::kept_tree::KeptTree;

/// Returns the relations of the dataset at `path`. An RNTuple has the relations of the TTree from which it was
/// converted.
///
/// # Errors
/// `NotFound`; `Unsupported` for an RNTuple whose description of its TTree has another version; an error if the dataset
/// is damaged or cannot be read.
pub fn relations(file: &RootFile, path: &str) -> Result<Relations> {
    let key = file.find(path)?;
    if format_of(&key) != Some(Format::RNTuple) {
        return Relations::load(file, &key);
    }
    let kept = KeptTree::of(&Reader::open(file, path)?)?;
    Ok(kept.as_ref().map(KeptTree::relations).unwrap_or_default())
}

/// Returns the relations of an open dataset, whose file is opened again. A table has none.
///
/// # Errors
/// The errors of [`relations`].
pub fn relations_of(dataset: &dyn Dataset) -> Result<Relations> {
    if matches!(dataset.format(), Format::Parquet | Format::Arrow) {
        return Ok(Relations::default());
    }
    match relations(&open_again(dataset)?, dataset.name()) {
        // No path leads to the RNTuple of an attribute set.
        Err(error) if dataset.format() == Format::RNTuple && error.kind() == Kind::NotFound => {
            Ok(Relations::default())
        }
        stored => stored,
    }
}

/// Returns the names and formulas of the aliases that are stored with a dataset.
///
/// # Errors
/// The errors of [`relations`].
pub fn stored_aliases(dataset: &dyn Dataset) -> Result<Vec<(String, String)>> {
    Ok(relations_of(dataset)?.formulas())
}

/// Opens the file of a dataset again, by the same options.
///
/// # Errors
/// An error if the file cannot be read.
pub fn open_again(dataset: &dyn Dataset) -> Result<RootFile> {
    let options = dataset.open_options().into_iter().next().unwrap_or_default();
    RootFile::open(nyssa_io::open_with(dataset.location(), &options)?)
}
