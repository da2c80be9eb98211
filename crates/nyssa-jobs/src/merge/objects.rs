//! Merges the objects beside the RNTuples, like `hadd`: trees are joined, histograms and other objects that several
//! inputs have are added up (`add`), and objects of classes that ROOT does not merge are all copied, with a cycle for
//! each content. An object that only one input has is copied.

mod joined_keys;

use std::collections::{HashMap, HashSet};

use joined_keys::JoinedKeys;
use nyssa_rntuple::format::checksum;
use nyssa_rntuple::read::CLASS as NTUPLE;
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::{ObjectCopy, Refused};

use super::add::{self, Fate};
use super::input_file::{InputFile, OtherCycle};
use super::other_cycles;
use super::pack::WithMemory;
use super::plan::Plan;
use super::processes::{Processes, of_input};
use super::report::MergedTreeReport;
use super::trees::{MergedTrees, Stuck};
use crate::job::others::{OtherObjects, path_of};
use crate::job::output::Output;
use crate::job::stopped::Stopped;

/// The advice if an object cannot be merged with the objects of other inputs.
pub(super) const WITHOUT: &str = "--skip-unsupported (skip_unsupported=True) leaves such objects out, \
                                  --no-carry (carry=False) merges without other objects";

/// The objects of all inputs that are added up, and the objects that are copied.
#[derive(Default)]
pub(super) struct MergedObjects {
    /// The sums: the number of the input with the key, and the bytes of the sum.
    sums: Vec<(usize, KeyEntry, Vec<u8>)>,
    /// The objects that are copied, with the numbers of their inputs, without objects that only the first input has.
    copies: Vec<(usize, KeyEntry)>,
    /// The objects that are left out.
    refused: Vec<Refused>,
    /// The reasons why objects cannot be beside the objects of earlier inputs, by the number of the input and the
    /// path.
    clashing: HashMap<(usize, String), String>,
    /// The objects of later inputs that are left out, because an earlier input has another object in their place.
    out_of_place: Vec<Refused>,
    /// The directories of later inputs.
    directories: Vec<KeyEntry>,
    /// The cycles that are not merged, with the numbers of their inputs.
    older: Vec<(usize, OtherCycle)>,
    /// The trees.
    pub trees: MergedTrees,
    /// The processes.
    pub processes: Processes,
    /// Remarks for people.
    pub notes: Vec<String>,
}

/// The selection of the objects that are merged.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// Whether only trees are merged.
    pub only_trees: bool,
    /// Whether objects that cannot be merged are left out instead of refused.
    pub skip_unsupported: bool,
}

/// The objects of one path.
struct Started {
    /// The inputs with their keys. For equal objects, only the first input is listed.
    parts: Vec<(usize, KeyEntry)>,
    /// The number of inputs with such an object.
    inputs: usize,
    state: Treatment,
}

/// The state of the merge of the objects of one path.
enum Treatment {
    Added(Box<add::Total>),
    /// All are copied. These are their contents.
    Copied(HashSet<(u16, u64)>),
    /// Two objects cannot be merged, for this reason.
    Single(String),
    /// They are left out, for this reason.
    LeftOut(String),
}

impl Started {
    /// Starts with the object of the first input that has it. `refusal` is the reason why it cannot be written.
    fn of(number: usize, file: &RootFile, key: KeyEntry, refusal: Option<&str>) -> Result<Self> {
        let infos = file.streamer_infos()?;
        let is_ntuple = key.class == NTUPLE;
        let refusal =
            refusal.or(is_ntuple.then_some("only the dataset that the input names is merged"));
        let state = match add::fate(&key.class, &infos) {
            _ if refusal.is_some() => Treatment::LeftOut(refusal.unwrap_or_default().to_owned()),
            Fate::Copied => Treatment::Copied([content(file, &key)?].into()),
            Fate::Refused => {
                Treatment::Single(format!("ROOT merges a {}, and nyssa cannot", key.class))
            }
            Fate::Added => match add::Total::of(file, &key) {
                Ok(total) => Treatment::Added(Box::new(total)),
                Err(error) if error.kind() == Kind::Unsupported => {
                    Treatment::Single(error.message().to_owned())
                }
                Err(error) => return Err(error).in_file(file.name()).in_object(&key.path),
            },
        };
        Ok(Self { parts: vec![(number, key)], inputs: 1, state })
    }

