//! Rewrites one RNTuple or TTree, or all of a file.

use std::collections::BTreeMap;
use std::path::Path;

use nyssa_data::dataset::Format;
use nyssa_rntuple::read::Reader;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};

use super::ntuple::NTuple;
use super::options::RewriteOptions;
use super::report::RewriteReport;
use super::tree::Tree;
use crate::job::globs::{self, Globs};
use crate::job::others::{OtherObjects, reason};
use crate::job::output::Output;
use crate::job::run::{self, Job};
use crate::job::stopped::Stopped;
use crate::job::{OutputOptions, report};
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

/// Rewrites every RNTuple and every TTree of `input`, each to its path in `output`. The baskets of a TTree that cannot
/// be taken apart are moved as they are, with a note. If its entries change, it is left out, with the reason in the
/// report, if there is another dataset.
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
    let named = |key: KeyEntry| (open::path_of(input, &key), key);
    let keys = keys.into_iter().map(named).map(|(path, key)| (key, path)).collect();
    rewrite_keys(input, keys, false, output, options, context)
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
    let settled = given.settled()?;
    let has = |format| keys.iter().any(|(key, _)| open::format_of(key) == Some(format));
    given.check_formats(has(Format::RNTuple), has(Format::TTree))?;
    let narrowed = of_each(input, &keys, given, context)?;
    let with = |of: &RewriteOptions, (include, exclude): &Globs| RewriteOptions {
        include: include.clone(),
        exclude: exclude.clone(),
        ..of.clone()
    };
    let mut options: Vec<_> = narrowed
        .iter()
        .map(|globs| globs.as_ref().map(|globs| (with(given, globs), with(&settled, globs))))
        .collect();
    drop_unmatched(input, &keys, &mut options)?;
    let output_options = &settled.output;
    let attempt =
        Attempt { input, keys: &keys, strict, options: &options, output_options, context };
    // Whether entries can be cut is known only when they are cut. If not, the output is written once more.
    let mut stuck = Stuck::default();
    loop {
        match attempt.run(output, &stuck) {
            Ok(done) => return Ok(done),
            Err(Stopped::AtTree(path, error)) if !strict && stuck.is_new(&path, &error) => {
                stuck.add(path, &error);
            }
            Err(Stopped::AtTree(_, error) | Stopped::Otherwise(error)) => return Err(error),
        }
    }
}

/// Returns the globs that concern each dataset.
fn of_each(
    input: &RootFile,
    keys: &[(KeyEntry, String)],
    given: &RewriteOptions,
    context: &Context,
) -> Result<Vec<Option<Globs>>> {
    let probe = |(key, path): &(KeyEntry, String), glob: &str| {
        let options = RewriteOptions {
            include: vec![glob.to_owned()],
            split: given.split.clone(),
            ..RewriteOptions::default()
        };
        let opened = match is_tree(key) {
            true => Tree::new(input, (key.clone(), path), None, &options, context).map(drop),
            false => NTuple::new(input, path, &options, context).map(drop),
        };
        opened.in_file(input.name()).in_object(path)
    };
    globs::of_each(keys, (&given.include, &given.exclude), probe)
}

/// Drops the options of fields that match nothing in an RNTuple.
fn drop_unmatched(
    input: &RootFile,
    keys: &[(KeyEntry, String)],
    options: &mut [Option<(RewriteOptions, RewriteOptions)>],
) -> Result<()> {
    let datasets = keys.iter().zip(options).filter(|((key, _), _)| !is_tree(key));
    let taken = datasets.filter_map(|(key, of)| Some((key, of.as_mut()?)));
    // Only options need the schemas.
    let mut taken: Vec<_> =
        taken.filter(|(_, (_, settled))| !settled.storage.field_options.is_empty()).collect();
    if taken.len() < 2 {
        return Ok(());
    }
    let open = |((_, path), _): &(&(KeyEntry, String), _)| Reader::open(input, path);
    let readers = taken.iter().map(open).collect::<Result<Vec<_>>>().in_file(input.name())?;
    let with_schema = readers
        .iter()
        .zip(&mut taken)
        .map(|(reader, (_, (_, settled)))| (reader.schema(), &mut settled.storage.field_options));
    globs::drop_unmatched(&mut with_schema.collect::<Vec<_>>()).in_file(input.name())
}

/// The trees whose entries cannot be cut, by path and cycle, with the reasons.
#[derive(Default)]
struct Stuck(BTreeMap<String, (String, Baskets)>);

impl Stuck {
    /// Returns whether another way is left to write the rest of the file.
    fn is_new(&self, path: &str, error: &Error) -> bool {
        let known = self.0.get(path).map(|(_, baskets)| baskets);
        error.kind() == Kind::Unsupported && known != Some(&Baskets::LeftOut)
    }

    /// The baskets of a tree are moved as they are. If that has failed, too, the tree is left out.
    fn add(&mut self, path: String, error: &Error) {
        let next = if self.0.contains_key(&path) { Baskets::LeftOut } else { Baskets::AsStored };
        self.0.insert(path, (reason(error), next));
    }
}

