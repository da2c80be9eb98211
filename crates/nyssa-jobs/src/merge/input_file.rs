//! Opens the file of an input, and lists its objects that are merged or copied beside the RNTuple.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nyssa_io::OpenOptions;
use nyssa_root::error::Result;
use nyssa_root::rootfile::{KeyEntry, RootFile};

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
    /// The path and the cycle of the RNTuple that is merged.
    pub ntuple: Option<(String, u16)>,
    /// The tree that the user named.
    pub tree: Option<KeyEntry>,
}

impl InputFile {
    /// Makes the input of a file without an RNTuple. Remote files stay open.
    pub(super) fn of(file: RootFile, tree: Option<KeyEntry>) -> Self {
        let (name, options) = (file.name().to_owned(), file.options());
        let location = file.source().location().to_owned();
        let open_file = nyssa_io::is_remote(&name).then_some(file);
        Self { name, location, options, open_file, ntuple: None, tree }
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

    /// Returns the path and the cycle of the RNTuple or the tree of the input.
    pub(super) fn dataset(&self) -> Option<String> {
        let tree = self.tree.as_ref().map(|tree| (&tree.path, tree.cycle));
        let named = tree.or(self.ntuple.as_ref().map(|(path, cycle)| (path, *cycle)));
        named.map(|(path, cycle)| format!("{path};{cycle}"))
    }

    /// Lists the objects that are merged or copied beside the RNTuple. The tree that the user named gets the path
    /// `usual`.
    ///
    /// # Errors
    /// `OutOfSpecification` when a directory is damaged.
    pub(super) fn contents(&self, file: &RootFile, usual: Option<&str>) -> Result<Contents> {
        let mut keys = file.walk()?;
        let named = self.tree.as_ref();
        let main = named.map(|tree| &*tree.path).or(self.ntuple.as_ref().map(|(path, _)| &**path));
        let directories = main.map_or_else(
            || keys.iter().filter(|key| key.is_directory()).cloned().collect(),
            |main| directories_beside(&keys, main),
        );
        keys.retain(|key| !key.is_directory());
        let (own, others) = keys.into_iter().partition(|key| Some(&*key.path) == main);
        let (newest, mut older) = by_age(others);
        let mut objects: BTreeMap<_, _> =
            newest.into_iter().map(|key| (key.path.clone(), key)).collect();
        if let Some(tree) = named {
            let path = usual.unwrap_or(&tree.path).to_owned();
            older.extend(other_cycles(own, tree.cycle, &path));
            objects.insert(path.clone(), KeyEntry { path, ..tree.clone() });
        }
        Ok(Contents { objects: objects.into_values().collect(), directories, older })
    }
}

/// The objects in a file beside the RNTuple.
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

/// Returns the directories of a file, without directories that contain only the dataset at the path `main`.
pub(super) fn directories_beside(keys: &[KeyEntry], main: &str) -> Vec<KeyEntry> {
    let is_in = |path: &str, directory: &KeyEntry| {
        path.strip_prefix(&*directory.path).is_some_and(|rest| rest.starts_with('/'))
    };
    let holds_more = |directory: &KeyEntry| {
        keys.iter().any(|key| is_in(&key.path, directory) && !is_around(key, main))
    };
    let stays = |key: &&KeyEntry| key.is_directory() && (!is_in(main, key) || holds_more(key));
    keys.iter().filter(stays).cloned().collect()
}

/// Returns whether a key belongs to `main`, or to a directory around it.
fn is_around(key: &KeyEntry, main: &str) -> bool {
    let rest = main.strip_prefix(&*key.path);
    rest.is_some_and(|rest| rest.is_empty() || key.is_directory() && rest.starts_with('/'))
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
