//! Defines the reports with digests, and compares them with the digests of a dataset.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use nyssa_data::dataset::{Dataset, Format};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use serde::{Deserialize, Serialize};

use super::digest;
use crate::compare::Selection;
use crate::compare::diff::converted;

/// The definition of the digests, with its version.
pub const HASH: &str = "xxh3-128 of canonical values, version 2";

/// The digests of a dataset.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let events = nyssa::open("../../testdata/rntuple/plain.root")?;
/// let report = nyssa::digest(&*events, &nyssa::Selection::default(), &context)?;
/// for column in &report.digests {
///     println!("{} {}", column.digest, column.name);
/// }
/// assert!(report.undigested.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DigestReport {
    /// The definition of the digests: [`HASH`].
    pub hash: String,
    /// The name of the file.
    pub file: String,
    /// The path of the object in it.
    pub object: String,
    /// The first entry.
    pub first_entry: u64,
    /// The number of entries.
    pub entries: u64,
    /// The digests of the columns, in their order.
    pub digests: Vec<Digest>,
    /// The columns without a digest, with the reasons.
    pub undigested: Vec<Undigested>,
}

/// The digest of one column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Digest {
    /// The name of the branch or field.
    pub name: String,
    /// The C++ type.
    pub type_name: String,
    /// The digest: a number of 32 hexadecimal digits.
    pub digest: String,
}

/// A column without a digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Undigested {
    /// The name of the branch or field.
    pub name: String,
    /// The reason.
    pub reason: String,
}

impl DigestReport {
    /// Makes a report without columns.
    pub(super) fn new(dataset: &dyn Dataset, entries: Range<u64>) -> Self {
        Self {
            hash: HASH.to_owned(),
            file: dataset.file().to_owned(),
            object: dataset.name().to_owned(),
            first_entry: entries.start,
            entries: entries.end - entries.start,
            ..Self::default()
        }
    }
}

/// The digests that a dataset should have. They come from the report of a conversion, or from [`DigestReport`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The entries of the dataset that were hashed.
    entries: Range<u64>,
    /// The names and digests of the columns.
    columns: Vec<(String, String)>,
}

/// The JSON of the report of a conversion, or of a [`DigestReport`].
#[derive(Deserialize)]
struct Written {
    #[serde(alias = "digest_hash")]
    hash: String,
    #[serde(default)]
    first_entry: u64,
    entries: u64,
    /// The path of the dataset. Only a [`DigestReport`] has it.
    #[serde(default)]
    object: String,
    /// The path of the tree. Only the report of a conversion has it.
    #[serde(default)]
    tree: String,
    #[serde(default)]
    ntuple: String,
    #[serde(default, alias = "digests")]
    fields: Vec<WrittenColumn>,
}

/// A column in such a report.
#[derive(Deserialize)]
struct WrittenColumn {
    /// The name of the branch. Only the report of a conversion has it.
    branch: Option<String>,
    #[serde(alias = "name")]
    field: String,
    digest: Option<String>,
}

/// The JSON of one report, or of one report for each tree of a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    One(Written),
    All(Vec<Written>),
    Reports { reports: Vec<Written> },
}

/// The result of comparing digests with the expected digests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Whether the dataset has all columns of the report, with the same values.
    pub equal: bool,
    /// The number of entries of the report.
    pub entries: u64,
    /// The number of columns that were compared.
    pub compared: u64,
    /// The columns whose values differ.
    pub different: Vec<Difference>,
    /// The columns of the report that the dataset does not have.
    pub missing: Vec<String>,
    /// The columns of the dataset that have no digest in the report; they are not read.
    pub extra: Vec<String>,
    /// The columns of the report that cannot be read.
    pub undigested: Vec<Undigested>,
}

/// A column whose digest differs from the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The name of the branch or field.
    pub name: String,
    /// The digest in the report.
    pub expected: String,
    /// The digest of the values.
    pub found: String,
}

impl Expected {
    /// Takes the digests for `dataset` from the JSON `text` of a report. `source` is the name of the report, for
    /// messages. In the report of a conversion, the digests of a tree have the names of its branches, and the digests
    /// of an RNTuple have the names of its fields.
    ///
    /// # Errors
    /// `InvalidArgument` if the text is not such a report, or if it is the report of another dataset.
    pub fn parse(text: &[u8], source: &str, dataset: &dyn Dataset) -> Result<Self> {
        Self::read(text, dataset).in_file(source)
    }