/// The action on the baskets of a tree whose entries cannot be cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Baskets {
    AsStored,
    LeftOut,
}

/// One attempt to rewrite a file.
struct Attempt<'a> {
    input: &'a RootFile,
    keys: &'a [(KeyEntry, String)],
    strict: bool,
    output_options: &'a OutputOptions,
    /// The options for each dataset as they are given, and settled. `None` leaves a dataset out.
    options: &'a [Option<(RewriteOptions, RewriteOptions)>],
    context: &'a Context,
}

impl Attempt<'_> {
    fn run(
        &self,
        output: &Path,
        stuck: &Stuck,
    ) -> std::result::Result<Vec<RewriteReport>, Stopped> {
        let Self { input, output_options, context, .. } = *self;
        let mut others = OtherObjects::plan(input)?;
        let (mut datasets, mut written, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut unmatched = Vec::new();
        for ((key, path), options) in self.keys.iter().zip(self.options) {
            let Some(options) = options else {
                unmatched.push(key);
                continue;
            };
            match self.plan((key, path), options, stuck).in_file(input.name()).in_object(path) {
                Ok(planned) => {
                    datasets.push(planned);
                    written.push(key.clone());
                }
                Err(error) if !self.strict && is_tree(key) && error.kind() == Kind::Unsupported => {
                    left_out.push((key, error));
                }
                Err(error) => return Err(self.with_hint(error).into()),
            }
        }
        if let Some((_, error)) = left_out.pop_if(|_| datasets.is_empty()) {
            return Err(error.into());
        }
        require_matches(&datasets, self.options).in_file(input.name())?;
        others.leave_cycles_to_job(&written, "was rewritten");
        left_out.iter().for_each(|(key, error)| others.leave_out(key, &reason(error)));
        unmatched.iter().for_each(|key| others.leave_out(key, globs::NO_MATCH));
        let mut rewriting = Rewriting { input, datasets, done: Vec::new() };
        let inputs = [input.source().location()];
        let finished = run::run(&mut rewriting, &inputs, output, others, output_options, context)?;
        let mut done = rewriting.done;
        for report in &mut done {
            report::finish((&mut report.written, &mut report.reencoded), input, &finished);
        }
        Ok(done)
    }

    /// Says that a cut is for all datasets of a file, if it does not fit one of them.
    fn with_hint(&self, error: Error) -> Error {
        let has_cut = self.options.iter().flatten().any(|(given, _)| given.cut.is_some());
        let count = self.keys.len();
        match error.kind() {
            Kind::NotFound | Kind::InvalidArgument if has_cut && count > 1 => {
                error.map_message(|text| {
                    format!(
                        "{text}; the cut is for each of the {count} datasets of the file: name one of them, FILE:PATH"
                    )
                })
            }
            _ => error,
        }
    }

    fn plan<'o>(
        &'o self,
        (key, path): (&KeyEntry, &str),
        (given, options): &'o (RewriteOptions, RewriteOptions),
        stuck: &Stuck,
    ) -> Result<Rewritten<'o>> {
        let Self { input, context, .. } = *self;
        if !is_tree(key) {
            let ntuple = NTuple::new(input, path, options, context)?;
            return Ok(Rewritten::NTuple(Box::new(ntuple)));
        }
        let as_stored = match stuck.0.get(path) {
            Some((reason, Baskets::LeftOut)) => return Err(Error::unsupported(reason.clone())),
            Some((reason, Baskets::AsStored)) => Some(reason.as_str()),
            None => None,
        };
        let new = |as_stored| Tree::new(input, (key.clone(), path), as_stored, given, context);
        let tree = match new(as_stored) {
            Err(error) if !self.strict && error.kind() == Kind::Unsupported => {
                new(Some(&reason(&error))).map_err(|_| error)?
            }
            tree => tree?,
        };
        Ok(Rewritten::Tree(Box::new(tree)))
    }
}

/// Checks that each glob of options of branches matches a branch of one of the trees.
fn require_matches(
    datasets: &[Rewritten<'_>],
    options: &[Option<(RewriteOptions, RewriteOptions)>],
) -> Result<()> {
    let trees = datasets.iter().filter_map(|dataset| match dataset {
        Rewritten::Tree(tree) => Some(tree),
        Rewritten::NTuple(_) => None,
    });
    let branches: Vec<&str> = trees.flat_map(|tree| tree.branches()).collect();
    let given = options.iter().flatten().next();
    given.map_or(Ok(()), |(given, _)| given.baskets.require_matches(&branches))
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
    type Abort = Stopped;

    fn write(
        &mut self,
        output: &Output,
        others: &mut OtherObjects,
    ) -> std::result::Result<(), Stopped> {
        if self.datasets.iter().any(|dataset| matches!(dataset, Rewritten::Tree(_))) {
            others.keep_processes();
        }
        for dataset in &mut self.datasets {
            self.done.push(match dataset {
                Rewritten::NTuple(ntuple) => ntuple.write(self.input, output)?,
                Rewritten::Tree(tree) => {
                    let report = tree.write(self.input, output);
                    report.map_err(|error| Stopped::AtTree(tree.source().to_owned(), error))?
                }
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
