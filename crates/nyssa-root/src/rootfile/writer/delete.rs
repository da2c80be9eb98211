//! Takes objects out of the lists of their directories. Their bytes stay in the file.

use super::file::RootFileWriter;
use super::key::Key;
use crate::error::{Error, Result};
use crate::rootfile::name::name_of;

/// The cycles of an object that are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cycles {
    /// The newest cycle.
    Newest,
    /// This cycle.
    One(u16),
    /// All cycles.
    All,
}

impl RootFileWriter {
    /// Creates the directory of a path, and its parents.
    ///
    /// # Errors
    /// `InvalidArgument` if an object has the name of a directory; an error if the sink cannot be written.
    pub(crate) fn make_directory_at(&mut self, path: &str) -> Result<()> {
        if path.trim_matches('/').is_empty() {
            let message = format!("{path:?} does not name a directory: give it a name");
            return Err(self.blame(Error::invalid_argument(message)));
        }
        self.make_directory(path).map(drop).map_err(|error| self.blame(error))
    }

    /// Takes an object out of the directory `dir`. A directory is removed with its content.
    ///
    /// # Errors
    /// `NotFound` if there is no such object.
    pub(crate) fn delete(&mut self, dir: &str, name: &str, cycles: Cycles) -> Result<()> {
        self.delete_from(dir, name, cycles).map_err(|error| self.blame(error))
    }

    fn delete_from(&mut self, dir: &str, name: &str, cycles: Cycles) -> Result<()> {
        let missing = || {
            let dir = if dir.is_empty() { String::new() } else { format!("{dir}/") };
            let cycle =
                if let Cycles::One(cycle) = cycles { format!(";{cycle}") } else { String::new() };
            Error::not_found(format!("there is no {dir}{name}{cycle} to delete"))
        };
        let parent = self.directory_at(dir).ok_or_else(missing)?;
        let bytes = name_of(name);
        let directory = &mut self.directories[parent];
        let named = directory.keys.iter().filter(|key| key.name == bytes);
        let newest = named.map(|key| key.cycle).max();
        let goes = |key: &Key| {
            key.name == bytes
                && match cycles {
                    Cycles::Newest => Some(key.cycle) == newest,
                    Cycles::One(cycle) => key.cycle == cycle,
                    Cycles::All => true,
                }
        };
        let before = directory.keys.len();
        directory.keys.retain(|key| !goes(key));
        if directory.keys.len() == before {
            return Err(missing());
        }
        directory.changed = true;
        if let Some(below) = self.find_directory(parent, bytes.as_ref()) {
            self.drop_directory(below);
        }
        Ok(())
    }

    fn drop_directory(&mut self, index: usize) {
        self.directories[index].deleted = true;
        for below in 0..self.directories.len() {
            if self.directories[below].parent == Some(index) {
                self.drop_directory(below);
            }
        }
    }
}
