//! Converts some trees of a file.

use std::path::Path;

use nyssa_data::dataset::{Dataset, Filter, check_patterns};
use nyssa_rntuple::schema;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_ttree::Reader;

use super::failures::Failures;
use super::tree::Tree;
use super::work::Abort;
use crate::convert::direction::Direction;
use crate::convert::options::{InputOptions, Streamer, To, ToRNTuple, default_encoding};
use crate::convert::others::{self, Rewritten, ntuple_options, rewrite_all};
use crate::convert::report::ConvertReport;
use crate::job::globs;
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::job::report;
use crate::job::run::{self, Job};
use crate::job::{OutputOptions, StorageOptions};
use crate::rewrite;

impl Direction for ToRNTuple {
    const TO: To = To::RNTuple;

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

    /// Without an encoding, takes the default encoding of conversions.
    fn storage(&self) -> Option<&StorageOptions> {
        Some(&self.storage)
    }

    fn settled(&self) -> Result<Self> {
        let mut settled = self.clone();
        let Self { streamer, output, storage, .. } = &mut settled;
        let stated = storage.settle(output)?;
        if streamer.is_empty() {
            *streamer = stated.and_then(|options| options.streamer).unwrap_or_default();
        }
        Streamer::of(streamer)?;
        storage.encoding.get_or_insert(default_encoding(output));
        storage.validate(output)?;
        storage.cluster_size = Some(storage.cluster_size());
        storage.page_size = storage.page_size.or(Some(storage.page_size() as u64));
        output.memory = Some(output.memory());
        Ok(settled)
    }

    /// Starts again each time the data of a branch show that it must be left out or stored in another way.
    fn convert_paths(
        &self,
        input: &RootFile,
        paths: &[String],
        output: &Path,
        context: &Context,
    ) -> Result<Vec<ConvertReport>> {
        let mut failures = vec![Failures::default(); paths.len()];
        loop {
            match attempt(input, paths, output, self, context, &mut failures)? {
                Some(reports) => return Ok(reports),
                None => context.check()?,
            }
        }
    }
}

/// Converts all trees. It returns `None` if branches failed and were added to `failures`.
fn attempt(
    input: &RootFile,
    paths: &[String],
    output: &Path,
    options: &ToRNTuple,
    context: &Context,
    failures: &mut [Failures],
) -> Result<Option<Vec<ConvertReport>>> {
    // All refusals happen before the output is created.
    let InputOptions { include, exclude, skip_unsupported, .. } = &options.input;
    let filter = Filter::new(include, exclude)?;
    let keys = paths.iter().map(|path| input.find(path)).collect::<Result<Vec<_>>>()?;
    let (mut ntuples, mut others) = others::plan(input, &keys, To::RNTuple)?;
    let mut none_left = None;
    let mut readers = Vec::with_capacity(paths.len());
    for ((path, key), failures) in paths.iter().zip(&keys).zip(failures) {
        match check_name(path, options).and_then(|()| Reader::open(input, path)) {
            // Other trees can still be converted.
            Err(error) if keys.len() > 1 && *skip_unsupported && is_unsupported(&error) => {
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
    check_patterns(include, &names).in_file(input.name())?;
    check_patterns(exclude, &names).in_file(input.name())?;
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
                tree.keep(key);
                trees.push(tree);
            }
        }
    }
    if let (true, Some(error)) = (trees.is_empty(), none_left) {
        return Err(error);
    }
    let mut field_options: Vec<_> = trees.iter_mut().map(Tree::field_options).collect();
    globs::drop_unmatched(&mut field_options).in_file(input.name())?;
    if options.output.no_carry {
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
fn check_name(path: &str, options: &ToRNTuple) -> Result<()> {
    let path = crate::open::without_cycle(path);
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
        if self.trees.iter().any(Tree::may_refer) {
            others.keep_processes();
        }
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
