//! Converts some RNTuples of a file.

use std::path::Path;

use nyssa_rntuple::write::check_memory;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};

use super::other_trees::CopiedTrees;
use super::tree::Tree;
use crate::convert::direction::Direction;
use crate::convert::options::{InputOptions, To, ToTTree};
use crate::convert::others;
use crate::convert::report::{ConvertReport, Skipped};
use crate::job::globs::{self, Globs};
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::job::report;
use crate::job::run::{self, Job};
use crate::job::{BasketOptions, OutputOptions};

impl Direction for ToTTree {
    const TO: To = To::TTree;

    fn input(&self) -> &InputOptions {
        &self.input
    }

    fn input_mut(&mut self) -> &mut InputOptions {
        &mut self.input
    }

    fn output(&self) -> &OutputOptions {
        &self.output
    }

    fn output_mut(&mut self) -> &mut OutputOptions {
        &mut self.output
    }

    fn baskets(&self) -> Option<&BasketOptions> {
        Some(&self.baskets)
    }

    fn settled(&self) -> Result<Self> {
        let mut settled = self.clone();
        settled.output.settle();
        settled.output.memory.map_or(Ok(()), check_memory)?;
        settled.output.memory = Some(settled.output.memory());
        settled.baskets.validate()?;
        Ok(settled)
    }

    /// Starts again without fields whose data are damaged, if the options allow that.
    fn convert_paths(
        &self,
        input: &RootFile,
        paths: &[String],
        output: &Path,
        context: &Context,
    ) -> Result<Vec<ConvertReport>> {
        let mut damaged = vec![Vec::new(); paths.len()];
        let probe = |path: &String, glob: &str| {
            let (split_level, open_classes) = (self.split_level, self.open_classes);
            let mut probed = Self { split_level, open_classes, ..Self::default() };
            (probed.input.include, probed.input.skip_unsupported) = (vec![glob.to_owned()], true);
            let tree = Tree::new(input, path, &[], &probed, context).map(drop);
            tree.in_file(input.name()).in_object(path)
        };
        let own = &self.input;
        let globs = globs::of_each(paths, (&own.include, &own.exclude), probe)?;
        let with = |(include, exclude): Globs| {
            let input = InputOptions { include, exclude, ..own.clone() };
            Self { input, ..self.clone() }
        };
        let options: Vec<_> = globs.into_iter().map(|globs| globs.map(with)).collect();
        loop {
            let (trees, refused) = plan(input, (paths, &options), &damaged, context)?;
            match attempt(input, (&trees, &refused), output, self, context) {
                Err(error) if self.input.skip_unreadable && error.kind().is_damage() => {
                    let mut is_more = false;
                    for (path, damaged) in paths.iter().zip(&mut damaged) {
                        let Some(tree) = trees.iter().find(|tree| tree.name() == path) else {
                            continue;
                        };
                        let more = tree.damaged()?;
                        is_more |= !more.is_empty();
                        damaged.extend(more);
                    }
                    if !is_more {
                        return Err(error);
                    }
                }
                // Only the objects say whether they refer to each other.
                Err(error) if error.kind() == Kind::Unsupported => {
                    let refused = trees.iter().find_map(|tree| {
                        let at = paths.iter().position(|path| tree.name() == path)?;
                        Some((at, tree.refused(&error)?))
                    });
                    let Some((at, skipped)) = refused else { return Err(error) };
                    match damaged.get_mut(at) {
                        Some(all) if all.iter().all(|known| known.branch != skipped.branch) => {
                            all.push(skipped);
                        }
                        _ => return Err(error),
                    }
                }
                done => return done,
            }
        }
    }
}

/// An RNTuple that becomes no tree: its path, and the reason.
type Refused = (String, String);

/// Plans all trees. All refusals happen here, before the output is created. If there are several RNTuples, RNTuples without
/// options are left out, and RNTuples that cannot be converted if the options allow it.
fn plan<'a>(
    input: &RootFile,
    (paths, options): (&[String], &'a [Option<ToTTree>]),
    damaged: &[Vec<Skipped>],
    context: &'a Context,
) -> Result<(Vec<Tree<'a>>, Vec<Refused>)> {
    let (mut trees, mut refused, mut first) = (Vec::new(), Vec::new(), None);
    for ((path, options), damaged) in paths.iter().zip(options).zip(damaged) {
        let Some(options) = options else {
            refused.push((path.clone(), globs::NO_MATCH.to_owned()));
            continue;
        };
        let tree = Tree::new(input, path, damaged, options, context);
        match tree.in_file(input.name()).in_object(path) {
            // If no field is left, the argument is wrong, but other RNTuples can still be converted.
            Err(error)
                if options.input.skip_unsupported
                    && matches!(error.kind(), Kind::Unsupported | Kind::InvalidArgument) =>
            {
                refused.push((path.clone(), error.message().to_owned()));
                first.get_or_insert(error);
            }
            tree => trees.push(tree?),
        }
    }
    if let Some(error) = first.filter(|_| trees.is_empty()) {
        return Err(error);
    }
    Tree::drop_unmatched(&mut trees)?;
    Ok((trees, refused))
}

fn attempt(
    input: &RootFile,
    (trees, refused): (&[Tree<'_>], &[Refused]),
    output: &Path,
    options: &ToTTree,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    let keys = trees.iter().map(|tree| input.find(tree.name())).collect::<Result<Vec<_>>>()?;
    let (mut other_trees, mut others) = others::plan(input, &keys, To::TTree)?;
    for (path, reason) in refused {
        others.leave_out(&input.find(path)?, reason);
    }
    if options.output.no_carry {
        other_trees.iter().for_each(|key| others.leave_behind(key));
        other_trees.clear();
    }
    let (copied, done) = (CopiedTrees::default(), Vec::with_capacity(trees.len()));
    let mut conversion = Conversion { input, trees, other_trees, options, context, copied, done };
    let inputs = [input.source().location()];
    let finished = run::run(&mut conversion, &inputs, output, others, &options.output, context)?;
    let mut done = conversion.done;
    for report in &mut done {
        report::finish((&mut report.written, &mut report.reencoded), input, &finished);
    }
    Ok(done)
}

/// The trees of one file.
struct Conversion<'a> {
    input: &'a RootFile,
    trees: &'a [Tree<'a>],
    /// The trees of the input, which are copied.
    other_trees: Vec<KeyEntry>,
    options: &'a ToTTree,
    context: &'a Context,
    copied: CopiedTrees,
    /// One report for each tree that is written.
    done: Vec<ConvertReport>,
}

impl Job for Conversion<'_> {
    type Abort = Error;

    fn write(&mut self, output: &Output, others: &mut OtherObjects) -> Result<()> {
        if self.trees.iter().any(Tree::may_refer) {
            others.keep_processes();
        }
        for tree in self.trees {
            self.done.push(tree.write(output)?);
        }
        let settings = (self.options.output.compression(), self.context);
        self.copied = CopiedTrees::write(&self.other_trees, self.input, output, others, settings)?;
        Ok(())
    }

    fn verify(&mut self, written: &RootFile) -> Result<()> {
        let mut all = self.trees.iter().zip(&mut self.done);
        all.try_for_each(|(tree, report)| tree.verify(written, report))?;
        let settings = (self.options.output.memory(), self.context);
        self.copied.verify(self.input, written, settings)
    }
}
