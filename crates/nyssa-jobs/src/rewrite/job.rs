//! Rewrites one RNTuple, or all RNTuples of a file.

use std::path::Path;

use nyssa_data::dataset::Format;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;

use super::ntuple::NTuple;
use super::options::RewriteOptions;
use super::report::RewriteReport;
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::job::report;
use crate::job::run::{self, Job};
use crate::open;

/// Rewrites the RNTuple at `path` (`dir/name` or `dir/name;cycle`) of `input` to this path of the new file `output`.
/// The file appears only when it is complete, and verified if the options request it.
///
/// # Errors
/// `NotFound` for the RNTuple and for globs that match nothing; `InvalidArgument` for options or an output that are
/// not allowed; `Unsupported` with a list of all fields that cannot be read; `Cancelled`; an error if the input is
/// damaged or cannot be read.
pub fn rewrite(
    input: &RootFile,
    path: &str,
    output: &Path,
    options: &RewriteOptions,
    context: &Context,
) -> Result<RewriteReport> {
    let mut reports = rewrite_paths(input, &[path.to_owned()], output, options, context)?;
    reports.pop().ok_or_else(|| Error::invalid_argument("nothing was rewritten"))
}

/// Rewrites every RNTuple of `input`, each to its path in `output`.
///
/// # Errors
/// `NotFound` if there is no RNTuple, and for globs that match nothing; `InvalidArgument` for options or an output
/// that are not allowed; `Unsupported` with a list of all fields that cannot be read; `Cancelled`; an error if the
/// input is damaged or cannot be read.
pub fn rewrite_all(
    input: &RootFile,
    output: &Path,
    options: &RewriteOptions,
    context: &Context,
) -> Result<Vec<RewriteReport>> {
    let paths = open::paths_of(input, Format::RNTuple)?;
    if options.output.name.is_some() && paths.len() > 1 {
        return Err(Error::invalid_argument(
            "one name cannot be given to all RNTuples of a file: each keeps its path",
        ));
    }
    rewrite_paths(input, &paths, output, options, context)
}

fn rewrite_paths(
    input: &RootFile,
    paths: &[String],
    output: &Path,
    options: &RewriteOptions,
    context: &Context,
) -> Result<Vec<RewriteReport>> {
    // All refusals happen before the output is created.
    Output::check(&[input.source().location()], output, options.output.force)?;
    let options = &options.settled()?;
    let mut ntuples = Vec::with_capacity(paths.len());
    for path in paths {
        let ntuple = NTuple::new(input, path, options, context);
        ntuples.push(ntuple.in_file(input.name()).in_object(path)?);
    }
    let written = paths.iter().map(|path| input.find(path)).collect::<Result<Vec<_>>>()?;
    let mut others = OtherObjects::plan(input)?;
    others.leave_cycles_to_job(&written, "was rewritten");
    let mut rewriting = Rewriting { input, ntuples, done: Vec::with_capacity(paths.len()) };
    let inputs = [input.source().location()];
    let finished = run::run(&mut rewriting, &inputs, output, others, &options.output, context)?;
    let mut done = rewriting.done;
    for report in &mut done {
        report::finish((&mut report.written, &mut report.reencoded), input, &finished);
    }
    Ok(done)
}

/// The RNTuples of one file.
struct Rewriting<'a> {
    input: &'a RootFile,
    ntuples: Vec<NTuple<'a>>,
    /// One report for each RNTuple that is written.
    done: Vec<RewriteReport>,
}

impl Job for Rewriting<'_> {
    type Abort = Error;

    fn write(&mut self, output: &Output, _: &mut OtherObjects) -> Result<()> {
        for ntuple in &self.ntuples {
            self.done.push(ntuple.write(self.input, output)?);
        }
        Ok(())
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        let mut all = self.ntuples.iter().zip(&mut self.done);
        all.try_for_each(|(ntuple, report)| ntuple.verify(written, report))
    }
}
