//! Rewrites one RNTuple or TTree, or all of a file.

use std::path::Path;

use nyssa_data::dataset::Format;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};

use super::ntuple::NTuple;
use super::options::RewriteOptions;
use super::report::RewriteReport;
use super::tree::Tree;
use crate::job::others::{OtherObjects, reason};
use crate::job::output::Output;
use crate::job::report;
use crate::job::run::{self, Job};
use crate::open;

/// Rewrites the RNTuple or TTree at `path` (`dir/name` or `dir/name;cycle`) of `input` to this path of the new file
/// `output`. The file appears only when it is complete, and verified if the options request it.
///
/// # Errors
/// `NotFound` for the dataset and for globs that match nothing; `InvalidArgument` for options or an output that are
/// not allowed; `Unsupported` with a list of all fields that cannot be read, or with the branch whose entries cannot be
/// taken apart; `Cancelled`; an error if the input is damaged or cannot be read.
pub fn rewrite(
    input: &RootFile,
    path: &str,
    output: &Path,
    options: &RewriteOptions,
    context: &Context,
) -> Result<RewriteReport> {
    let key = open::find_dataset(input, Some(path))?;
    let mut reports =
        rewrite_keys(input, vec![(key, path.to_owned())], true, output, options, context)?;
    reports.pop().ok_or_else(|| Error::invalid_argument("nothing was rewritten"))
}

/// Rewrites every RNTuple and every TTree of `input`, each to its path in `output`. A TTree that cannot be taken apart is
/// left out, with the reason in the report, if there is another dataset.
///
/// # Errors
/// `NotFound` if there is no dataset, and for globs that match nothing; `InvalidArgument` for options or an output
/// that are not allowed; `Unsupported` with a list of all fields that cannot be read; `Cancelled`; an error if the
/// input is damaged or cannot be read.
pub fn rewrite_all(
    input: &RootFile,
    output: &Path,
    options: &RewriteOptions,
    context: &Context,
) -> Result<Vec<RewriteReport>> {
    let keys = open::datasets(input)?;
    if keys.is_empty() {
        return Err(Error::not_found("the file has no RNTuple and no TTree")).in_file(input.name());
    }
    if options.output.name.is_some() && keys.len() > 1 {
        return Err(Error::invalid_argument(
            "one name cannot be given to all RNTuples and TTrees of a file: each keeps its path",
        ));
    }
    let only = keys.len() == 1;
    let named = |key: KeyEntry| (open::path_of(input, &key), key);
    let keys = keys.into_iter().map(named).map(|(path, key)| (key, path)).collect();
    rewrite_keys(input, keys, only, output, options, context)
}

/// Rewrites the datasets of keys, which have paths for reports. With `strict`, each of them must be rewritten.
fn rewrite_keys(
    input: &RootFile,
    keys: Vec<(KeyEntry, String)>,
    strict: bool,
    output: &Path,
    given: &RewriteOptions,
    context: &Context,
) -> Result<Vec<RewriteReport>> {
    // All refusals happen before the output is created.
    Output::check(&[input.source().location()], output, given.output.force)?;
    let options = given.settled()?;
    let has = |format| keys.iter().any(|(key, _)| open::format_of(key) == Some(format));
    given.check_formats(has(Format::RNTuple), has(Format::TTree))?;
    let mut others = OtherObjects::plan(input)?;
    let (mut datasets, mut written, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (key, path) in keys {
        let planned = match open::format_of(&key) {
            Some(Format::TTree) => Tree::new(input, (key.clone(), &path), given, context)
                .map(|tree| Rewritten::Tree(Box::new(tree))),
            _ => NTuple::new(input, &path, &options, context)
                .map(|ntuple| Rewritten::NTuple(Box::new(ntuple))),
        };
        match planned.in_file(input.name()).in_object(&path) {
            Ok(planned) => {
                datasets.push(planned);
                written.push(key);
            }
            Err(error) if !strict && is_tree(&key) && error.kind() == Kind::Unsupported => {
                left_out.push((key, error));
            }
            Err(error) => return Err(error),
        }
    }
    if let Some((_, error)) = left_out.pop_if(|_| datasets.is_empty()) {
        return Err(error);
    }
    others.leave_cycles_to_job(&written, "was rewritten");
    left_out.iter().for_each(|(key, error)| others.leave_out(key, &reason(error)));
    let mut rewriting = Rewriting { input, datasets, done: Vec::new() };
    let inputs = [input.source().location()];
    let finished = run::run(&mut rewriting, &inputs, output, others, &options.output, context)?;
    let mut done = rewriting.done;
    for report in &mut done {
        report::finish((&mut report.written, &mut report.reencoded), input, &finished);
    }
    Ok(done)
}

fn is_tree(key: &KeyEntry) -> bool {
    open::format_of(key) == Some(Format::TTree)
}

/// A dataset that is rewritten.
enum Rewritten<'a> {
    NTuple(Box<NTuple<'a>>),
    Tree(Box<Tree<'a>>),
}

/// The datasets of one file.
struct Rewriting<'a> {
    input: &'a RootFile,
    datasets: Vec<Rewritten<'a>>,
    /// One report for each dataset that is written.
    done: Vec<RewriteReport>,
}

impl Job for Rewriting<'_> {
    type Abort = Error;

    fn write(&mut self, output: &Output, _: &mut OtherObjects) -> Result<()> {
        for dataset in &mut self.datasets {
            self.done.push(match dataset {
                Rewritten::NTuple(ntuple) => ntuple.write(self.input, output)?,
                Rewritten::Tree(tree) => tree.write(self.input, output)?,
            });
        }
        Ok(())
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        let mut all = self.datasets.iter().zip(&mut self.done);
        all.try_for_each(|(dataset, report)| match dataset {
            Rewritten::NTuple(ntuple) => ntuple.verify(written, report),
            Rewritten::Tree(tree) => tree.verify(self.input, written, report),
        })
    }
}
