//! Merges many inputs into several outputs.

use std::path::{Path, PathBuf};

use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result};

use super::job::merge;
use super::options::MergeOptions;
use super::report::MergeReport;

/// The placeholder in a pattern for the number of the output.
const NUMBER: &str = "{number}";

/// Merges each `condense` inputs into one output, like [`merge`]. `pattern` is the name of the outputs, in which
/// `{number}` stands for 0, 1, 2 and so on.
///
/// # Errors
/// `InvalidArgument` for a pattern without `{number}`; `AlreadyExists` for an output that may not be replaced; the
/// error of the first merge that fails. Earlier outputs stay.
pub fn merge_many(
    inputs: &[String],
    pattern: &Path,
    condense: usize,
    options: &MergeOptions,
    context: &Context,
) -> Result<Vec<MergeReport>> {
    let name = pattern.to_string_lossy();
    if !name.contains(NUMBER) || condense == 0 {
        return Err(Error::invalid_argument(format!(
            "condense makes one output of each N inputs, and the output is a pattern such as all_{{number}}.root, not {name}"
        )));
    }
    let groups: Vec<_> = inputs.chunks(condense).collect();
    let output = |number: usize| PathBuf::from(name.replace(NUMBER, &number.to_string()));
    let outputs: Vec<_> = (0..groups.len()).map(output).collect();
    let may_exist = options.output.force || options.append;
    if let Some(taken) = outputs.iter().find(|output| !may_exist && nyssa_io::exists(output)) {
        let message = format!("{} exists already", nyssa_io::shown(taken));
        return Err(Error::new(Kind::AlreadyExists, message));
    }
    let each = groups.into_iter().zip(&outputs);
    each.map(|(inputs, output)| merge(inputs, output, options, context)).collect()
}
