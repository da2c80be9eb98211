//! Reads the titles of branches, which become the descriptions of fields.

use nyssa_ttree::{Branch, Leaf};

/// Returns the title of a branch that a person wrote. Other titles are the list of leaves that ROOT makes
/// (`x[n]/F:y/I`), or the name.
pub(super) fn title(branch: &Branch) -> Option<&str> {
    let title = branch.title.as_str();
    let parts: Vec<_> = title.split(':').collect();
    let is_leaf = |(part, leaf): (&&str, &Leaf)| {
        let rest = part.strip_prefix(leaf.name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
    };
    let is_list =
        parts.len() == branch.leaves.len() && parts.iter().zip(&branch.leaves).all(is_leaf);
    (!title.is_empty() && title != branch.name && !is_list).then_some(title)
}
