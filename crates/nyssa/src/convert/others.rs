//! What else is in the file of the trees: carried over into the output, or named with a reason.

use std::collections::HashSet;

use super::options::Options;
use super::report::Report;
use crate::Context;
use crate::dataset::Format;
use crate::error::{Kind, Result, ResultExt};
use crate::open::{self, TREE_CLASSES};
use crate::output::Output;
use crate::rewrite;
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::{Carry, Refused};

/// Why a tree stays behind that was not to be converted.
const NOT_ASKED: &str = "it was not asked for; all trees of a file can be converted together";

/// Everything in a file but the trees that are converted.
pub(super) struct Others {
    carry: Carry,
    /// RNTuples that are written again.
    ntuples: Vec<KeyEntry>,
    left_out: Vec<Refused>,
}

/// RNTuples that have been written again, to be verified.
pub(super) struct Rewritten<'a>(Vec<(rewrite::Job<'a>, rewrite::Report)>);

impl Others {
    /// Looks at all objects of `input` but the trees `converted`.
    ///
    /// # Errors
    /// As [`Carry::plan`].
    pub fn plan(input: &RootFile, converted: &[KeyEntry]) -> Result<Self> {
        let carry = Carry::plan(input, &[])?;
        let mut others = Self { carry, ntuples: Vec::new(), left_out: Vec::new() };
        let newest = open::datasets(input)?;
        let ntuple = |path: &str| {
            let found = newest.iter().find(|key| shown(key) == path)?;
            (open::format_of(found) == Some(Format::RNTuple)).then_some(found)
        };
        let done: HashSet<String> = converted.iter().map(shown).collect();
        for refused in others.carry.refused() {
            let path = refused.path.rsplit_once(';').map_or(&*refused.path, |(path, _)| path);
            let same_path = converted.iter().find(|key| key.path == path);
            if done.contains(&refused.path) {
                continue;
            }
            if let (Some(found), None) = (ntuple(&refused.path), same_path) {
                others.ntuples.push(found.clone());
                continue;
            }
            let mut refused = refused.clone();
            match same_path {
                Some(key) => refused.reason = format!("cycle {} of it was converted", key.cycle),
                None if TREE_CLASSES.contains(&&*refused.class) => {
                    NOT_ASKED.clone_into(&mut refused.reason)
                }
                None => (),
            }
            others.left_out.push(refused);
        }
        Ok(others)
    }

    /// Names a tree that cannot be converted.
    pub fn leave_out(&mut self, tree: &KeyEntry, reason: &str) {
        let (path, class) = (shown(tree), tree.class.clone());
        self.left_out.retain(|refused| refused.path != path);
        self.left_out.push(Refused { path, class, reason: reason.to_owned() });
    }

    /// Makes the directories of the input, so that they keep their titles.
    ///
    /// # Errors
    /// As [`Carry::write_directories`].
    pub fn make_directories(&self, target: &Output) -> Result<()> {
        target.file.with(|file| self.carry.write_directories(file))
    }

    /// Writes everything into `target`; what was carried over, and what was not, into the reports.
    ///
    /// # Errors
    /// As [`Carry::write`] and [`rewrite::rewrite`].
    pub fn write<'a>(
        mut self,
        input: &RootFile,
        target: &Output,
        options: &'a rewrite::Options,
        context: &'a Context,
        reports: &mut [Report],
    ) -> Result<Rewritten<'a>> {
        let mut carried = Vec::new();
        let mut jobs = Vec::new();
        for key in std::mem::take(&mut self.ntuples) {
            let path = shown(&key);
            let job = rewrite::Job::new(input, &path, options, context);
            match job.in_file(input.name()).in_object(&path) {
                Ok(job) => {
                    let report = job.write(input, target)?;
                    carried.push(named(&path, &key.class));
                    jobs.push((job, report));
                }
                Err(error) if error.kind() == Kind::Unsupported => {
                    self.leave_out(&key, error.message());
                }
                Err(error) => return Err(error),
            }
        }
        let late = target.file.carry(&self.carry)?;
        let refused: HashSet<&str> = late.iter().map(|refused| &*refused.path).collect();
        let objects = self.carry.objects().iter().filter(|key| !key.is_directory());
        let arrived = objects.filter(|key| !refused.contains(&*shown(key)));
        carried.extend(arrived.map(|key| named(&shown(key), &key.class)));
        let left_out: Vec<_> = self.left_out.iter().chain(&late).map(ToString::to_string).collect();
        for report in reports {
            report.carried.clone_from(&carried);
            report.left_out.clone_from(&left_out);
        }
        Ok(Rewritten(jobs))
    }

    /// Names everything in the reports; nothing is written.
    pub fn leave(&self, reports: &mut [Report]) {
        let objects = self.carry.objects().iter().filter(|key| !key.is_directory());
        let keys = self.ntuples.iter().chain(objects);
        let mut left_out: Vec<_> = self.left_out.iter().map(ToString::to_string).collect();
        left_out.extend(keys.map(|key| named(&shown(key), &key.class)));
        for report in reports {
            report.left_out.clone_from(&left_out);
        }
    }
}

impl Rewritten<'_> {
    /// Compares the RNTuples with those of the input.
    ///
    /// # Errors
    /// `OutOfSpecification` naming the first field that differs.
    pub fn verify(&mut self, file: &RootFile) -> Result<()> {
        self.0.iter_mut().try_for_each(|(job, report)| job.verify(file, report))
    }
}

/// How RNTuples beside the trees are written.
pub(super) fn ntuple_options(options: &Options) -> rewrite::Options {
    rewrite::Options {
        compression: options.compression,
        cluster_bytes: options.cluster_bytes,
        page_bytes: options.page_bytes,
        memory_budget: options.memory_budget,
        verify: options.verify,
        ..rewrite::Options::default()
    }
}

/// Path and cycle.
fn shown(key: &KeyEntry) -> String {
    format!("{};{}", key.path, key.cycle)
}

/// Path, cycle and class.
fn named(path: &str, class: &str) -> String {
    format!("{path} ({class})")
}
