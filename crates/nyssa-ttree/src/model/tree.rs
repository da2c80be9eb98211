//! Builds the [`Tree`] model from the streamed TTree object.

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::ObjectsAs;
use nyssa_root::streamer::info::StreamerInfos;
use nyssa_root::streamer::values::{Object, View};

use super::branch::Branches;
use super::files::Files;
use super::{Branch, Relations, Tree};

/// The classes that are trees.
const CLASSES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];

/// Reads the tree of a key: its branches, their leaves and the positions of their baskets. This reads no basket
/// and opens no other file. Branches whose baskets are in another file have no shape.
///
/// # Errors
/// `InvalidArgument` when the object is not a tree; `Unsupported` when the file lacks the streamer info of its
/// classes; `OutOfSpecification` with the branch when the tree contradicts itself.
pub fn load(file: &RootFile, key: &KeyEntry) -> Result<Tree> {
    load_with(file, key, &mut Files::new(None), ObjectsAs::Values).map(|(tree, _)| tree)
}

/// Reads the tree of a key, and finds the other files of its baskets. `objects` says how objects are read. Also returns the relations of the tree, unless they cannot be read.
pub(crate) fn load_with(
    file: &RootFile,
    key: &KeyEntry,
    files: &mut Files,
    objects: ObjectsAs,
) -> Result<(Tree, Option<Relations>)> {
    if !CLASSES.contains(&key.class.as_str()) {
        return Err(Error::invalid_argument(format!("a {} is not a TTree", key.class)))
            .in_file(file.name())
            .in_object(&key.path);
    }
    let object = file.object(key)?;
    let infos = file.streamer_infos()?;
    let tree = tree(&object, &infos, files, objects);
    let mut tree = tree.in_file(file.name()).in_object(&key.path)?;
    share(&mut tree.branches, key);
    Ok((tree, Relations::of(object.root()).ok()))
}

/// Sets the stored size of each basket inside the tree object to its part of the compressed object.
fn share(branches: &mut [Branch], key: &KeyEntry) {
    let stored = u128::from(key.nbytes.saturating_sub(u32::from(key.keylen)));
    let object = u128::from(key.objlen.max(1));
    for branch in branches {
        for basket in &mut branch.baskets {
            let Some(embedded) = &basket.embedded else { continue };
            basket.bytes = u64::try_from(embedded.len() as u128 * stored / object).unwrap_or(0);
        }
        share(&mut branch.branches, key);
    }
}

/// Reads a branch that is streamed alone, without baskets, with all branches below it. `infos` describe the classes of its
/// objects.
pub(crate) fn read_branch(view: View<'_>, infos: &StreamerInfos) -> Result<Branch> {
    Branches::read_alone(view, infos, &mut Files::new(None))
}

fn tree(
    object: &Object,
    infos: &StreamerInfos,
    files: &mut Files,
    objects: ObjectsAs,
) -> Result<Tree> {
    let view = object.root();
    let entries = view.u64("fEntries")?;
    let branches = Branches::read(view, entries, infos, files, objects)?;
    Ok(Tree {
        name: view.str("fName")?.to_owned(),
        title: view.str("fTitle")?.to_owned(),
        entries,
        cluster_starts: cluster_starts(view, entries, count_baskets(&branches))?,
        branches,
    })
}

/// Returns the entries at which clusters start (`TTree::TClusterIterator`). In the ranges that end with entry
/// `fClusterRangeEnd`, clusters have `fClusterSize` entries. After these ranges they have `fAutoFlush`
/// entries. Sizes that are not positive are numbers of bytes, and give no cluster starts.
///
/// Every cluster starts with a new basket, so there cannot be more clusters than `baskets`. If a tree has more,
/// its cluster sizes are ignored.
fn cluster_starts(view: View<'_>, entries: u64, baskets: usize) -> Result<Vec<u64>> {
    let optional = |name: &str| match view.get(name) {
        Some(_) => view.i64s(name),
        None => Ok(Vec::new()),
    };
    let ends = optional("fClusterRangeEnd")?;
    let sizes = optional("fClusterSize")?;
    let last = match view.get("fAutoFlush") {
        Some(_) => view.i64("fAutoFlush")?,
        None => 0,
    };
    let ends = ends.into_iter().map(|end| u64::try_from(end).unwrap_or(0).saturating_add(1));
    let ranges = ends.zip(sizes).chain([(entries, last)]);
    if view.get("fNClusterRange").is_none() && last <= 0 {
        return Ok(Vec::new());
    }
    let mut starts = Vec::new();
    let mut start = 0;
    for (end, size) in ranges {
        let end = end.min(entries);
        let size = u64::try_from(size).ok().filter(|&size| size > 0).unwrap_or(u64::MAX);
        while start < end {
            if starts.len() > baskets {
                return Ok(Vec::new());
            }
            starts.push(start);
            start = start.saturating_add(size).min(end);
        }
    }
    Ok(if starts.len() > 1 { starts } else { Vec::new() })
}

fn count_baskets(branches: &[Branch]) -> usize {
    branches.iter().map(|branch| branch.baskets.len() + count_baskets(&branch.branches)).sum()
}
