//! Makes names unique by numbers.

use std::collections::{HashMap, HashSet};

/// Makes each name unique. A name that is taken gets a number.
#[derive(Debug, Default)]
pub struct Distinct {
    reserved: HashSet<String>,
    given: HashSet<String>,
    /// The number to try next, by name.
    next: HashMap<String, u32>,
}

impl Distinct {
    /// Makes the value with names that are `reserved` for their owners.
    pub fn reserving(reserved: impl IntoIterator<Item = String>) -> Self {
        Self { reserved: reserved.into_iter().collect(), ..Self::default() }
    }

    /// Returns `name`, or `name_2`, `name_3`, ... if that name is taken or reserved. The first owner of a
    /// name (`owns`) gets it unchanged.
    pub fn give(&mut self, name: &str, owns: bool) -> String {
        if (owns || !self.reserved.contains(name)) && self.given.insert(name.to_owned()) {
            return name.to_owned();
        }
        let next = self.next.entry(name.to_owned()).or_insert(2);
        loop {
            let candidate = numbered(name, *next);
            *next = next.saturating_add(1);
            if !self.reserved.contains(&candidate) && self.given.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// Puts a number behind a name. A dot at the end, ROOT's mark of a split object, stays at the end.
fn numbered(name: &str, number: u32) -> String {
    let stem = name.trim_end_matches('.');
    let (stem, dots) = if stem.is_empty() { (name, "") } else { (stem, &name[stem.len()..]) };
    format!("{stem}_{number}{dots}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_get_numbers_and_those_that_exist_stay() {
        let stored = ["x", "x", "x_2", "x", "event.", "event."];
        let mut names = Distinct::reserving(stored.map(str::to_owned));
        let given = stored.map(|name| names.give(name, true));
        assert_eq!(given, ["x", "x_3", "x_2", "x_4", "event.", "event_2."]);
        assert_eq!(names.give("y", false), "y");
        assert_eq!(names.give("x_2", false), "x_2_2");
    }
}
