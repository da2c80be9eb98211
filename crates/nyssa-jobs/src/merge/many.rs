//! Merges many inputs into several outputs.

use std::path::{Path, PathBuf};

use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result};

use super::bad::BadInputs;
use super::job::merge_good;
use super::options::MergeOptions;
use super::report::MergeReport;
use super::unify::listed;

/// The placeholder in a pattern for the number of the output.
const NUMBER: &str = "{number}";

/// Merges each `condense` inputs into one output, like [`merge`](super::merge). `pattern` is the name of the outputs, in
/// which `{number}` stands for 0, 1, 2 and so on: output `n` has the inputs from `n * condense` on. If all inputs of an
/// output are missing or damaged and may be left out, the output is not made: its number is not used, and the last report
/// says so. The reports on the outputs are added to `reports`, also if a later merge fails.
///
/// # Errors
/// `InvalidArgument` for a pattern without `{number}`; `AlreadyExists` for an output that may not be replaced; the
/// error of the first merge that fails. The outputs before it stay, and the message names them.
pub fn merge_many(
    inputs: &[String],
    pattern: &Path,
    condense: usize,
    (options, context): (&MergeOptions, &Context),
    reports: &mut Vec<MergeReport>,
) -> Result<()> {
    let name = pattern.to_string_lossy();
    if !name.contains(NUMBER) || condense == 0 {
        return Err(Error::invalid_argument(format!(
            "condense makes one output of each N inputs, and the output is a pattern such as all_{{number}}.root, not {name}"
        )));
    }
    if inputs.is_empty() {
        return Err(Error::invalid_argument("there is nothing to merge: name at least one file"));
    }
    let groups: Vec<_> = inputs.chunks(condense).collect();
    let output = |number: usize| PathBuf::from(name.replace(NUMBER, &number.to_string()));
    let outputs: Vec<_> = (0..groups.len()).map(output).collect();
    let may_exist = options.output.force || options.append;
    if let Some(taken) = outputs.iter().find(|output| !may_exist && nyssa_io::exists(output)) {
        let message = format!("{} exists already", nyssa_io::shown(taken));
        return Err(Error::new(Kind::AlreadyExists, message));
    }
    let mut left_out = Vec::new();
    let done = groups.into_iter().zip(&outputs).try_for_each(|(inputs, output)| {
        match merge_good(inputs, output, options, context)? {
            Ok(report) => reports.push(report),
            Err(bad) => left_out.push((output, bad)),
        }
        Ok(())
    });
    if let Some(last) = reports.last_mut() {
        for (output, bad) in left_out {
            last.leave_out(bad.inputs);
            let output = nyssa_io::shown(output);
            last.written.notes.push(format!("no output {output}: all of its inputs are left out"));
        }
        return done.map_err(|error: Error| error.map_message(|it| with_outputs(it, reports)));
    }
    done?;
    let mut all = BadInputs::default();
    left_out.into_iter().for_each(|(_, bad)| all.append(bad));
    Err(all.nothing_left())
}

/// Returns the message of an error with the outputs that were made before.
fn with_outputs(message: &str, made: &[MergeReport]) -> String {
    let outputs = listed(made.iter().map(|report| &*report.written.output));
    match made.len() {
        1 => format!("{message}; the output before it is complete and stays: {outputs}"),
        count => {
            format!("{message}; the {count} outputs before it are complete and stay: {outputs}")
        }
    }
}
