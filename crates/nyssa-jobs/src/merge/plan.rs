//! Opens all inputs of a merge, and lists the datasets of the output.

use std::collections::BTreeSet;

use nyssa_rntuple::read::CLASS as NTUPLE;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::Refused;
use nyssa_root::waiting::wait_for_all;
use rayon::prelude::*;

use super::datasets::{FirstInput, OpenedInput};
use super::input::Input;
use super::input_file::{InputFile, OtherCycle};
use super::inputs::{AllInputs, OpenBudget, OpenedNTuple, any_remote, properties};
use super::options::{MergeOptions, Mode};
use super::unify::listed;
use crate::heuristics::merge;

/// The datasets of the output, and the files of which they are made.
pub(super) struct Plan {
    /// The files, in the order of the inputs.
    pub files: Vec<InputFile>,
    /// The RNTuples of the output, in the order in which inputs have them.
    pub ntuples: Vec<AllInputs>,
    /// The path in the output of the dataset that the first input names.
    pub named: Option<String>,
    /// The number of files before the inputs: 1 if the output grows, otherwise 0.
    pub before: usize,
    /// Whether the first file has TTrees.
    has_trees: bool,
    /// The paths of other objects in all files except the first.
    others: BTreeSet<String>,
    /// Whether files except the first have directories that contain more than their RNTuples.
    has_directories: bool,
    /// The other cycles of the RNTuples, with the numbers of their files.
    pub cycles: Vec<(usize, OtherCycle)>,
    /// The RNTuples that are not merged because some input lacks them.
    pub left_out: Vec<Refused>,
    /// Remarks for people.
    pub notes: Vec<String>,
}

/// An opened input, with the properties of its RNTuples.
type Opened = (OpenedInput, Vec<OpenedNTuple>);

impl Plan {
    /// Opens all inputs, several at the same time. `before` is an output that grows: it comes first, as a whole.
    ///
    /// # Errors
    /// `InvalidArgument` for an RNTuple that an input lacks, if the mode does not allow it; an error if an input cannot
    /// be opened.
    pub(super) fn of(
        before: Option<&str>,
        inputs: &[String],
        options: &MergeOptions,
        context: &Context,
    ) -> Result<Self> {
        let Some((first, rest)) = inputs.split_first() else {
            return Err(Error::invalid_argument(
                "there is nothing to merge: name at least one file",
            ));
        };
        let whole = FirstInput::default();
        let before = before.map(|output| whole.open_next(output, &options.open)).transpose()?;
        let (names, first) = FirstInput::open(first, before.is_none(), &options.open)?;
        let mut plan = Self {
            files: Vec::new(),
            ntuples: Vec::new(),
            named: names.named.as_ref().map(|key| key.path.clone()),
            before: before.iter().count(),
            has_trees: before.as_ref().unwrap_or(&first).beside.has_trees,
            others: BTreeSet::new(),
            has_directories: false,
            cycles: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
        };
        let mut left = OpenBudget::new(options.memory());
        for opened in before.into_iter().chain([first]) {
            plan.add(with_properties(opened)?, &mut left);
        }
        for chunk in rest.chunks(merge::OPEN_AT_ONCE) {
            context.check()?;
            let open = |argument: &String| {
                context.check()?;
                let mut opened = with_properties(names.open_next(argument, &options.open)?)?;
                if !nyssa_io::is_remote(&opened.0.file.name) {
                    opened.0.ntuples.clear();
                }
                Ok(opened)
            };
            let opened = match any_remote(chunk.iter().map(String::as_str)) {
                true => wait_for_all(chunk, open)?,
                false => context
                    .pool()
                    .install(|| chunk.par_iter().map(open).collect::<Result<Vec<_>>>())?,
            };
            opened.into_iter().for_each(|opened| plan.add(opened, &mut left));
        }
        plan.settle_missing(options.mode)?;
        plan.ntuples.iter_mut().for_each(|ntuple| ntuple.align(options.reclusters()));
        Ok(plan)
    }

    fn add(&mut self, (opened, properties): Opened, left: &mut OpenBudget) {
        let OpenedInput { mut file, ntuples, beside } = opened;
        let number = self.files.len();
        let mut kept = Vec::from_iter(ntuples.into_iter().map(|input: Input| left.keep(input)));
        if let Some(input) = kept.iter().flatten().next() {
            file.open_file = Some(input.file.clone());
        }
        let mut kept = kept.drain(..);
        for (part, opened) in file.ntuples.iter().zip(properties) {
            let known = self.ntuples.iter().position(|ntuple| ntuple.path == part.target);
            let index = known.unwrap_or_else(|| {
                self.ntuples.push(AllInputs::new(&part.target, &opened));
                self.ntuples.len() - 1
            });
            self.ntuples[index].add(number, opened, kept.next().flatten());
        }
        if number > 0 {
            self.others.extend(beside.objects);
            self.has_directories |= beside.has_directories;
        }
        self.cycles.extend(beside.cycles.into_iter().map(|cycle| (number, cycle)));
        self.files.push(file);
    }

