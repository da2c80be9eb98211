//! Opens a TTree, or an RNTuple that was a TTree, together with its friends.

use std::io::ErrorKind;
use std::sync::Arc;

use nyssa_data::dataset::{AnyDataset, ColumnInfo};
use nyssa_data::view::{Join, Right};
use nyssa_io::NamedFile;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::Friend;

use super::{open_dataset, relations};

/// Opens the dataset at `path` of `file` with the columns of all its friends. They are named `friend.branch`.
///
/// Entries with equal numbers belong together. If a friend has an index (`TTreeIndex`), entries with equal values of
/// its columns belong together, and entries that the friend lacks are null. The file of a friend is searched by its
/// stored name, then in the folder of the tree's file.
///
/// # Errors
/// `NotFound` for a friend that is missing; `InvalidArgument` for a friend with fewer entries; `Unsupported` for a
/// friend whose index is not made of integer columns of both trees. The messages contain the name of the friend. Also
/// an error if a tree cannot be opened or read.
pub fn open_with_friends(file: &RootFile, path: &str, context: &Context) -> Result<AnyDataset> {
    let relations = relations(file, path)?;
    let mut dataset = open_dataset(file, Some(path))?;
    let own = dataset.columns().len();
    for friend in &relations.friends {
        let joined = add(file, Arc::clone(&dataset), own, friend, context);
        dataset = joined.map_err(|error| about(friend, error)).in_file(file.name())?;
    }
    Ok(dataset)
}

/// Adds the columns of a friend to `dataset`, whose first `own` columns belong to the tree.
fn add(
    file: &RootFile,
    dataset: AnyDataset,
    own: usize,
    friend: &Friend,
    context: &Context,
) -> Result<AnyDataset> {
    let theirs = match &friend.file {
        Some(name) => open(file, name)?,
        None => file.clone(),
    };
    let key = theirs.find(&friend.tree)?;
    let path = format!("{};{}", key.path, key.cycle);
    let relations = relations(&theirs, &path)?;
    let right = open_dataset(&theirs, Some(&path))?;
    let mut keys = Vec::new();
    if let Some(index) = &relations.index {
        let index = index.as_ref().map_err(Error::unsupported)?;
        keys.push(index.major.clone());
        keys.extend(Some(index.minor.clone()).filter(|minor| minor != "0"));
        let is_column = |items: &[ColumnInfo], key: &String| items.iter().any(|i| i.name == *key);
        let ours = dataset.columns().get(..own).unwrap_or_default();
        let lacking =
            keys.iter().find(|key| !is_column(ours, key) || !is_column(right.columns(), key));
        if let Some(key) = lacking {
            return Err(Error::unsupported(format!(
                "its entries are found by an index of {}, and {key:?} is not a column of both trees",
                keys.join(", ")
            )));
        }
    }
    let prefix = format!("{}.", friend.name);
    let right = Right { dataset: right, prefix };
    let joined = match keys.is_empty() {
        true => Join::with_friend(dataset, right, context)?,
        false => Join::new(dataset, vec![right], keys, context)?,
    };
    Ok(Arc::new(joined))
}

/// Opens the file of a friend, if the file may name it (see [`NamedFile`]): by its stored name, as ROOT does, or in the
/// folder of the tree's file.
fn open(file: &RootFile, name: &str) -> Result<RootFile> {
    let source = file.source().as_ref();
    let absolute = || Some(nyssa_io::absolute(name).ok()?.to_str()?.to_owned());
    let here = match nyssa_io::is_url(name) || source.origin().is_none_or(nyssa_io::is_remote) {
        true => None,
        false => absolute(),
    };
    let here = here.and_then(|name| NamedFile::of(source, &name).ok());
    let named = here.map_or_else(|| NamedFile::of(source, name), Ok);
    let opened = named.and_then(|named| named.open()).map_err(|error| match error.source.kind() {
        // The error of a missing friend is `NotFound`, as for other missing parts of the tree.
        ErrorKind::NotFound => Error::not_found(error.to_string()),
        _ => error.into(),
    });
    RootFile::open(opened?)
}

fn about(friend: &Friend, error: Error) -> Error {
    error.map_message(|message| format!("the friend {:?}: {message}", friend.name))
}