    /// Returns whether the objects are added up.
    fn is_added(&self) -> bool {
        matches!(self.state, Treatment::Added(_))
    }

    /// Adds the object of a later input. With `skip`, objects that cannot be merged are left out. `refusal` is the
    /// reason why the object cannot be written without change.
    fn add(
        &mut self,
        (number, file, key): (usize, &RootFile, KeyEntry),
        refusal: Option<&str>,
        skip: bool,
    ) -> Result<()> {
        self.inputs += 1;
        let added = match &mut self.state {
            Treatment::Copied(_) if let Some(reason) = refusal => Err(Error::unsupported(reason)),
            Treatment::Added(total) => total.add(file, &key),
            Treatment::Copied(known) => {
                if known.insert(content(file, &key)?) {
                    self.parts.push((number, key));
                }
                return Ok(());
            }
            Treatment::Single(reason) => Err(Error::unsupported(reason.clone())),
            Treatment::LeftOut(_) => return Ok(()),
        };
        let Err(error) = added else { return Ok(()) };
        let class = key.class.clone();
        let error = match error.kind() {
            Kind::InvalidArgument | Kind::Unsupported if skip => {
                let reason = format!("{} (in {})", error.message(), file.name());
                self.state = Treatment::LeftOut(reason);
                return Ok(());
            }
            Kind::InvalidArgument | Kind::Unsupported => error.map_message(|it| {
                format!("this {class} cannot be added to the other inputs: {it}; {WITHOUT}")
            }),
            _ => error,
        };
        Err(error).in_file(file.name()).in_object(&key.path)
    }
}

fn refused(key: &KeyEntry, reason: String) -> Refused {
    Refused { path: path_of(key), class: key.class.clone(), reason }
}

/// Returns the identity of the content of an object: the size of its key, from which references count, and a
/// checksum.
fn content(file: &RootFile, key: &KeyEntry) -> Result<(u16, u64)> {
    let payload = file.payload(key).in_file(file.name()).in_object(&key.path)?;
    Ok((key.keylen, checksum(&payload)))
}

impl MergedObjects {
    /// Merges the objects of all inputs by `choice`.
    ///
    /// # Errors
    /// `InvalidArgument` and `Unsupported` with file and object for objects and trees that cannot be merged;
    /// `Cancelled`; an error if an input is damaged or cannot be read.
    pub(super) fn of(plan: &Plan, choice: Choice, context: &Context) -> Result<Self> {
        let files = &plan.files;
        let mut joined = JoinedKeys::new(plan, choice);
        for (number, file) in files.iter().enumerate() {
            context.check()?;
            joined.input(number, file)?;
        }
        let JoinedKeys { mut merged, started, .. } = joined;
        started.into_values().try_for_each(|started| merged.settle(started, files, choice))?;
        merged.settle_cycles(choice);
        merged.directories.sort_by(|item, other| item.path.cmp(&other.path));
        Ok(merged)
    }

    /// Decides which cycles are reported as left out. All cycles of objects that only the first input has are copied.
    fn settle_cycles(&mut self, choice: Choice) {
        let left: HashSet<_> = self.refused.iter().map(Refused::without_cycle).collect();
        let trees: HashSet<_> = self.trees.paths().collect();
        let own = self.sums.iter().map(|(_, key, _)| &*key.path);
        let own: HashSet<_> = own.chain(self.copies.iter().map(|(_, key)| &*key.path)).collect();
        self.older.retain_mut(|(number, item)| {
            let path = &*item.target;
            item.is_refused = left.contains(path);
            let is_tree = trees.contains(path);
            is_tree || !choice.only_trees && (*number > 0 || own.contains(path) || item.is_refused)
        });
    }

