//! Opens the file of an input, and lists what is merged or copied of it beside the RNTuple.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nyssa_io::OpenOptions;

use crate::error::Result;
use crate::rootfile::{KeyEntry, RootFile};

/// The file of an input.
#[derive(Clone)]
pub(super) struct InputFile {
    /// The path or URL, for messages.
    pub name: String,
    /// The path or URL that opens it.
    pub location: PathBuf,
    /// The options by which it is opened.
    pub options: OpenOptions,
    /// The open file, if it stays open.
    pub kept: Option<RootFile>,
    /// The path of the RNTuple that is merged.
    pub ntuple: Option<String>,
    /// The tree that the user named.
    pub tree: Option<KeyEntry>,
}

impl InputFile {
    /// Makes the input of a file without an RNTuple. Files behind a network stay open.
    pub fn of(file: RootFile, tree: Option<KeyEntry>) -> Self {
        let (name, options) = (file.name().to_owned(), file.options());
        let location = file.source().location().to_owned();
        let kept = nyssa_io::is_remote(&name).then_some(file);
        Self { name, location, options, kept, ntuple: None, tree }
    }

    /// Returns the file, which is opened again if it is not open.
    ///
    /// # Errors
    /// Those of opening.
    pub fn open(&self) -> Result<RootFile> {
        match &self.kept {
            Some(kept) => Ok(kept.clone()),
            None => RootFile::open(nyssa_io::open_with(&self.location, &self.options)?),
        }
    }

    /// Returns the newest cycle of each object beside the RNTuple. The tree that the user named gets the path `usual`.
    ///
    /// # Errors
    /// Those of [`RootFile::walk`].
    pub fn newest(&self, file: &RootFile, usual: Option<&str>) -> Result<Vec<KeyEntry>> {
        let mut newest: BTreeMap<String, KeyEntry> = BTreeMap::new();
        let named = self.tree.as_ref();
        for key in file.walk()? {
            let is_main = Some(&key.path) == self.ntuple.as_ref()
                || named.is_some_and(|tree| tree.path == key.path);
            if key.is_directory() || is_main {
                continue;
            }
            match newest.get(&key.path) {
                Some(other) if other.cycle > key.cycle => {}
                _ => drop(newest.insert(key.path.clone(), key)),
            }
        }
        if let Some(tree) = named {
            let path = usual.unwrap_or(&tree.path).to_owned();
            newest.insert(path.clone(), KeyEntry { path, ..tree.clone() });
        }
        Ok(newest.into_values().collect())
    }
}
