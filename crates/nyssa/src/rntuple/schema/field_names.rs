//! Names of fields for what has other names, such as branches: RNTuple forbids some characters that branch names use
//! (specification, "Naming specification").

use crate::distinct::Distinct;

/// A branch name with every forbidden character (`.`, `/`, `\`, space, control) replaced by `_`,
/// as ROOT's importer does for dots. A dot at the end, ROOT's mark of a split object, is dropped.
fn allowed(name: &str) -> String {
    let replace = |c: char| matches!(c, '.' | '/' | '\\' | ' ') || c.is_control();
    let name = name.trim_end_matches('.');
    if name.is_empty() {
        return "_".to_owned();
    }
    name.chars().map(|c| if replace(c) { '_' } else { c }).collect()
}

/// Gives out names that are allowed and different from one another.
#[derive(Default)]
pub(crate) struct FieldNames(Distinct);

impl FieldNames {
    /// `names` that are allowed as they are stay with their owners, whoever asks first.
    pub(crate) fn reserving<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let reserved = names.filter(|name| allowed(name) == *name).map(str::to_owned);
        Self(Distinct::reserving(reserved))
    }

    /// The allowed form of the `name` of a branch, with `_2`, `_3`, ... appended when that belongs to
    /// another.
    pub(crate) fn give(&mut self, name: &str) -> String {
        let base = allowed(name);
        self.0.give(&base, base == name)
    }

    /// As [`FieldNames::give`], for what is no branch.
    pub(crate) fn invent(&mut self, name: &str) -> String {
        self.0.give(&allowed(name), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_characters_become_underscores() {
        assert_eq!(allowed("muons.pt"), "muons_pt");
        assert_eq!(allowed("a/b c\\d\u{1}"), "a_b_c_d_");
        assert_eq!(allowed("event."), "event");
        assert_eq!(allowed("."), "_");
        assert_eq!(allowed("Jet_pt"), "Jet_pt");
    }

    #[test]
    fn collisions_get_numbers_and_allowed_names_stay() {
        let mut names = FieldNames::reserving(["a.b", "a/b", "a_b", "a_b"].into_iter());
        assert_eq!(names.give("a.b"), "a_b_2");
        assert_eq!(names.give("a/b"), "a_b_3");
        assert_eq!(names.give("a_b"), "a_b");
        assert_eq!(names.give("a_b"), "a_b_4");
    }
}
