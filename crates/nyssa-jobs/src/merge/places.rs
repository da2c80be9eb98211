//! Records the objects and directories of earlier inputs, so that no object takes the place of another object.

use std::collections::HashMap;

use nyssa_root::rootfile::KeyEntry;

/// The paths of the objects and directories of all earlier inputs.
#[derive(Default)]
pub(super) struct Places {
    /// The class of the object at a path, and the number of the first input that has it.
    objects: HashMap<String, (usize, String)>,
    /// The number of the first input that has a directory.
    directories: HashMap<String, usize>,
}

impl Places {
    /// Returns the reason why an object of an input has no place: an earlier input has a directory of its name, or an
    /// object in the place of its directory.
    pub(super) fn taken(&self, number: usize, key: &KeyEntry) -> Option<String> {
        if self.directories.get(&key.path).is_some_and(|&first| first < number) {
            let class = &key.class;
            return Some(format!("a {class}, but an input before has a directory of this name"));
        }
        above(&key.path).find_map(|directory| {
            let (first, class) = self.objects.get(directory)?;
            (*first < number).then(|| {
                format!("it is in {directory:?}, but an input before has a {class} of this name")
            })
        })
    }

    /// Adds a directory. Returns the reason why it has no place: an earlier input has an object with its name, or
    /// with the name of a directory above it.
    pub(super) fn take_directory(&mut self, number: usize, path: &str) -> Option<String> {
        let taken = above(path).chain([path]).find_map(|place| {
            let (_, class) = self.objects.get(place).filter(|(first, _)| *first < number)?;
            Some(format!("a directory, but an input before has a {class} {place:?}"))
        });
        if taken.is_none() {
            self.directories.entry(path.to_owned()).or_insert(number);
        }
        taken
    }

    /// Adds an object. Returns the class that earlier inputs have at its path, if it differs.
    pub(super) fn take(&mut self, number: usize, path: &str, class: &str) -> Option<String> {
        for directory in above(path) {
            self.directories.entry(directory.to_owned()).or_insert(number);
        }
        let known = self.objects.entry(path.to_owned());
        let (_, known) = known.or_insert_with(|| (number, class.to_owned()));
        (known != class).then(|| known.clone())
    }
}

/// Returns the paths of the directories above a path.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}
