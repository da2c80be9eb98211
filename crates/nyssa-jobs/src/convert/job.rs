//! Converts one dataset, or all datasets of a file.

use std::path::Path;

use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::RootFile;

use super::direction::Direction;
use super::options::To;
use super::report::ConvertReport;
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

/// Converts every tree of `input`, each to an RNTuple of its path in `output`; or every RNTuple.
///
/// # Errors
/// `NotFound` if there is no such dataset; `InvalidArgument` for options or an output that are not allowed, and for a
/// name in the options; `Unsupported` with a list of all branches or fields that cannot be converted; `Cancelled`; an
/// error if the input is damaged or cannot be read.
pub fn convert_all<D: Direction>(
    input: &RootFile,
    output: &Path,
    options: &D,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    if options.output().name.is_some() {
        return Err(Error::invalid_argument(
            "one name cannot be given to all datasets of a file: each keeps its path",
        ));
    }
    let paths = open::paths_of(input, D::TO.input())?;
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
    };
    Err(Error::invalid_argument(message)).in_file(input.name()).in_object(path)
}
