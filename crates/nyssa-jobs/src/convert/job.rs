//! Converts one dataset, or all datasets of a file.

use std::path::Path;

use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};

use super::direction::Direction;
use super::options::To;
use super::report::ConvertReport;
use crate::job::others::path_of;
use crate::job::output::Output;
use crate::open;

/// Converts the tree at `path` (`dir/name` or `dir/name;cycle`) of `input` to an RNTuple at this path of the new file
/// `output` ([`super::ToRNTuple`]); or an RNTuple to a tree ([`super::ToTTree`]). The file appears only when it is
/// complete, and verified if the options request it.
///
/// # Errors
/// `NotFound` for the input; `InvalidArgument` for options or an output that are not allowed; `Unsupported` with a
/// list of all branches or fields that cannot be converted; `Cancelled`; an error if the input is damaged or cannot
/// be read.
pub fn convert<D: Direction>(
    input: &RootFile,
    path: &str,
    output: &Path,
    options: &D,
    context: &Context,
) -> Result<ConvertReport> {
    let mut reports = convert_paths(input, &[path.to_owned()], output, options, context)?;
    reports.pop().ok_or_else(|| Error::invalid_argument("nothing was converted"))
}

/// Converts every tree of `input`, each to an RNTuple of its path in `output`; or every RNTuple. There is one report for
/// each dataset that is written.
///
/// # Errors
/// `NotFound` if there is no such dataset; `InvalidArgument` for options or an output that are not allowed, for a name
/// or a range of entries if there are several datasets, and for a name in the options; `Unsupported` with a list of all
/// branches or fields that cannot be converted; `Cancelled`; an error if the input is damaged or cannot be read.
pub fn convert_file<D: Direction>(
    input: &RootFile,
    output: &Path,
    options: &D,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    Output::check(&[input.source().location()], output, options.output().force)?;
    let keys = open::datasets_of(input, D::TO.input())?;
    match &keys[..] {
        [] => {
            // A file that has only the format of the output is refused with the reason.
            let others = open::datasets_of(input, None)?;
            others.first().map_or(Ok(()), |key| check_input(input, &key.path, D::TO))?;
            D::TO.input().map_or(Ok(()), |format| open::paths_of(input, format).map(drop))?;
        }
        [only] => {
            let paths = std::slice::from_ref(&only.path);
            return convert_paths(input, paths, output, options, context);
        }
        [first, ..] => refuse_for_several(options, &keys, first).in_file(input.name())?,
    }
    let paths: Vec<_> = keys.iter().map(path_of).collect();
    convert_paths(input, &paths, output, options, context)
}

/// Refuses options that make sense only for one dataset.
fn refuse_for_several<D: Direction>(
    options: &D,
    keys: &[KeyEntry],
    first: &KeyEntry,
) -> Result<()> {
    let what = match () {
        () if options.output().name.is_some() => "one name cannot be given to several datasets",
        () if options.input().entries.is_some() => "a range of entries is for one dataset",
        () => return Ok(()),
    };
    let names: Vec<_> = keys.iter().map(|key| key.path.as_str()).collect();
    Err(Error::invalid_argument(format!(
        "{what}, and the file has {}: name one of them, such as FILE:{}",
        names.join(", "),
        first.path
    )))
}

fn convert_paths<D: Direction>(
    input: &RootFile,
    paths: &[String],
    output: &Path,
    options: &D,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    Output::check(&[input.source().location()], output, options.output().force)?;
    paths.iter().try_for_each(|path| check_input(input, path, D::TO))?;
    options.settled()?.convert_paths(input, paths, output, context)
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
        To::Parquet | To::Arrow => "it is a table already",
    };
    Err(Error::invalid_argument(message)).in_file(input.name()).in_object(path)
}
