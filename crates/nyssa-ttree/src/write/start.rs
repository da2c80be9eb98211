//! Starts a tree: a filler of its branches, and the tree in the file.

use arrow_schema::Schema;
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::rootfile::{name_of, split};
use nyssa_root::shared_file::SharedFile;
use nyssa_root::streamer::StreamerList;

use super::filler::Filler;
use super::names;
use super::options::{BranchSettings, TreeWriteOptions};
use super::shape::Plan;
use super::stored::StoredTree;

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
    let name = name_of(split(path).1).to_string();
    names::check("a tree", &name)?;
    options.validate()?;
    let plan = Plan::new(schema, &options)?;
    let settings = plan.branches.iter().map(|form| options.settings_of(&form.name));
    let settings: Vec<BranchSettings> = settings.collect();
    let clusters = (options.auto_flush, options.optimize_baskets);
    file.begin(path)?;
    file.add_streamer_infos(&StreamerList::of_trees()?)?;
    if let Some(parts) = &options.parts {
        file.add_streamer_infos(parts.list())?;
    }
    describe(file, &plan)?;
    let tree = StoredTree::new(file, path, (&plan.branches, &settings), options);
    Ok((Filler::new(plan, (&name, &settings), clusters, context), tree))
}

/// Adds the streamer infos of the classes of branches to the file.
///
/// # Errors
/// `InvalidArgument` when the file is finished.
pub(super) fn describe(file: &SharedFile, plan: &Plan) -> Result<()> {
    if !plan.lists.is_empty() {
        file.add_streamer_infos(&plan.lists)?;
    }
    if !plan.infos.is_empty() {
        file.add_streamer_infos(&StreamerList::of_classes(&plan.infos)?)?;
    }
    Ok(())
}
