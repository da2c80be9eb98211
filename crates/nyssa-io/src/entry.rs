//! Defines the entries of folders, and the kinds of locations. Both are found without opening files.

use std::ffi::OsString;

/// The kinds of things that a location can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or another thing that is not a folder.
    File,
    /// A folder, which can be listed.
    Folder,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name, without the folder.
    pub name: OsString,
    /// Its kind. The kind of a link is the kind of its target.
    pub kind: EntryKind,
}
