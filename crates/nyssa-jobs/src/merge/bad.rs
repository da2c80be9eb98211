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

/// Inputs that are left out.
#[derive(Default)]
pub(super) struct BadInputs {
    pub inputs: Vec<BadInput>,
    /// The error of the first one.
    first: Option<Error>,
}

impl BadInputs {
    /// Adds an input that cannot be read because of an error.
    fn add(&mut self, input: &str, error: &Error) {
        self.inputs.push(BadInput::new(input, error));
        self.first.get_or_insert_with(|| error.clone());
    }

    /// Adds inputs that come later.
    pub(super) fn append(&mut self, later: Self) {
        self.inputs.extend(later.inputs);
        self.first = self.first.take().or(later.first);
    }

    /// Returns the error if there are no other inputs. It is of the kind of the first one, as if nothing could be left out.
    pub(super) fn nothing_left(&self) -> Error {
        let reasons: Vec<_> =
            self.inputs.iter().map(|input| format!("{}: {}", input.file, input.error)).collect();
        let message = format!(
            "there is nothing to merge: all inputs are missing or damaged: {}",
            reasons.join("; ")
        );
        match &self.first {
            Some(first) => first.clone().map_message(|_| message),
            None => Error::invalid_argument(message),
        }
    }
}

/// Removes the inputs that are missing, cannot be read, or have damaged metadata, and returns them.
///
/// # Errors
/// `Cancelled`.
pub(super) fn take_bad(
    inputs: &mut Vec<String>,
    options: &OpenOptions,
    context: &Context,
) -> Result<BadInputs> {
    let mut bad = BadInputs::default();
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
                Some(error) => bad.add(input, &error),
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

/// Moves the input whose damage stopped the merge to the bad inputs. Returns the error if it names none.
pub(super) fn take_damaged(
    inputs: &mut Vec<String>,
    bad: &mut BadInputs,
    error: Error,
) -> Result<()> {
    let is_it = |input: &String| {
        let file = error.place().file.as_deref().filter(|_| error.kind().is_damage());
        file.is_some_and(|file| nyssa_io::shown(&*split_path(input).0) == file)
    };
    match inputs.iter().position(is_it) {
        Some(number) => bad.add(&inputs.remove(number), &error),
        None => return Err(error),
    }
    Ok(())
}
