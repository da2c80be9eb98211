//! Distinguishes the titles of branches that people wrote.

use super::{Branch, Leaf};

impl Branch {
    /// Returns the title if a person wrote it. Other titles are the list of leaves that ROOT makes (`x[n]/F:y/I`), or
    /// the name.
    pub fn written_title(&self) -> Option<&str> {
        let title = self.title.as_str();
        let parts: Vec<_> = title.split(':').collect();
        let is_leaf = |(part, leaf): (&&str, &Leaf)| {
            let rest = part.strip_prefix(leaf.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
        };
        let is_list =
            parts.len() == self.leaves.len() && parts.iter().zip(&self.leaves).all(is_leaf);
        (!title.is_empty() && title != self.name && !is_list).then_some(title)
    }
}
