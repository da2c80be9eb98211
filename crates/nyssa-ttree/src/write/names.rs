//! Checks the names of trees, branches and leaves.

use nyssa_root::error::{Error, Result};

/// The characters that have a meaning in the titles of branches or in paths.
const RESERVED: &str = "/[]:,;\"";

/// Returns whether a character is forbidden in names.
pub fn is_reserved(character: char) -> bool {
    RESERVED.contains(character) || character.is_control()
}

/// Returns whether a tree can have a branch of this name, if another tree had one. ROOT reads more names than it makes.
pub fn is_old_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_control)
}

/// Returns whether a branch can have a leaf of this name, if another branch had one. The title of the leaf begins with it,
/// and brackets in the title are the sizes of arrays.
pub fn is_old_leaf(name: &str) -> bool {
    is_old_name(name) && !name.contains(['[', ']'])
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
