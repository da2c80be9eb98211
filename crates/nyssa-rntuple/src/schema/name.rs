//! Checks names of fields and RNTuples (specification, "Naming specification").

use nyssa_root::error::{Error, Result};

/// Checks the name of `what`, which is "a field" or "an RNTuple".
///
/// # Errors
/// `InvalidArgument` with the name and the character that is not allowed.
pub fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::invalid_argument(format!("{what} needs a name")));
    }
    match name.chars().find(|&c| c.is_control() || matches!(c, '.' | ' ' | '\\' | '/')) {
        Some(c) => Err(Error::invalid_argument(format!(
            "{name:?} cannot be the name of {what}: {c:?} is not allowed; names hold no control \
             characters, '.', ' ', '\\\\' or '/'"
        ))),
        None => Ok(()),
    }
}
