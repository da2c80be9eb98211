//! Starts a tree: a filler of its branches, and the tree in the file.

use arrow_schema::Schema;

use super::filler::Filler;
use super::names;
use super::options::TreeWriteOptions;
use super::plan::Plan;
use super::stored::{StoredTree, split};
use crate::Context;
use crate::error::Result;
use crate::shared_file::SharedFile;
use crate::streamer::StreamerList;

/// Starts the tree `path` in `file` for rows with the columns of `schema`.
///
/// # Errors
/// `InvalidArgument` for options and names that cannot be written, and when the file already has that path;
/// `Unsupported` for types that a tree cannot hold.
pub(super) fn start(
    file: &SharedFile,
    path: &str,
    schema: &Schema,
    options: TreeWriteOptions,
    context: &Context,
) -> Result<(Filler, StoredTree)> {
    let path = path.trim_matches('/');
    let (_, name) = split(path);
    names::check("a tree", name)?;
    options.validate()?;
    let plan = Plan::new(schema, &options)?;
    let tree = StoredTree::create(file, path, &plan.branches, options)?;
    file.add_streamer_infos(&StreamerList::of_trees()?)?;
    Ok((Filler::new(plan, name, tree.options(), context), tree))
}
