//! Lists folders of a local disk.

use std::fs;
use std::io;
use std::path::Path;

use crate::{EntryKind, FolderEntry};

/// Returns the kind of the thing at `path`. Returns `None` if nothing is there.
pub(crate) fn kind(path: &Path) -> io::Result<Option<EntryKind>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(Some(EntryKind::Folder)),
        Ok(_) => Ok(Some(EntryKind::File)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        },
    }
}

/// Returns all entries of the folder `path`, in no order.
pub(crate) fn list(path: &Path) -> io::Result<Vec<FolderEntry>> {
    fs::read_dir(path)?.map(|entry| folder_entry(&entry?)).collect()
}

fn folder_entry(entry: &fs::DirEntry) -> io::Result<FolderEntry> {
    let file_type = entry.file_type()?;
    // A broken link is not a folder.
    let is_folder = file_type.is_dir() || file_type.is_symlink() && entry.path().is_dir();
    let kind = if is_folder { EntryKind::Folder } else { EntryKind::File };
    Ok(FolderEntry { name: entry.file_name(), kind })
}
