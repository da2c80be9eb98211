//! Opens the file of an input, and lists its objects that are merged or copied beside the RNTuples.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nyssa_io::OpenOptions;
use nyssa_root::error::Result;
use nyssa_root::rootfile::{KeyEntry, RootFile};

use crate::job::others::path_of;

/// The file of an input.
#[derive(Clone)]
pub(super) struct InputFile {
    /// The path or URL, for messages.
    pub name: String,
    /// The path or URL for opening it.
    pub location: PathBuf,
    /// The options with which it is opened.
    pub options: OpenOptions,
    /// The open file, if it stays open.
    pub open_file: Option<RootFile>,
    /// The RNTuples that are merged.
    pub ntuples: Vec<InputDataset>,
    /// The tree that the user named.
    pub tree: Option<InputDataset>,
}

/// A dataset of an input, and its place in the output.
#[derive(Clone, Debug)]
pub(super) struct InputDataset {
    pub key: KeyEntry,
    /// The path of the dataset in the output, if this is not renamed.
    pub target: String,
}

impl InputDataset {
    /// Returns the path and the cycle of the dataset in its file.
    pub(super) fn path(&self) -> String {
        path_of(&self.key)
    }
}

impl InputFile {
    /// Makes the input of a file. Remote files without RNTuples stay open.
    pub(super) fn of(
        file: &RootFile,
        ntuples: Vec<InputDataset>,
        tree: Option<InputDataset>,
    ) -> Self {
        let (name, options) = (file.name().to_owned(), file.options());
        let location = file.source().location().to_owned();
        let stays = ntuples.is_empty() && nyssa_io::is_remote(&name);
        let open_file = stays.then(|| file.clone());
        Self { name, location, options, open_file, ntuples, tree }
    }

    /// Returns the file, which is opened again if it is not open.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub(super) fn open(&self) -> Result<RootFile> {
        match &self.open_file {
            Some(open_file) => Ok(open_file.clone()),
            None => RootFile::open(nyssa_io::open_with(&self.location, &self.options)?),
        }
    }

    /// Returns the path and the cycle of each RNTuple, and of the tree that the user named.
    pub(super) fn datasets(&self) -> impl Iterator<Item = String> {
        self.ntuples.iter().chain(&self.tree).map(InputDataset::path)
    }

    /// Lists the objects that are merged or copied beside the RNTuples. The tree that the user named gets its path in
    /// the output.
    ///
    /// # Errors
    /// `OutOfSpecification` when a directory is damaged.
    pub(super) fn contents(&self, file: &RootFile) -> Result<Contents> {
        let mut keys = file.walk()?;
        let own: Vec<&str> =
            self.ntuples.iter().chain(&self.tree).map(|part| &*part.key.path).collect();
        let directories = directories_beside(&keys, &own);
        keys.retain(|key| !key.is_directory());
        let (own, others): (Vec<_>, _) =
            keys.into_iter().partition(|key| own.contains(&&*key.path));
        let (newest, mut older) = by_age(others);
        let mut objects: BTreeMap<_, _> =
            newest.into_iter().map(|key| (key.path.clone(), key)).collect();
        if let Some(InputDataset { key, target }) = &self.tree {
            let cycles = own.into_iter().filter(|item| item.path == key.path).collect();
            older.extend(other_cycles(cycles, key.cycle, target));
            objects.insert(target.clone(), KeyEntry { path: target.clone(), ..key.clone() });
        }
        Ok(Contents { objects: objects.into_values().collect(), directories, older })
    }
}

/// The objects in a file beside the RNTuples.
pub(super) struct Contents {
    /// The newest cycle of each object, in the order of their paths.
    pub objects: Vec<KeyEntry>,
    /// The directories that are merged. A directory comes before its subdirectories.
    pub directories: Vec<KeyEntry>,
    /// The other cycles.
    pub older: Vec<OtherCycle>,
}

/// A cycle of an object that is not merged, because another cycle is or would be.
#[derive(Clone, Debug)]
pub(super) struct OtherCycle {
    pub key: KeyEntry,
    /// The cycle that is merged.
    pub merged: u16,
    /// The path of the object among the merged objects.
    pub target: String,
    /// Whether the other cycle is left out as well.
    pub is_refused: bool,
}

/// Returns the directories of a file, without directories that contain only the datasets at the paths `own`.
pub(super) fn directories_beside(keys: &[KeyEntry], own: &[&str]) -> Vec<KeyEntry> {
    let is_in = |path: &str, directory: &KeyEntry| {
        path.strip_prefix(&*directory.path).is_some_and(|rest| rest.starts_with('/'))
    };
    let is_around = |key: &KeyEntry| {
        own.iter().any(|own| *own == key.path || key.is_directory() && is_in(own, key))
    };
    let stays = |directory: &&KeyEntry| {
        let holds_more = || keys.iter().any(|key| is_in(&key.path, directory) && !is_around(key));
        directory.is_directory() && (!is_around(directory) || holds_more())
    };
    keys.iter().filter(stays).cloned().collect()
}

/// Returns the cycles of the dataset at `path` that are not merged.
pub(super) fn other_cycles(
    keys: Vec<KeyEntry>,
    merged: u16,
    path: &str,
) -> impl Iterator<Item = OtherCycle> {
    let others = keys.into_iter().filter(move |key| key.cycle != merged);
    others.map(move |key| OtherCycle { key, merged, target: path.to_owned(), is_refused: false })
}

/// Returns the newest cycle of each object, and the other cycles.
fn by_age(keys: Vec<KeyEntry>) -> (Vec<KeyEntry>, Vec<OtherCycle>) {
    let mut paths: BTreeMap<String, Vec<KeyEntry>> = BTreeMap::new();
    for key in keys {
        paths.entry(key.path.clone()).or_default().push(key);
    }
    let (mut newest, mut older) = (Vec::new(), Vec::new());
    for (path, cycles) in paths {
        let Some(first) = cycles.iter().max_by_key(|key| key.cycle).cloned() else { continue };
        older.extend(other_cycles(cycles, first.cycle, &path));
        newest.push(first);
    }
    (newest, older)
}
