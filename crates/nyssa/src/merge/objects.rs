//! Merges the objects beside the RNTuples, as `hadd` does: trees are joined, and histograms, profiles and parameters that
//! several inputs have are added up, and graphs are joined. The other objects are copied from the first input that has them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::graph::{self, Graph};
use super::input_file::InputFile;
use super::report::MergedTreeReport;
use super::sum::{self, Sum, WITHOUT};
use super::trees::{self, MergedTrees};
use crate::Context;
use crate::compression::Compression;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::open::TREE_CLASSES;
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::{ObjectCopy, Refused};

/// The objects of all inputs that are added up, and those that only later inputs have.
#[derive(Default)]
pub(super) struct MergedObjects {
    /// The sums by the paths of the objects.
    sums: BTreeMap<String, Started>,
    /// The objects that the first input lacks, with the numbers of their inputs.
    copies: Vec<(usize, KeyEntry)>,
    /// The trees.
    pub trees: MergedTrees,
}

/// A sum that has begun.
struct Started {
    /// The number of the input whose object is changed to be the sum.
    input: usize,
    key: KeyEntry,
    total: Total,
}

/// The objects of several inputs that become one.
enum Total {
    Sum(Box<Sum>),
    Graph(Box<Graph>),
}

impl Total {
    /// Begins with the object of a key. Returns `None` for classes that are copied.
    fn of(file: &RootFile, key: &KeyEntry) -> Result<Option<Self>> {
        Ok(if sum::adds(&key.class) {
            Some(Self::Sum(Box::new(Sum::of(file, key)?)))
        } else if graph::joins(&key.class) {
            Some(Self::Graph(Box::new(Graph::of(file, key)?)))
        } else {
            None
        })
    }

    /// Adds the object of another key. Returns whether it is now the one that is changed.
    fn add(&mut self, file: &RootFile, key: &KeyEntry) -> Result<bool> {
        match self {
            Self::Sum(sum) => Ok(sum.add(file, key)?.is_new_template),
            Self::Graph(graph) => graph.add(file, key).map(|()| false),
        }
    }

    /// Returns the bytes of the object.
    fn finish(self) -> Result<Vec<u8>> {
        match self {
            Self::Sum(sum) => Ok(sum.finish()),
            Self::Graph(graph) => graph.finish(),
        }
    }
}

impl MergedObjects {
    /// Adds up the objects of all inputs, or only their trees. Returns those of the paths `left` that are in no sum and in
    /// no copy, too.
    ///
    /// # Errors
    /// `InvalidArgument` with file and object for histograms and trees that cannot be added; the errors of the inputs;
    /// `Cancelled`.
    pub fn of(
        files: &[InputFile],
        mut left: BTreeSet<String>,
        only_trees: bool,
        context: &Context,
    ) -> Result<(Self, BTreeSet<String>)> {
        let mut merged = Self::default();
        let mut classes: HashMap<String, String> = HashMap::new();
        let beside_ntuple = files.first().is_some_and(|first| first.ntuple.is_some());
        let usual = files.first().and_then(|first| first.tree.as_ref()).map(|tree| &*tree.path);
        for (number, input) in files.iter().enumerate() {
            context.check()?;
            let file = input.open()?;
            let keys = input.newest(&file, usual)?;
            let processes = trees::processes(&keys);
            for key in keys {
                let is_tree = TREE_CLASSES.contains(&key.class.as_str());
                let is_named = usual.is_none_or(|usual| usual == key.path);
                if only_trees && !(is_tree && is_named) {
                    continue;
                }
                let path = key.path.clone();
                let known = classes.insert(path.clone(), key.class.clone());
                if let Some(other) = known.as_ref().filter(|other| **other != key.class) {
                    return Err(Error::invalid_argument(format!(
                        "a {}, but an input before has a {other} of this name; {WITHOUT}",
                        key.class
                    )))
                    .in_file(file.name())
                    .in_object(&path);
                }
                if is_tree {
                    let whose = |input: usize| &*files[input].name;
                    let taken = merged.trees.take(number, &file, key, &processes, whose);
                    // A tree that the user asked for is not left out.
                    let can_be_left_out = beside_ntuple || !is_named;
                    taken.map_err(|error| match error.kind() {
                        Kind::InvalidArgument | Kind::Unsupported if can_be_left_out => {
                            error.map_message(|it| format!("{it}; {WITHOUT}"))
                        }
                        _ => error,
                    })?;
                    left.remove(&path);
                } else if merged.take(number, &file, key, known.is_none())? {
                    left.remove(&path);
                }
            }
        }
        Ok((merged, left))
    }

    /// Takes one object, which no input before has if `is_new`. Returns whether the output will have it.
    fn take(
        &mut self,
        number: usize,
        file: &RootFile,
        key: KeyEntry,
        is_new: bool,
    ) -> Result<bool> {
        if let Some(started) = self.sums.get_mut(&key.path) {
            if started.total.add(file, &key).in_file(file.name()).in_object(&key.path)? {
                (started.input, started.key) = (number, key);
            }
            return Ok(true);
        }
        if is_new {
            match Total::of(file, &key) {
                Ok(Some(total)) => {
                    self.sums.insert(key.path.clone(), Started { input: number, key, total });
                    return Ok(true);
                }
                Ok(None) => {}
                // It is copied as it is stored.
                Err(error) if error.kind() == Kind::Unsupported => {}
                Err(error) => return Err(error).in_file(file.name()).in_object(&key.path),
            }
        }
        let is_copied = is_new && number > 0;
        if is_copied {
            self.copies.push((number, key));
        }
        Ok(is_copied)
    }

    /// Writes the trees, the sums and the copies. Returns a report on each tree.
    ///
    /// # Errors
    /// The errors of the inputs and of the output.
    pub fn write(
        self,
        files: &[InputFile],
        output: &Output,
        others: &mut OtherObjects,
        (compression, context): (Compression, &Context),
    ) -> Result<Vec<MergedTreeReport>> {
        let own = self.sums.keys().map(String::as_str).chain(self.trees.paths());
        others.leave_to_job(&own.collect::<HashSet<_>>());
        let trees = self.trees.write(files, output, compression, context)?;
        let (mut sums, mut copies) = (self.sums.into_values().collect::<Vec<_>>(), self.copies);
        for (number, input) in files.iter().enumerate() {
            let here = |started: &Started| started.input == number;
            let (now, later): (Vec<_>, Vec<_>) = sums.into_iter().partition(here);
            let (copied, rest): (Vec<_>, Vec<_>) =
                copies.into_iter().partition(|one| one.0 == number);
            (sums, copies) = (later, rest);
            if now.is_empty() && copied.is_empty() {
                continue;
            }
            let file = input.open()?;
            for Started { key, total, .. } in now {
                let payload = total.finish().in_file(file.name()).in_object(&key.path)?;
                output.file.with(|out| ObjectCopy::write_changed(&file, &key, payload, out))?;
                others.arrived(&key);
            }
            output.file.add_streamer_infos(&file.streamer_list()?)?;
            for (_, key) in copied {
                match output.file.copy_object(&key.path, &file, &key) {
                    Ok(()) => others.arrived(&key),
                    Err(error) if error.kind() == Kind::Unsupported => others.refuse(Refused {
                        path: format!("{};{}", key.path, key.cycle),
                        class: key.class.clone(),
                        reason: error.message().to_owned(),
                    }),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(trees)
    }
}
