//! Converts some RNTuples of a file.

use std::path::Path;

use super::tree::Tree;
use crate::Context;
use crate::convert::options::ConvertOptions;
use crate::convert::report::{ConvertReport, Skipped};
use crate::error::{Error, Result, ResultExt};
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::job::report;
use crate::job::run::{self, Job};
use crate::rootfile::RootFile;

/// Converts the RNTuples at `paths` of `input`, each to a tree of the same path in `output`. It starts again without
/// fields whose data are damaged, if the options allow that.
///
/// # Errors
/// The same as [`crate::convert::convert`].
pub(in crate::convert) fn convert_paths(
    input: &RootFile,
    paths: &[String],
    output: &Path,
    options: &ConvertOptions,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    let mut damaged = vec![Vec::new(); paths.len()];
    loop {
        let trees = plan(input, paths, &damaged, options, context)?;
        match attempt(input, &trees, output, options, context) {
            Err(error) if options.skip_unreadable && error.kind().is_damage() => {
                let mut found = false;
                for (tree, damaged) in trees.iter().zip(&mut damaged) {
                    let more = tree.damaged()?;
                    found |= !more.is_empty();
                    damaged.extend(more);
                }
                if !found {
                    return Err(error);
                }
            }
            done => return done,
        }
    }
}

/// Plans all trees. Everything that can be refused is refused here, before the output is touched.
fn plan<'a>(
    input: &RootFile,
    paths: &[String],
    damaged: &[Vec<Skipped>],
    options: &'a ConvertOptions,
    context: &'a Context,
) -> Result<Vec<Tree<'a>>> {
    options.output.validate()?;
    let all = paths.iter().zip(damaged);
    let tree = |(path, damaged): (&String, &Vec<Skipped>)| {
        let tree = Tree::new(input, path, damaged, options, context);
        tree.in_file(input.name()).in_object(path)
    };
    all.map(tree).collect()
}

fn attempt(
    input: &RootFile,
    trees: &[Tree<'_>],
    output: &Path,
    options: &ConvertOptions,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    let written: Vec<_> = trees.iter().map(Tree::name).collect();
    let others = OtherObjects::plan(input, &written)?;
    let mut conversion = Conversion { trees, done: Vec::with_capacity(trees.len()) };
    let names = [input.name()];
    let finished = run::run(&mut conversion, &names, output, others, &options.output, context)?;
    let mut done = conversion.done;
    for report in &mut done {
        report::finish((&mut report.written, &mut report.reencoded), input, &finished);
    }
    Ok(done)
}

/// The trees of one file.
struct Conversion<'a> {
    trees: &'a [Tree<'a>],
    /// One report for each tree that is written.
    done: Vec<ConvertReport>,
}

impl Job for Conversion<'_> {
    type Abort = Error;

    fn write(&mut self, output: &Output, _: &mut OtherObjects) -> Result<()> {
        for tree in self.trees {
            self.done.push(tree.write(output)?);
        }
        Ok(())
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        let mut all = self.trees.iter().zip(&mut self.done);
        all.try_for_each(|(tree, report)| tree.verify(written, report))
    }
}
