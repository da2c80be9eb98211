//! Reports the parts in which the trees of the inputs differ, such as their weights. The output has the parts of the
//! first tree.

use std::collections::BTreeMap;

use nyssa_ttree::stored::StoredTree;

/// The parts of the first tree, and the inputs with other parts.
pub(super) struct TreeParts {
    /// The input of the first tree.
    input: String,
    parts: Vec<(&'static str, Option<String>)>,
    /// The first input in which a part differs, and the number of all these inputs.
    others: BTreeMap<&'static str, (String, usize)>,
    has_index: bool,
}

impl TreeParts {
    pub(super) fn of(tree: &StoredTree, input: &str) -> Self {
        let (parts, others) = (tree.parts(), BTreeMap::new());
        Self { input: input.to_owned(), parts, others, has_index: tree.has_index }
    }

    /// Compares the parts of a later tree.
    pub(super) fn compare(&mut self, tree: &StoredTree, input: &str) {
        self.has_index |= tree.has_index;
        for ((name, first), (_, part)) in self.parts.iter().zip(tree.parts()) {
            if part.is_none() || part != *first {
                self.others.entry(name).or_insert_with(|| (input.to_owned(), 0)).1 += 1;
            }
        }
    }

    /// Returns whether some tree has an index of its entries.
    pub(super) fn has_index(&self) -> bool {
        self.has_index
    }

    /// Returns a note on each part that differs between the trees at a path.
    pub(super) fn notes(&self, path: &str) -> impl Iterator<Item = String> {
        self.others.iter().map(move |(name, (other, count))| {
            let more = if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            format!(
                "{path}: the inputs differ in their {name}: the output has what is in {}, and not what is in {other}{more}",
                self.input
            )
        })
    }
}
