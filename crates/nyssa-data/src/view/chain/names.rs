//! Finds the common names of the columns of several files.

use std::collections::HashMap;
use std::sync::Arc;

use super::FileInfo;
use crate::dataset::{Backing, ColumnInfo, common_names};
use crate::view::evolve::Aliases;
use crate::view::with_schema::rename;

/// Returns, for each file, the common names of these collections by their names in the file.
pub(super) fn hidden_names(files: &[FileInfo]) -> Vec<HashMap<&str, String>> {
    let backing: Vec<Backing> = files.iter().map(|file| file.backing.clone()).collect();
    let listed = files.iter().flat_map(|file| &file.items[..file.below]);
    let taken = listed.map(|item| item.name.clone()).collect();
    let names = common_names(&backing, taken);
    let pairs = files.iter().zip(names).map(|(file, names)| {
        let own = file.backing.iter().map(|(name, _)| name.as_str());
        own.zip(names).collect()
    });
    pairs.collect()
}

/// Returns the columns of each file with their new names.
pub(super) fn renamed(
    files: &[FileInfo],
    hidden: &[HashMap<&str, String>],
    aliases: &Aliases,
) -> Vec<Arc<Vec<ColumnInfo>>> {
    let mut all: Vec<Arc<Vec<ColumnInfo>>> = Vec::with_capacity(files.len());
    for (index, file) in files.iter().enumerate() {
        let before = index.checked_sub(1);
        let same =
            |&before: &usize| file.items == files[before].items && hidden[index] == hidden[before];
        if let Some(before) = before.filter(same) {
            all.push(Arc::clone(&all[before]));
            continue;
        }
        let mut items = rename(&file.items, aliases);
        for item in &mut items[file.below..] {
            if let Some(name) = hidden[index].get(item.name.as_str()) {
                item.field = item.field.clone().map(|field| field.with_name(name));
                item.name.clone_from(name);
            }
        }
        all.push(Arc::new(items));
    }
    all
}
