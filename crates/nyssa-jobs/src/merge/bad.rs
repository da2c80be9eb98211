//! Finds inputs that are missing or damaged.

use nyssa_io::OpenOptions;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result};
use nyssa_root::waiting::wait_for_all;
use rayon::prelude::*;

use super::datasets::FirstInput;
use super::inputs::any_remote;
use super::report::BadInput;
use crate::heuristics::merge;
use crate::open::split_path;

/// Removes the inputs that are missing, cannot be read, or have damaged metadata, and returns them.
///
/// # Errors
/// `Cancelled`.
pub(super) fn take_bad(
    inputs: &mut Vec<String>,
    options: &OpenOptions,
    context: &Context,
) -> Result<Vec<BadInput>> {
    let mut bad = Vec::new();
    let mut good = Vec::with_capacity(inputs.len());
    for chunk in inputs.chunks(merge::OPEN_AT_ONCE) {
        context.check()?;
        let open = |input: &String| Ok(FirstInput::open(input, true, options).err().filter(is_bad));
        let found = match any_remote(chunk.iter().map(String::as_str)) {
            true => wait_for_all(chunk, open)?,
            false => {
                context.pool().install(|| chunk.par_iter().map(open).collect::<Result<Vec<_>>>())?
            }
        };
        for (input, error) in chunk.iter().zip(found) {
            match error {
                Some(error) => bad.push(BadInput::new(input, &error)),
                None => good.push(input.clone()),
            }
        }
    }
    *inputs = good;
    Ok(bad)
}

/// Returns whether an input is missing, cannot be read or is damaged. A dataset that its file does not have is a wrong
/// argument.
fn is_bad(error: &Error) -> bool {
    let is_missing = error.kind() == Kind::NotFound && error.system().is_some();
    error.kind().is_damage() || error.kind() == Kind::Io || is_missing
}

/// Removes the input whose damage stopped the merge, and returns it.
pub(super) fn take_damaged(inputs: &mut Vec<String>, error: &Error) -> Option<BadInput> {
    let file = error.place().file.as_deref().filter(|_| error.kind().is_damage())?;
    let is_it = |input: &String| nyssa_io::shown(&*split_path(input).0) == file;
    let number = inputs.iter().position(is_it)?;
    Some(BadInput::new(&inputs.remove(number), error))
}