    /// Decides what happens to an RNTuple that some inputs lack.
    fn settle_missing(&mut self, mode: Mode) -> Result<()> {
        let Self { files, ntuples, left_out, notes, before, .. } = self;
        let mut wrong = None;
        ntuples.retain(|ntuple| {
            let having = ntuple.inputs.iter().map(|input| input.number);
            let lacking = lacking(files, *before, having);
            let (Some(first), path) = (lacking.first(), &ntuple.path) else { return true };
            let names = listed(lacking.iter().map(|file| &*file.name));
            match mode {
                Mode::Strict => _ = wrong.get_or_insert_with(|| missing(first, ntuple, *before)),
                Mode::Union => notes.push(format!(
                    "RNTuple {path} is not in {names}: the output has the entries of the other inputs"
                )),
                Mode::Filter => left_out.push(Refused {
                    path: ntuple.inputs.first().map_or(path, |item| &item.report.ntuple).clone(),
                    class: NTUPLE.to_owned(),
                    reason: format!("it is not in {names}"),
                }),
            }
            mode != Mode::Filter
        });
        if ntuples.is_empty() && !left_out.is_empty() {
            wrong = Some(Error::invalid_argument("the inputs have no RNTuple in common"));
        }
        wrong.map_or(Ok(()), Err)
    }

    /// Returns whether more is merged than RNTuples. If only the first input has other objects, and no trees are
    /// among them, they are copied in their stored form.
    pub(super) fn has_objects(&self, options: &MergeOptions) -> bool {
        let more = self.has_trees || self.has_directories || !self.others.is_empty();
        let is_only_named = options.output.no_carry && self.has_named_ntuple();
        self.ntuples.is_empty() || more && !is_only_named || self.before > 0
    }

    /// Returns whether the first input names an RNTuple.
    fn has_named_ntuple(&self) -> bool {
        let named = self.named.as_ref();
        named.is_some_and(|named| self.ntuples.iter().any(|ntuple| ntuple.path == *named))
    }

    /// Returns a note on the objects of later inputs, if they are not merged. `trees` are merged.
    pub(super) fn note_on_others<'t>(
        &self,
        trees: impl Iterator<Item = &'t str>,
    ) -> Option<String> {
        let is_merged = |path: &&str| self.named.as_ref().is_none_or(|named| named == path);
        let trees: BTreeSet<&str> = trees.filter(is_merged).collect();
        let others = self.others.iter().map(String::as_str);
        let left: Vec<&str> = others.filter(|path| !trees.contains(path)).collect();
        let left = listed(left.into_iter());
        let which = if self.before == 0 { " after the first" } else { "" };
        (!left.is_empty()).then(|| format!("objects of the inputs{which} are left out: {left}"))
    }
}

fn with_properties(opened: OpenedInput) -> Result<Opened> {
    let all = opened.ntuples.iter().map(properties).collect::<Result<_>>()?;
    Ok((opened, all))
}

/// Returns the inputs except those with the numbers `having`. An output that grows may lack what the inputs have, and have
/// what all inputs lack.
pub(super) fn lacking(
    files: &[InputFile],
    before: usize,
    having: impl Iterator<Item = usize>,
) -> Vec<&InputFile> {
    let having: BTreeSet<usize> = having.filter(|&number| number >= before).collect();
    let inputs = files.iter().enumerate().skip(before).filter(|_| !having.is_empty());
    inputs.filter(|(number, _)| !having.contains(number)).map(|(_, file)| file).collect()
}

/// Returns the error for an RNTuple that a file lacks.
fn missing(file: &InputFile, ntuple: &AllInputs, before: usize) -> Error {
    let path = &ntuple.path;
    let tree = file.open().and_then(|file| file.find(path)).ok();
    let other = ntuple.inputs.iter().find(|input| input.number >= before);
    let other = other.map_or("", |input| &input.report.file);
    let message = match tree {
        Some(key) => {
            format!("{path} is a {} here, and an RNTuple in {other}: convert it first", key.class)
        }
        None => format!(
            "the file has no RNTuple {path}, and {other} has one: merge with union, which takes what each input has, \
             or with filter, which leaves it out; to merge RNTuples of different names into one, name each as FILE:PATH"
        ),
    };
    Error::invalid_argument(message).at(|place| place.file = Some(file.name.clone()))
}
