//! Reads the aliases, friends and index of a dataset: of a TTree, or of an RNTuple that was a TTree.

use nyssa_data::dataset::Format;
use nyssa_rntuple::read::Reader;
use nyssa_root::error::Result;
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
