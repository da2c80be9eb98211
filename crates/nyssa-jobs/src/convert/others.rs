//! Handles the other objects in the file of a conversion: datasets in the format of the output are written again
//! (RNTuples), or copied in their stored form (TTrees, in `to_tree/other_trees.rs`). All other objects are copied.

use std::collections::HashSet;

use nyssa_root::Context;
use nyssa_root::effort::Effort;
use nyssa_root::error::{Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};

use super::options::{To, ToRNTuple};
use crate::job::others::{OtherObjects, other_cycle, path_of};
use crate::job::output::Output;
use crate::job::{OutputOptions, StorageOptions};
use crate::open;
use crate::rewrite;

/// The reason why a dataset that could be converted is not in the output.
const NOT_SELECTED: &str = "it was not named; without a path, all are converted";

/// The RNTuples that are rewritten and can be verified.
#[derive(Default)]
pub(super) struct Rewritten<'a>(Vec<(rewrite::NTuple<'a>, rewrite::RewriteReport)>);

/// Lists all objects of `input`, except the datasets `converted`: the other datasets that already have the format of
/// the output, and the objects that are copied. Datasets that could also be converted are left out.
///
/// # Errors
/// `Io` if the file cannot be read.
pub(super) fn plan(
    input: &RootFile,
    converted: &[KeyEntry],
    to: To,
) -> Result<(Vec<KeyEntry>, OtherObjects)> {
    let mut others = OtherObjects::plan(input)?;
    let mut datasets = Vec::new();
    let newest = open::datasets(input)?;
    let done: HashSet<String> = converted.iter().map(path_of).collect();
    for mut refused in others.take_refused() {
        let path = refused.without_cycle();
        let at_path = |keys: &'_ [KeyEntry]| keys.iter().find(|key| key.path == path).cloned();
        if done.contains(&refused.path) {
            continue;
        }
        match (at_path(converted), at_path(&newest)) {
            (Some(key), _) => refused.reason = other_cycle(key.cycle, "was converted"),
            (None, Some(key)) if path_of(&key) != refused.path => {
                refused.reason = other_cycle(key.cycle, "is newer");
            }
            (None, Some(key)) if open::format_of(&key) == Some(to.output()) => {
                datasets.push(key);
                continue;
            }
            (None, Some(_)) => NOT_SELECTED.clone_into(&mut refused.reason),
            (None, None) => (),
        }
        others.refuse(refused);
    }
    Ok((datasets, others))
}

/// Rewrites RNTuples of `input`.
///
/// # Errors
/// `InvalidArgument` for options that are not allowed; `Unsupported` with a list of all fields that cannot be read;
/// `Cancelled`; an error if the input is damaged or cannot be read.
pub(super) fn rewrite_all<'a>(
    ntuples: &[KeyEntry],
    input: &RootFile,
    output: &Output,
    options: &'a rewrite::RewriteOptions,
    context: &'a Context,
    others: &mut OtherObjects,
) -> Result<Rewritten<'a>> {
    let mut written = Rewritten::default();
    for key in ntuples {
        let path = path_of(key);
        let ntuple = rewrite::NTuple::new(input, &path, options, context);
        match ntuple.in_file(input.name()).in_object(&path) {
            Ok(ntuple) => {
                let report = ntuple.write(input, output)?;
                others.arrived(key);
                written.0.push((ntuple, report));
            }
            Err(error) if error.kind() == Kind::Unsupported => {
                others.leave_out(key, error.message());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

impl Rewritten<'_> {
    /// Compares the RNTuples with the RNTuples of the input.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first field that differs.
    pub(super) fn verify(&mut self, file: &RootFile) -> Result<()> {
        self.0.iter_mut().try_for_each(|(ntuple, report)| ntuple.verify(file, report))
    }
}

/// Returns the options for the RNTuples of the file. Names, fields and effort in `options` apply to the trees.
pub(super) fn ntuple_options(options: &ToRNTuple) -> rewrite::RewriteOptions {
    let ToRNTuple { output, storage, .. } = options;
    rewrite::RewriteOptions {
        output: OutputOptions {
            compression: Some(output.compression().into()),
            effort: Some(Effort::default()),
            memory: output.memory,
            verify: output.verify,
            ..OutputOptions::default()
        },
        storage: StorageOptions {
            cluster_size: storage.cluster_size,
            page_size: storage.page_size,
            ..StorageOptions::default()
        },
        ..rewrite::RewriteOptions::default()
    }
}
