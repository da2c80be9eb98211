//! Collects the keys of all inputs of a merge, one input after the other.

use std::collections::BTreeMap;

use nyssa_rntuple::read::CLASS as NTUPLE;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::{
    OTHER_PROCESS, ObjectCopy, StreamerInfos, has_references, process_number,
};

use super::{Choice, MergedObjects, Started, Treatment, WITHOUT, refused};
use crate::merge::input_file::{Contents, InputFile};
use crate::merge::places::Places;
use crate::merge::plan::Plan;
use crate::open::TREE_CLASSES;

/// The keys of the inputs up to now.
pub(super) struct JoinedKeys<'f> {
    files: &'f [InputFile],
    choice: Choice,
    /// The path of the dataset that the first input names.
    named: Option<&'f str>,
    /// The number of files before the inputs, which are merged as a whole.
    before: usize,
    pub merged: MergedObjects,
    /// The objects, by their paths.
    pub started: BTreeMap<String, Started>,
    places: Places,
    /// The classes that earlier inputs describe.
    described: StreamerInfos,
}

/// The input whose keys are collected.
struct Current<'i> {
    number: usize,
    file: &'i RootFile,
    /// Whether a process of this file gets another number.
    is_foreign: bool,
}

impl<'f> JoinedKeys<'f> {
    pub(super) fn new(plan: &'f Plan, choice: Choice) -> Self {
        let mut places = Places::default();
        for ntuple in &plan.ntuples {
            let first = ntuple.inputs.first().map_or(0, |input| input.number);
            let _ = places.take(first, &ntuple.path, NTUPLE);
        }
        Self {
            files: &plan.files,
            choice,
            named: plan.named.as_deref(),
            before: plan.before,
            merged: MergedObjects::default(),
            started: BTreeMap::new(),
            places,
            described: StreamerInfos::new(Vec::new()),
        }
    }

    /// Collects the keys of the next input.
    pub(super) fn input(&mut self, number: usize, input: &InputFile) -> Result<()> {
        let file = input.open()?;
        let Contents { objects: keys, directories, older } = input.contents(&file)?;
        self.merged.older.extend(older.into_iter().map(|cycle| (number, cycle)));
        let clashing = ObjectCopy::described_otherwise(&file, &keys, &self.described)?;
        let clashing = clashing.into_iter().map(|(path, reason)| ((number, path), reason));
        self.merged.clashing.extend(clashing);
        self.described.add(&*file.streamer_infos()?);
        let numbers = self.merged.processes.add(&keys)?;
        let current = Current { number, file: &file, is_foreign: !numbers.are_kept() };
        keys.into_iter().try_for_each(|key| self.key(&current, key))?;
        // The objects inside a directory come first, so that only these are named if they have no place.
        directories.into_iter().rev().try_for_each(|directory| self.directory(&current, directory))
    }

    fn key(&mut self, input: &Current<'_>, key: KeyEntry) -> Result<()> {
        if process_number(&key).is_some() {
            return Ok(());
        }
        let is_tree = TREE_CLASSES.contains(&key.class.as_str());
        let is_named = self.named.is_none_or(|named| named == key.path);
        let is_wanted = !self.choice.only_trees || input.number < self.before;
        if !(is_wanted || is_tree && is_named) {
            return Ok(());
        }
        // A tree that the user requested is not left out.
        let skip = self.choice.skip_unsupported && (!is_tree || !is_named);
        if !self.has_place(input, &key, skip)? {
            return Ok(());
        }
        match is_tree {
            true => self.tree(input, key, !is_named),
            false => self.object(input, key),
        }
    }

    /// Adds a directory. Directories of the first input are copied with the objects of this input.
    fn directory(&mut self, input: &Current<'_>, directory: KeyEntry) -> Result<()> {
        if self.choice.only_trees && input.number >= self.before {
            return Ok(());
        }
        match self.places.take_directory(input.number, &directory.path) {
            None if input.number == 0 => {}
            None => self.merged.directories.push(directory),
            Some(_) if self.has_named_below(&directory.path) => {}
            Some(reason) => {
                self.out_of_place(input, &directory, reason, self.choice.skip_unsupported)?;
            }
        }
        Ok(())
    }

    /// Returns whether an object in a directory is reported as left out.
    fn has_named_below(&self, directory: &str) -> bool {
        let mut named = self.merged.out_of_place.iter();
        named
            .any(|item| item.path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Returns whether no earlier input has another object in the place of an object. If one has, the object is left
    /// out with `skip`, and is an error without it.
    fn has_place(&mut self, input: &Current<'_>, key: &KeyEntry, skip: bool) -> Result<bool> {
        let taken = self.places.taken(input.number, key);
        let is_out_of_place = taken.is_some();
        let reason = taken.or_else(|| {
            let other = self.places.take(input.number, &key.path, &key.class)?;
            Some(format!("a {}, but an input before has a {other} of this name", key.class))
        });
        let Some(reason) = reason else { return Ok(true) };
        match self.started.get_mut(&key.path).filter(|_| skip && !is_out_of_place) {
            Some(started) => {
                let reason = format!("{reason} (in {})", input.file.name());
                started.state = Treatment::LeftOut(reason);
            }
            None => self.out_of_place(input, key, reason, skip)?,
        }
        Ok(false)
    }

    /// Leaves out objects without a place if `skip` allows it.
    fn out_of_place(
        &mut self,
        input: &Current<'_>,
        key: &KeyEntry,
        reason: String,
        skip: bool,
    ) -> Result<()> {
        if !skip {
            return Err(Error::invalid_argument(format!("{reason}; {WITHOUT}")))
                .in_file(input.file.name())
                .in_object(&key.path);
        }
        let reason = format!("{reason} (in {})", input.file.name());
        self.merged.out_of_place.push(refused(key, reason));
        Ok(())
    }

    fn tree(&mut self, input: &Current<'_>, key: KeyEntry, can_be_left_out: bool) -> Result<()> {
        let whose = |number: usize| &*self.files[number].name;
        let Current { number, file, .. } = input;
        let taken = self.merged.trees.take(*number, file, key, whose);
        taken.map_err(|error| match error.kind() {
            Kind::InvalidArgument | Kind::Unsupported if can_be_left_out => {
                error.map_message(|it| format!("{it}; --no-carry (carry=False) merges without it"))
            }
            _ => error,
        })
    }

    fn object(&mut self, input: &Current<'_>, key: KeyEntry) -> Result<()> {
        let known = self.started.get_mut(&key.path);
        let is_added = known.as_deref().is_some_and(Started::is_added);
        let may_refer = input.is_foreign && !is_added;
        let refers = may_refer && has_references(input.file, &key)?;
        let refusal = refers.then_some(OTHER_PROCESS);
        let skip = self.choice.skip_unsupported;
        match (known, refusal) {
            (Some(known), _) => known.add((input.number, input.file, key), refusal, skip),
            (None, Some(reason)) if !skip => {
                Err(Error::unsupported(format!("{reason}; {WITHOUT}")))
                    .in_file(input.file.name())
                    .in_object(&key.path)
            }
            (None, _) => {
                let path = key.path.clone();
                self.started.insert(path, Started::of(input.number, input.file, key, refusal)?);
                Ok(())
            }
        }
    }
}
