//! Converts one dataset, or all datasets of a file.

use std::path::Path;

use nyssa_data::dataset::{Dataset, check_patterns};
use nyssa_rntuple::schema;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_ttree::Reader;

use super::failures::Failures;
use super::options::{ConvertOptions, To};
use super::others::{self, Rewritten, ntuple_options, rewrite_all};
use super::report::ConvertReport;
use super::to_tree;
use super::tree::Tree;
use super::work::Abort;
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::job::report;
use crate::job::run::{self, Job};
use crate::open;
use crate::rewrite;

/// Converts the tree at `path` (`dir/name` or `dir/name;cycle`) of `input` to an RNTuple at this path of the new file
/// `output`; or an RNTuple to a tree, if [`ConvertOptions::to`] requests it. The file appears only when it is
/// complete, and verified if the options request it.
///
/// # Errors
/// `NotFound` for the input; `InvalidArgument` for options or an output that are not allowed; `Unsupported` with a
/// list of all branches or fields that cannot be converted; `Cancelled`; an error if the input is damaged or cannot
/// be read.
pub fn convert(
    input: &RootFile,
    path: &str,
    output: &Path,
    options: &ConvertOptions,
    context: &Context,
) -> Result<ConvertReport> {
    let mut reports = convert_paths(input, &[path.to_owned()], output, options, context)?;
    reports.pop().ok_or_else(|| Error::invalid_argument("nothing was converted"))
}

/// Converts every tree of `input`, each to an RNTuple of its path in `output`; or every RNTuple.
///
/// # Errors
/// `NotFound` if there is no such dataset; `InvalidArgument` for options or an output that are not allowed, and for a
/// name in the options; `Unsupported` with a list of all branches or fields that cannot be converted; `Cancelled`; an
/// error if the input is damaged or cannot be read.
pub fn convert_all(
    input: &RootFile,
    output: &Path,
    options: &ConvertOptions,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    if options.output.name.is_some() {
        return Err(Error::invalid_argument(
            "one name cannot be given to all datasets of a file: each keeps its path",
        ));
    }
    let paths = open::paths_of(input, options.to.input())?;
    convert_paths(input, &paths, output, options, context)
}

/// Returns the path of the only dataset of `input` that can be converted to `to`. If there is none, returns the path
/// of the only dataset that already has the format, which [`convert`] refuses with the reason.
///
/// # Errors
/// `NotFound` if there is none; `InvalidArgument` with their names if there are several; `Io`.
pub fn only_input(input: &RootFile, to: To) -> Result<String> {
    let found = match open::only_dataset(input, Some(to.input())) {
        Err(error) if error.kind() == Kind::NotFound => {
            open::only_dataset(input, Some(to.output())).map_err(|_| error)
        }
        found => found,
    };
    Ok(found?.path)
}

/// Starts again each time the data of a branch show that it must be left out or stored in another way.
fn convert_paths(
    input: &RootFile,
    paths: &[String],
    output: &Path,
    options: &ConvertOptions,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    Output::check(&[input.source().location()], output, options.output.force)?;
    options.check_format()?;
    paths.iter().try_for_each(|path| check_input(input, path, options.to))?;
    if options.to == To::TTree {
        return to_tree::convert_paths(input, paths, output, options, context);
    }
    let options = &options.settled()?;
    let mut failures = vec![Failures::default(); paths.len()];
    loop {
        match attempt(input, paths, output, options, context, &mut failures)? {
            Some(reports) => return Ok(reports),
            None => context.check()?,
        }
    }
}

/// Refuses an input that already has the format of the output.
fn check_input(input: &RootFile, path: &str, to: To) -> Result<()> {
    let key = input.find(path)?;
    if open::format_of(&key) != Some(to.output()) {
        return Ok(());
    }
    let message = match to {
        To::RNTuple => {
            "it is an RNTuple already: `to=ttree` makes a TTree of it, and rewrite writes \
                        it again with other options"
        }
        To::TTree => "it is a TTree already; without `to=ttree`, it becomes an RNTuple",
    };
    Err(Error::invalid_argument(message)).in_file(input.name()).in_object(path)
}

