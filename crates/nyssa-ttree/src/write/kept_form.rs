//! Takes the form of a branch of a class from a stored tree. The opposite is [`super::KeptBranch`].

use nyssa_root::compression::Compression;
use nyssa_root::error::Result;
use nyssa_root::streamer::values::View;
use nyssa_root::streamer::{Draft, StreamerInfos};

use super::form::{BranchForm, Content};
use super::kept::{BranchRecord, HOLDER, parts};
use super::metadata;
use super::stored_branch::StoredBranch;
use super::target::BranchState;
use crate::stored::PlainObject;

/// Returns the form of a branch of a stored tree: a streamed `TObjArray` with the `TBranchElement` without baskets.
///
/// # Errors
/// `Unsupported` with the reason for other branches, and for branches of forms that nyssa does not write.
pub fn form_of(branch: View<'_>) -> Result<PlainObject> {
    let stored = |part: BranchRecord| {
        let form = BranchForm {
            name: part.name,
            content: Content::Nothing,
            counter: part.counter,
            counter_leaf: 0,
            string_class: None,
            leaf: None,
            element: Some(Box::new(part.element)),
            offsets: None,
            process: None,
        };
        StoredBranch {
            form,
            title: None,
            compression: Compression::NONE,
            keylen: 0,
            // The sizes of baskets differ from file to file.
            state: BranchState::default(),
            places: Vec::new(),
            tot_bytes: 0,
            zip_bytes: 0,
        }
    };
    let branches: Vec<_> = parts(branch)?.into_iter().map(stored).collect();
    let holder = Draft::new(HOLDER).items("items", metadata::empty(&branches));
    let bytes = holder.serialize(&StreamerInfos::of_trees()?, 0)?.bytes;
    Ok(PlainObject { class: HOLDER.to_owned(), bytes })
}
