//! Handles the other objects in the file of the trees: RNTuples are rewritten, and all other objects are
//! copied.

use std::collections::HashSet;

use super::options::ConvertOptions;
use crate::Context;
use crate::dataset::Format;
use crate::error::{Kind, Result, ResultExt};
use crate::job::OutputOptions;
use crate::job::others::{OtherObjects, path_of};
use crate::job::output::Output;
use crate::open::{self, TREE_CLASSES};
use crate::rewrite;
use crate::rootfile::{KeyEntry, RootFile};

/// The reason why a tree that was not selected is not in the output.
const NOT_SELECTED: &str = "it was not selected; all trees of a file can be converted together";

/// The RNTuples that are rewritten and can be verified.
#[derive(Default)]
pub(super) struct Rewritten<'a>(Vec<(rewrite::NTuple<'a>, rewrite::RewriteReport)>);

/// Lists all objects of `input`, except the trees `converted`: the RNTuples that are rewritten, and the objects
/// that are copied.
///
/// # Errors
/// The same as [`OtherObjects::plan`].
pub(super) fn plan(
    input: &RootFile,
    converted: &[KeyEntry],
) -> Result<(Vec<KeyEntry>, OtherObjects)> {
    let mut others = OtherObjects::plan(input, &[])?;
    let mut ntuples = Vec::new();
    let newest = open::datasets(input)?;
    let ntuple = |path: &str| {
        let found = newest.iter().find(|key| path_of(key) == path)?;
        (open::format_of(found) == Some(Format::RNTuple)).then_some(found)
    };
    let done: HashSet<String> = converted.iter().map(path_of).collect();
    for mut refused in others.take_refused() {
        let path = refused.path.rsplit_once(';').map_or(&*refused.path, |(path, _)| path);
        let same_path = converted.iter().find(|key| key.path == path);
        if done.contains(&refused.path) {
            continue;
        }
        if let (Some(found), None) = (ntuple(&refused.path), same_path) {
            ntuples.push(found.clone());
            continue;
        }
        match same_path {
            Some(key) => refused.reason = format!("cycle {} of it was converted", key.cycle),
            None if TREE_CLASSES.contains(&&*refused.class) => {
                NOT_SELECTED.clone_into(&mut refused.reason)
            }
            None => (),
        }
        others.refuse(refused);
    }
    Ok((ntuples, others))
}

/// Rewrites RNTuples of `input`.
///
/// # Errors
/// The same as [`rewrite::rewrite`].
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
    /// Compares the RNTuples with those of the input.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first field that differs.
    pub fn verify(&mut self, file: &RootFile) -> Result<()> {
        self.0.iter_mut().try_for_each(|(ntuple, report)| ntuple.verify(file, report))
    }
}

/// Returns the options for the RNTuples of the file. Names, fields and effort in `options` are for the trees.
pub(super) fn ntuple_options(options: &ConvertOptions) -> rewrite::RewriteOptions {
    let OutputOptions { compression, cluster_size, page_size, memory, verify, .. } = options.output;
    let output = OutputOptions {
        compression,
        cluster_size,
        page_size,
        memory,
        verify,
        ..OutputOptions::default()
    };
    rewrite::RewriteOptions { output, ..rewrite::RewriteOptions::default() }
}