/// Converts all trees. It returns `None` if branches failed and were added to `failures`.
fn attempt(
    input: &RootFile,
    paths: &[String],
    output: &Path,
    options: &ConvertOptions,
    context: &Context,
    failures: &mut [Failures],
) -> Result<Option<Vec<ConvertReport>>> {
    // All refusals happen before the output is created.
    options.output.validate()?;
    let filter = options.filter()?;
    let keys = paths.iter().map(|path| input.find(path)).collect::<Result<Vec<_>>>()?;
    let (mut ntuples, mut others) = others::plan(input, &keys, To::RNTuple)?;
    let mut none_left = None;
    let mut readers = Vec::with_capacity(paths.len());
    for ((path, key), failures) in paths.iter().zip(&keys).zip(failures) {
        match check_name(path, options).and_then(|()| Reader::open(input, path)) {
            // Other trees can still be converted.
            Err(error) if keys.len() > 1 && options.skip_unsupported && is_unsupported(&error) => {
                others.leave_out(key, error.message());
                none_left.get_or_insert(error);
            }
            reader => {
                let reader = reader.in_file(input.name()).in_object(path)?.reading_ahead();
                let members = failures.members();
                let reader = if members.is_empty() { reader } else { reader.without(members) };
                readers.push((key, reader, failures));
            }
        }
    }
    let names: Vec<_> = readers.iter().flat_map(|(_, reader, _)| reader.columns()).collect();
    let names: Vec<_> = names.iter().map(|column| column.name.as_str()).collect();
    check_patterns(&options.include, &names).in_file(input.name())?;
    check_patterns(&options.exclude, &names).in_file(input.name())?;
    let mut trees = Vec::with_capacity(readers.len());
    for (key, reader, failures) in &mut readers {
        match Tree::new(input, reader, &filter, options, failures, context) {
            // No branch of this tree is left, but other trees can still be converted.
            Err(error) if keys.len() > 1 && error.kind() == Kind::InvalidArgument => {
                others.leave_out(key, error.message());
                none_left.get_or_insert(error);
            }
            tree => {
                let mut tree = tree?;
                tree.note_all(match reader.relations() {
                    Ok(relations) => relations.left_out(),
                    Err(error) => vec![format!("aliases and friends: {}", error.message())],
                });
                trees.push(tree);
            }
        }
    }
    if let (true, Some(error)) = (trees.is_empty(), none_left) {
        return Err(error);
    }
    if !options.output.carry {
        ntuples.iter().for_each(|key| others.leave_behind(key));
        ntuples.clear();
    }
    let ntuple_options = ntuple_options(options);
    let mut conversion = Conversion {
        input,
        trees,
        ntuples,
        ntuple_options: &ntuple_options,
        context,
        done: Vec::new(),
        rewritten: Rewritten::default(),
    };
    let inputs = [input.source().location()];
    let finished =
        match run::run(&mut conversion, &inputs, output, others, &options.output, context) {
            Ok(finished) => finished,
            Err(Abort::Error(error)) => return Err(error),
            Err(Abort::Units(_)) => return Ok(None),
        };
    let mut done = conversion.done;
    for report in &mut done {
        report::finish((&mut report.written, &mut report.reencoded), input, &finished);
    }
    Ok(Some(done))
}

/// Refuses a tree whose name no RNTuple can have, if the options give no other name.
fn check_name(path: &str, options: &ConvertOptions) -> Result<()> {
    let path = path.split(';').next().unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    if options.output.name.is_some() {
        return Ok(());
    }
    schema::check_name("an RNTuple", name).map_err(|error| {
        Error::unsupported(format!("{}; --name (name=) gives it another", error.message()))
    })
}

fn is_unsupported(error: &Error) -> bool {
    error.kind() == Kind::Unsupported
}

/// The trees that are converted, and the RNTuples that are rewritten.
struct Conversion<'a> {
    input: &'a RootFile,
    trees: Vec<Tree<'a>>,
    /// The RNTuples of the input, which are rewritten.
    ntuples: Vec<KeyEntry>,
    ntuple_options: &'a rewrite::RewriteOptions,
    context: &'a Context,
    /// One report for each tree that is written.
    done: Vec<ConvertReport>,
    rewritten: Rewritten<'a>,
}

impl Job for Conversion<'_> {
    type Abort = Abort;

    fn write(
        &mut self,
        output: &Output,
        others: &mut OtherObjects,
    ) -> std::result::Result<(), Abort> {
        for tree in &mut self.trees {
            let report = tree.write(output).map_err(|stop| match stop {
                Abort::Error(error) => Abort::Error(tree.place(error)),
                Abort::Units(failed) => match tree.note(failed) {
                    Ok(()) => Abort::Units(std::collections::BTreeMap::new()),
                    Err(error) => Abort::Error(tree.place(error)),
                },
            });
            self.done.push(report?);
        }
        let (options, context) = (self.ntuple_options, self.context);
        self.rewritten = rewrite_all(&self.ntuples, self.input, output, options, context, others)?;
        Ok(())
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        for (tree, report) in self.trees.iter().zip(&mut self.done) {
            tree.verify(written, report)?;
        }
        self.rewritten.verify(written)
    }
}
