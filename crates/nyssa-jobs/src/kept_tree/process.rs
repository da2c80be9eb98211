//! Keeps the process of references. A reference (`TRef`) is the number of an object, and the number of its process
//! (`TProcessID`) in the file.

use std::collections::BTreeSet;

use nyssa_root::error::Result;
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::process_number;

use super::{KeptTree, ProcessFacts};

impl ProcessFacts {
    /// Returns the process of a file if it has one only, and a note if it has several.
    ///
    /// # Errors
    /// `Io` if the keys of the file cannot be read.
    pub(super) fn only(file: &RootFile) -> Result<(Option<Self>, Option<String>)> {
        let mut all = processes(file)?;
        let count = all.len();
        let note = (count > 1).then(|| {
            format!(
                "references between objects (TRef) cannot become references of a TTree again, because the file has {count} \
                 processes (TProcessID), and an RNTuple does not say which one an object belongs to"
            )
        });
        Ok((all.pop_first().filter(|_| all.is_empty()), note))
    }
}

impl KeptTree {
    /// Returns the number of the process of references, if `file` has this process.
    ///
    /// # Errors
    /// `Io` if the keys of the file cannot be read.
    pub(crate) fn process(&self, file: &RootFile) -> Result<Option<u16>> {
        let Some(process) = &self.tree.process else { return Ok(None) };
        Ok(processes(file)?.contains(process).then_some(process.number))
    }
}

/// Returns the processes of a file.
fn processes(file: &RootFile) -> Result<BTreeSet<ProcessFacts>> {
    let keys = file.keys()?;
    let process = |key| Some((process_number(key)?, key.title.to_string()));
    Ok(keys.iter().filter_map(process).map(|(number, id)| ProcessFacts { number, id }).collect())
}
