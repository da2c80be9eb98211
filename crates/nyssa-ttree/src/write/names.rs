//! Checks the names of trees, branches and leaves.

use nyssa_root::error::{Error, Result};

/// The characters that have a meaning in the titles of branches or in paths.
const RESERVED: &str = "/[]:,;\"";

/// Returns whether a character is forbidden in names.
pub fn is_reserved(character: char) -> bool {
    RESERVED.contains(character) || character.is_control()
}

/// Checks a name that is stored as `what`.
///
/// # Errors
/// `InvalidArgument` for names that ROOT would not accept as the name of a branch.
pub(super) fn check(what: &str, name: &str) -> Result<()> {
    let reason = match name.chars().find(|&character| is_reserved(character)) {
        Some(character) => format!("it has the character {character:?}"),
        None if name.is_empty() => "it is empty".to_owned(),
        None if name.trim() != name => "it starts or ends with a space".to_owned(),
        None => return Ok(()),
    };
    Err(Error::invalid_argument(format!("{what} cannot have the name {name:?}: {reason}")))
}
