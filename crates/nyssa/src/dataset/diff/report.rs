//! What is different.

use serde::Serialize;

/// Differences between two datasets, called a and b.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Nothing is different and everything asked for was compared.
    pub equal: bool,
    /// Entries of a.
    pub entries_a: u64,
    /// Entries of b.
    pub entries_b: u64,
    /// Entries compared.
    pub compared_entries: u64,
    /// Names that only a has.
    pub only_in_a: Vec<String>,
    /// Names that only b has.
    pub only_in_b: Vec<String>,
    /// Names that both have and that cannot be compared, with reasons.
    pub incomparable: Vec<Incomparable>,
    /// Names compared.
    pub compared: Vec<Compared>,
}

/// A name that both datasets have, but that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Incomparable {
    /// Name in a.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Result for one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Name in a.
    pub name: String,
    /// Name in b.
    pub name_b: String,
    /// Arrow type in a.
    pub type_a: String,
    /// Arrow type in b; where it has integers of another width, the values are compared.
    pub type_b: String,
    /// Number of entries that differ.
    pub different_entries: u64,
    /// The first of them.
    pub first: Option<Difference>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Entry number.
    pub entry: u64,
    /// Which item of a nested entry, such as `[3]`; empty for the entry itself.
    pub item: String,
    /// Value in a.
    pub a: String,
    /// Value in b.
    pub b: String,
}

impl Report {
    /// The names whose values differ.
    pub fn different(&self) -> impl Iterator<Item = &Compared> {
        self.compared.iter().filter(|compared| compared.different_entries > 0)
    }

    /// Sets [`Report::equal`] from the rest; `all` entries were asked for, not a range.
    pub(super) fn conclude(&mut self, all: bool) {
        self.equal = (!all || self.entries_a == self.entries_b)
            && self.only_in_a.is_empty()
            && self.only_in_b.is_empty()
            && self.incomparable.is_empty()
            && self.different().next().is_none();
    }
}