    /// Decides which objects are written for one path.
    fn settle(&mut self, started: Started, files: &[InputFile], choice: Choice) -> Result<()> {
        let Started { mut parts, inputs, state } = started;
        for (number, key) in &parts {
            let Some(reason) = self.clashing.get(&(*number, key.path.clone())).cloned() else {
                continue;
            };
            let file = files.get(*number).map_or("", |file| &file.name);
            if !choice.skip_unsupported {
                return Err(Error::unsupported(format!("{reason}; {WITHOUT}")))
                    .in_file(file)
                    .in_object(&key.path);
            }
            self.leave_out(key, format!("{reason} (in {file})"));
        }
        let all = parts.len();
        parts.retain(|(number, key)| !self.clashing.contains_key(&(*number, key.path.clone())));
        let (number, mut key) = match &parts[..] {
            [] => return Ok(()),
            [first, ..] => first.clone(),
        };
        match state {
            Treatment::LeftOut(reason) => self.leave_out(&key, reason),
            Treatment::Added(total) if inputs > 1 => match total.object.finish(key.keylen.into()) {
                Ok(payload) => {
                    if let Some(title) = total.title {
                        key.title = title.into();
                    }
                    self.sums.push((number, key, payload));
                }
                Err(error) if choice.skip_unsupported && error.kind() == Kind::Unsupported => {
                    self.leave_out(&key, error.message().to_owned());
                }
                Err(error) => {
                    let file = files.get(number).map_or("", |file| &file.name);
                    return Err(error.map_message(|it| format!("{it}; {WITHOUT}")))
                        .in_file(file)
                        .in_object(&key.path);
                }
            },
            // The first input's objects are copied in their stored form.
            _ if all == 1 && number == 0 => {}
            _ => {
                if parts.len() > 1 {
                    self.notes.push(format!(
                        "{} ({}): ROOT merges no such objects: the {} that differ are kept, each with a cycle of its own",
                        key.path,
                        key.class,
                        parts.len()
                    ));
                }
                self.copies.append(&mut parts);
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, key: &KeyEntry, reason: String) {
        self.refused.push(refused(key, reason));
    }

    /// Writes the trees, the sums and the copies. Returns a report on each tree. `settings` are the compression, and what is
    /// wanted for the baskets of trees with the memory for it.
    ///
    /// # Errors
    /// Returns the path of a tree whose entries cannot be cut; an error if an input cannot be read or the output cannot be written.
    pub(super) fn write(
        self,
        files: &[InputFile],
        output: &Output,
        others: &mut OtherObjects,
        (settings, stuck): ((Compression, Option<WithMemory<'_>>), &Stuck),
        context: &Context,
    ) -> std::result::Result<Vec<MergedTreeReport>, Stopped> {
        let Self {
            sums, copies, refused, out_of_place, directories, older, trees, processes, ..
        } = self;
        let copied = copies.iter().map(|(_, key)| &*key.path);
        let left = refused.iter().map(Refused::without_cycle);
        let own = sums.iter().map(|(_, key, _)| &*key.path).chain(trees.paths());
        others.leave_to_job(&own.chain(copied).chain(left).collect::<HashSet<_>>());
        other_cycles::name(&older, files, others);
        output.file.with(|out| {
            directories.iter().try_for_each(|directory| {
                out.make_titled_directory(
                    &directory.path,
                    directory.title.as_ref(),
                    directory.datime,
                )
            })
        })?;
        if !trees.is_empty() {
            others.keep_processes();
        }
        // Objects with references are copied only if their processes keep their numbers.
        let refers = |number: &usize| of_input(processes.numbers(), *number).are_kept();
        let copied = copies.iter().map(|(number, _)| *number).filter(refers);
        let needed = trees.inputs().chain(copied).collect();
        processes.write(files, output, others, &needed)?;
        let inputs = (files, processes.numbers());
        let trees = trees.write(inputs, output, settings, stuck, context)?;
        // Objects of later inputs were compared with the classes of the first input.
        if let Some(first) = files.first().filter(|_| !copies.is_empty()) {
            output.file.add_streamer_infos(&first.open()?.streamer_list()?)?;
        }
        for (number, input) in files.iter().enumerate() {
            let mut now = sums.iter().filter(|item| item.0 == number).peekable();
            let mut copied = copies.iter().filter(|copy| copy.0 == number).peekable();
            if now.peek().is_none() && copied.peek().is_none() {
                continue;
            }
            let file = input.open()?;
            for (_, key, payload) in now {
                let payload = payload.clone();
                output.file.with(|out| ObjectCopy::write_changed(&file, key, payload, out))?;
                others.arrived(key);
            }
            output.file.add_streamer_infos(&file.streamer_list()?)?;
            for (_, key) in copied {
                match output.file.copy_object(&key.path, &file, key) {
                    Ok(()) => others.arrived(key),
                    Err(error) if error.kind() == Kind::Unsupported => {
                        others.leave_out(key, error.message());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        refused.into_iter().chain(out_of_place).for_each(|item| others.refuse(item));
        Ok(trees)
    }
}
