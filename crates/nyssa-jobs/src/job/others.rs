//! Copies the other objects of an input file to the output. Objects that cannot be copied are listed with a reason.

use std::collections::HashSet;

use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::{ObjectCopy, Refused, process_number};

use super::output::Output;

/// All objects of a file, except those that a job writes itself.
pub(crate) struct OtherObjects {
    carry: ObjectCopy,
    /// The objects that are already in the output, for reports.
    carried: Vec<String>,
    /// The objects that are not in the output because the options do not request them.
    left: Vec<String>,
    left_out: Vec<Refused>,
    /// Whether the job writes what names processes (`TProcessID`) of the file.
    keeps_processes: bool,
}

/// The lists of the other objects: objects in the output, and objects that are missing there.
#[derive(Debug, Default)]
pub(crate) struct CopiedObjects {
    /// The path, cycle and class of each object that is in the output.
    pub(crate) carried: Vec<String>,
    /// The objects that cannot be copied.
    pub(crate) refused: Vec<Refused>,
    /// The objects that the options do not request.
    pub(crate) left: Vec<String>,
}

impl OtherObjects {
    /// Lists all objects of `input`.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub(crate) fn plan(input: &RootFile) -> Result<Self> {
        let carry = ObjectCopy::plan(input, &[])?;
        let left_out = carry.refused().to_vec();
        let (carried, left) = (Vec::new(), Vec::new());
        Ok(Self { carry, carried, left, left_out, keeps_processes: false })
    }

    /// Returns the title of the file with these objects.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged first key; `Io`.
    pub(crate) fn title(&self) -> Result<String> {
        self.carry.title()
    }

    /// Removes the objects that cannot be copied. The job decides what happens to them.
    pub(crate) fn take_refused(&mut self) -> Vec<Refused> {
        std::mem::take(&mut self.left_out)
    }

    /// Removes the datasets that the job writes itself. Their other cycles are not copied: `what` describes what
    /// happens to these datasets, as in "was converted".
    pub(crate) fn leave_cycles_to_job(&mut self, keys: &[KeyEntry], what: &str) {
        let done: HashSet<String> = keys.iter().map(path_of).collect();
        self.left_out.retain(|item| !done.contains(&item.path));
        for item in &mut self.left_out {
            let path = item.without_cycle();
            if let Some(key) = keys.iter().find(|key| key.path == path) {
                item.reason = other_cycle(key.cycle, what);
            }
        }
    }

    /// Removes objects that the job writes itself, by their paths.
    pub(crate) fn leave_to_job(&mut self, paths: &HashSet<&str>) {
        self.carry.leave(paths);
        self.left_out.retain(|item| !paths.contains(item.without_cycle()));
    }

    /// Adds an object that is not in the output, with the reason.
    pub(crate) fn refuse(&mut self, refused: Refused) {
        self.left_out.retain(|other| other.path != refused.path);
        self.left_out.push(refused);
    }

    /// Adds an object that is not in the output, with the reason.
    pub(crate) fn leave_out(&mut self, key: &KeyEntry, reason: &str) {
        let (path, class) = (path_of(key), key.class.clone());
        self.refuse(Refused { path, class, reason: reason.to_owned() });
    }

    /// Adds an object that the job wrote in addition to the requested objects.
    pub(crate) fn arrived(&mut self, key: &KeyEntry) {
        self.carried.push(named(key));
    }

    /// Adds an object that the options do not request.
    pub(crate) fn leave_behind(&mut self, key: &KeyEntry) {
        self.left.push(named(key));
    }

    /// Creates the directories of the input, so that they keep their titles.
    ///
    /// # Errors
    /// `InvalidArgument` if the output has another object with the name of a directory; `Io`.
    pub(crate) fn write_directories(&self, output: &Output) -> Result<()> {
        output.file.with(|file| self.carry.write_directories(file))
    }

    /// Writes the objects.
    ///
    /// # Errors
    /// `InvalidArgument` when the file is finished; `Io`.
    pub(crate) fn write(self, output: &Output) -> Result<CopiedObjects> {
        let Self { carry, mut carried, left, left_out: mut refused, .. } = self;
        let late = output.file.carry(&carry)?;
        let gone: HashSet<&str> = late.iter().map(|refused| &*refused.path).collect();
        let objects = carry.objects().iter().filter(|key| !key.is_directory());
        let arrived = objects.filter(|key| !gone.contains(&*path_of(key)));
        carried.extend(arrived.map(named));
        refused.extend(late.iter().cloned());
        Ok(CopiedObjects { carried, refused, left })
    }

    /// Writes only the processes that the job needs.
    ///
    /// # Errors
    /// `Io` if the file cannot be read or the output cannot be written.
    pub(crate) fn leave(mut self, output: &Output) -> Result<CopiedObjects> {
        let is_needed = |key: &KeyEntry| self.keeps_processes && process_number(key).is_some();
        let left = self.carry.objects().iter().filter(|key| !key.is_directory());
        self.left.extend(left.filter(|key| !is_needed(key)).map(named));
        self.carry.retain(is_needed);
        self.write(output)
    }

    /// Keeps the processes (`TProcessID`) of the file, which the job needs for the references in its trees, even if no other
    /// objects are copied.
    pub(crate) fn keep_processes(&mut self) {
        self.keeps_processes = true;
    }
}

impl CopiedObjects {
    /// Returns the objects that are not in the output, for reports.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let refused = self.refused.iter().map(ToString::to_string);
        refused.chain(self.left.iter().cloned()).collect()
    }
}

/// Returns the reason why another cycle of an object is not in the output: `what` happened to the cycle in the
/// output, as in "was merged".
pub(crate) fn other_cycle(cycle: u16, what: &str) -> String {
    format!("cycle {cycle} of it {what}")
}

/// Returns the reason why a tree is not in the output, with the branch if it is one branch.
pub(crate) fn reason(error: &Error) -> String {
    match &error.place().field {
        Some(branch) => format!("branch {branch}: {}", error.message()),
        None => error.message().to_owned(),
    }
}

/// Returns the path and cycle of a key.
pub(crate) fn path_of(key: &KeyEntry) -> String {
    format!("{};{}", key.path, key.cycle)
}

/// Returns the path, cycle and class of a key.
fn named(key: &KeyEntry) -> String {
    format!("{} ({})", path_of(key), key.class)
}
