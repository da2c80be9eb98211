//! What lies at a location, by what can be told without opening it.

use std::ffi::OsString;

/// What a location names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or another thing that is no folder.
    File,
    /// A folder, which can be listed.
    Folder,
}

/// One thing in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, without the folder.
    pub name: OsString,
    /// What it is. A link is what it leads to.
    pub kind: EntryKind,
}