    fn read(text: &[u8], dataset: &dyn Dataset) -> Result<Self> {
        let document: Document = serde_json::from_slice(text).map_err(|_| {
            Error::invalid_argument(
                "not a report with digests: `nyssa convert --report FILE` or `nyssa digest --json` \
                 writes one",
            )
        })?;
        let is_tree = dataset.format() == Format::TTree;
        let written = match document {
            Document::One(written) => written,
            Document::All(all) | Document::Reports { reports: all } => {
                let name = bare(dataset.name());
                let mut all = all.into_iter();
                let same = |item: &Written| {
                    let path = if is_tree { &item.tree } else { &item.ntuple };
                    bare(path) == name || bare(&item.object) == name
                };
                all.find(same).ok_or_else(|| {
                    Error::invalid_argument(format!("the report has no digests of {name}"))
                })?
            }
        };
        if written.hash != HASH {
            return Err(Error::invalid_argument(format!(
                "the report has digests of the kind {:?}, but this version of nyssa computes {HASH:?}",
                written.hash
            )));
        }
        let is_conversion = !written.ntuple.is_empty();
        let first = if is_conversion && !is_tree { 0 } else { written.first_entry };
        let last = first.checked_add(written.entries);
        let last = last.ok_or_else(|| Error::invalid_argument("the report has wrong entries"))?;
        let column = |column: WrittenColumn| {
            let name = column.branch.filter(|_| is_tree).unwrap_or(column.field);
            Some((name, column.digest?))
        };
        let columns = written.fields.into_iter().filter_map(column).collect();
        Ok(Self { entries: first..last, columns })
    }

    /// Takes other entries of the dataset than the entries of the report.
    #[must_use]
    pub fn with_entries(self, entries: Range<u64>) -> Self {
        Self { entries, ..self }
    }

    /// Hashes the columns of the report again. A branch also matches the field that a conversion makes from it, and
    /// the other way round.
    ///
    /// # Errors
    /// `InvalidArgument` when the dataset has fewer entries than the report; `Cancelled`; an error if the file is
    /// damaged or cannot be read.
    pub fn compare(
        &self,
        dataset: &dyn Dataset,
        memory_budget: u64,
        context: &Context,
    ) -> Result<Comparison> {
        let entries = self.entries.end.saturating_sub(self.entries.start);
        let mut comparison = Comparison { entries, ..Comparison::default() };
        let items = dataset.columns().iter().map(|item| &*item.name);
        let names: HashSet<&str> = items.clone().collect();
        let fields = converted(items);
        let by_field: HashMap<&str, &str> =
            fields.iter().map(|(&name, field)| (field.as_str(), name)).collect();
        let reported = converted(self.columns.iter().map(|(name, _)| name.as_str()));
        let mut by_name: HashMap<&str, &(String, String)> = HashMap::new();
        for column in &self.columns {
            let field = || by_field.get(reported.get(column.0.as_str())?.as_str());
            let name = names.get(column.0.as_str()).or_else(field);
            match name {
                Some(name) => drop(by_name.insert(name, column)),
                None => comparison.missing.push(column.0.clone()),
            }
        }
        let extra =
            dataset.columns().iter().filter(|item| !by_name.contains_key(item.name.as_str()));
        comparison.extra = extra.map(|item| item.name.clone()).collect();
        let only = Some(by_name.keys().map(|&name| name.to_owned()).collect());
        let entries = Some(self.entries.clone());
        let selection = Selection { only, entries, memory_budget, ..Selection::default() };
        let report = digest(dataset, &selection, context)?;
        comparison.compared = report.digests.len() as u64;
        comparison.undigested = report.undigested;
        for column in report.digests {
            let Some((_, expected)) = by_name.get(column.name.as_str()) else { continue };
            if *expected != column.digest {
                let (expected, found) = (expected.clone(), column.digest);
                comparison.different.push(Difference { name: column.name, expected, found });
            }
        }
        comparison.equal = comparison.different.is_empty()
            && comparison.missing.is_empty()
            && comparison.undigested.is_empty();
        Ok(comparison)
    }
}

/// Returns a path without its cycle.
fn bare(path: &str) -> &str {
    path.split(';').next().unwrap_or(path)
}
