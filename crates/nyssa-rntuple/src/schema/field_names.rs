//! Makes field names from other names, such as names of branches. RNTuple forbids some characters that branch names
//! contain (specification, "Naming specification").

use nyssa_root::distinct::Distinct;

/// Replaces every forbidden character of a branch name (`.`, `/`, `\`, space, control) by `_`, as ROOT's
/// importer does for dots. A dot at the end, which marks a split object, is removed.
fn allowed(name: &str) -> String {
    let replace = |c: char| matches!(c, '.' | '/' | '\\' | ' ') || c.is_control();
    let name = name.trim_end_matches('.');
    if name.is_empty() {
        return "_".to_owned();
    }
    name.chars().map(|c| if replace(c) { '_' } else { c }).collect()
}

/// A maker of names that are allowed and unique.
#[derive(Default)]
pub struct FieldNames(Distinct);

impl FieldNames {
    /// Reserves the `names` that are allowed. They stay with their branches, even if another branch requests a name
    /// first.
    pub fn reserving<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let reserved = names.filter(|name| allowed(name) == *name).map(str::to_owned);
        Self(Distinct::reserving(reserved))
    }

    /// Returns the allowed form of a branch `name`. If it belongs to another branch, `_2`, `_3`, ... is
    /// appended.
    pub fn give(&mut self, name: &str) -> String {
        let base = allowed(name);
        self.0.give(&base, base == name)
    }

    /// Returns the allowed form of a name for a field that has no branch. If it is taken, `_2`, `_3`, ... is
    /// appended.
    pub fn invent(&mut self, name: &str) -> String {
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
