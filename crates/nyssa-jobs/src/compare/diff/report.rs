//! Defines the report of a comparison.

use nyssa_root::error::{Error, Result};
use serde::Serialize;

use super::options::DiffOptions;

/// The number of differences that an error message lists.
const SHOWN: usize = 8;

/// The differences between two datasets, called a and b.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let a = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
/// let b = nyssa::open("../../testdata/rntuple/plain.root")?;
/// let report = nyssa::diff(&*a, &*b, &nyssa::DiffOptions::default(), &context)?;
/// assert!(!report.equal);
/// for column in report.compared.iter().filter(|column| column.different_entries > 0) {
///     println!("{} differs in {} entries", column.name, column.different_entries);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct DiffReport {
    /// Whether there is no difference, and every requested comparison was made.
    pub equal: bool,
    /// The number of entries of a.
    pub entries_a: u64,
    /// The number of entries of b.
    pub entries_b: u64,
    /// The number of entries compared.
    pub compared_entries: u64,
    /// The names that only a has.
    pub only_in_a: Vec<String>,
    /// The names that only b has.
    pub only_in_b: Vec<String>,
    /// The names that both have and that cannot be compared, with reasons.
    pub incomparable: Vec<Incomparable>,
    /// The names that were compared, with the results.
    pub compared: Vec<Compared>,
}

/// A name that both datasets have, but that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Incomparable {
    /// The name in a.
    pub name: String,
    /// The reason why it cannot be compared.
    pub reason: String,
}

/// The result of the comparison for one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// The name in a.
    pub name: String,
    /// The name in b.
    pub name_b: String,
    /// The Arrow type in a.
    pub type_a: String,
    /// The Arrow type in b. If its integers have another width than in a, the values are compared.
    pub type_b: String,
    /// The number of entries that differ.
    pub different_entries: u64,
    /// The first entry that differs.
    pub first: Option<Difference>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The number of the entry.
    pub entry: u64,
    /// The item of a nested entry, such as `[3]`. It is empty for the entry itself.
    pub item: String,
    /// The value in a.
    pub a: String,
    /// The value in b.
    pub b: String,
}

impl DiffReport {
    /// Returns the columns whose values differ.
    pub fn different(&self) -> impl Iterator<Item = &Compared> {
        self.compared.iter().filter(|compared| compared.different_entries > 0)
    }

    /// Returns an error that lists the differences, or the columns that cannot be compared if there are no
    /// differences. `a` and `b` are the words for the datasets in the message, such as `the tree`.
    ///
    /// # Errors
    /// `OutOfSpecification` for differences; `Unsupported` if columns cannot be compared.
    pub fn require_equal(&self, a: &str, b: &str) -> Result<()> {
        if self.equal {
            return Ok(());
        }
        let mut differences: Vec<String> = Vec::new();
        if self.entries_a != self.entries_b {
            let (in_a, in_b) = (self.entries_a, self.entries_b);
            differences.push(format!("{a} has {in_a} entries, {b} {in_b}"));
        }
        differences.extend(self.different().map(|compared| match &compared.first {
            Some(first) => format!(
                "{}: {} entries differ, the first is {}{} with {} in {a} and {} in {b}",
                compared.name,
                compared.different_entries,
                first.entry,
                first.item,
                first.a,
                first.b
            ),
            None => format!("{}: {} entries differ", compared.name, compared.different_entries),
        }));
        let differs = !differences.is_empty();
        differences
            .extend(self.incomparable.iter().map(|it| format!("{}: {}", it.name, it.reason)));
        let more = differences.len().saturating_sub(SHOWN);
        differences.truncate(SHOWN);
        if more > 0 {
            differences.push(format!("and {more} more"));
        }
        if !differs {
            return Err(Error::unsupported(format!(
                "{b} was written, but these columns cannot be compared with {a}, since they read as other types; \
                 no other value differs, and no output is left:\n  {}",
                differences.join("\n  ")
            )));
        }
        Err(Error::out_of_spec(format!(
            "{b} that was written does not hold the same values as {a}; no output is left:\n  {}",
            differences.join("\n  ")
        )))
    }

    /// Sets [`DiffReport::equal`] from the other fields. Both must have the same number of entries, unless a range
    /// was requested. Columns that only one dataset has are allowed only if the options allow them.
    pub(super) fn conclude(&mut self, options: &DiffOptions) {
        self.equal = (options.selection.entries.is_some() || self.entries_a == self.entries_b)
            && (options.only_common || self.only_in_a.is_empty() && self.only_in_b.is_empty())
            && self.incomparable.is_empty()
            && self.different().next().is_none();
    }
}
