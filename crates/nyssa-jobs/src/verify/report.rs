//! Defines the report of a check.

use std::collections::BTreeSet;

use bstr::BString;
use nyssa_io::printable;
use nyssa_root::error::{Error, Kind, Result};
use nyssa_root::problem::{DatasetCheck, Problem};
use nyssa_root::rootfile::{KeyEntry, Unlisted};
use nyssa_root::streamer::ObjectGraph;
use serde::Serialize;

use crate::tune::listing::with_cycle;

/// The report of a check of a file.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let report = nyssa::verify("../../testdata/rntuple/plain.root", &context)?;
/// assert_ne!(report.sound, Some(false));
/// for dataset in &report.datasets {
///     println!("{}: {} pages or baskets", dataset.path, dataset.check.parts);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// The name of the file.
    pub file: String,
    /// Whether the file is sound: there are no problems, everything was checked and decoded, and all pages and
    /// baskets have checksums. It is `None` if only checksums are missing.
    pub sound: Option<bool>,
    /// The number of keys whose records were checked.
    pub keys: usize,
    /// The objects that are not datasets.
    pub objects: Objects,
    /// The numbers of pages and baskets with and without a checksum. A record batch of Arrow IPC has none.
    pub checksums: Checksums,
    /// The datasets that were checked.
    pub datasets: Vec<DatasetReport>,
    /// The problems.
    pub problems: Vec<Problem>,
    /// The parts that could not be checked, and the reasons.
    pub unchecked: Vec<String>,
    /// Remarks on a sound file, such as keys that no directory lists.
    pub notes: Vec<String>,
}

/// The objects that are not datasets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Objects {
    /// The number of objects that were decoded, with all their members.
    pub decoded: usize,
    /// The objects that were checked but not decoded, or not completely decoded, and the reasons.
    pub undecoded: Vec<String>,
}

/// The numbers of pages and baskets with and without a checksum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checksums {
    /// The number of pages and baskets with a checksum.
    pub present: u64,
    /// The number of pages and baskets without a checksum.
    pub absent: u64,
}

/// A dataset that was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DatasetReport {
    /// The path in the file. The path of an attribute set starts with the path of its RNTuple.
    pub path: String,
    /// The cycle of the key. It is 0 for a table, which has none.
    pub cycle: u16,
    /// The class of the key, or the format of a table: `Parquet` or `Arrow`.
    pub class: String,
    /// The result of the check, without the problems.
    #[serde(flatten)]
    pub check: DatasetCheck,
}

/// The number of keys of one kind that notes name.
const NAMED_KEYS: usize = 20;

impl VerifyReport {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), ..Self::default() }
    }

    /// Adds the result of checking the dataset at `path`.
    pub(super) fn dataset(&mut self, path: String, key: &KeyEntry, check: DatasetCheck) {
        let attribute_set = path != key.path;
        let object = if attribute_set { path.clone() } else { name(key) };
        let (cycle, class) = (key.cycle, key.class.clone());
        self.checked(object, DatasetReport { path, cycle, class, check });
    }

    /// Adds the result of checking the table of a file.
    pub(super) fn table(&mut self, path: &str, class: &str, check: DatasetCheck) {
        let (path, class) = (path.to_owned(), class.to_owned());
        self.checked(path.clone(), DatasetReport { path, cycle: 0, class, check });
    }

    fn checked(&mut self, object: String, mut dataset: DatasetReport) {
        let check = &mut dataset.check;
        let problem = |it| Problem { object: Some(object.clone()), ..it };
        let problems = std::mem::take(&mut check.problems);
        self.problems.extend(problems.into_iter().map(problem));
        self.checksums.present += check.checksummed;
        self.checksums.absent += check.parts.saturating_sub(check.checksummed);
        self.datasets.push(dataset);
    }

    /// Adds a note for each version of a class that the file describes several times, with other members.
    pub(super) fn described_twice(&mut self, classes: &BTreeSet<(&str, i32)>) {
        self.notes.extend(classes.iter().map(|(class, version)| {
            printable(&format!(
                "version {version} of class {class} is described several times, with other members, as after a merge of \
                 files of different programs: objects that state this version are read by the first description, and \
                 those that state a checksum by their own"
            ))
        }));
    }

    /// Adds an object that was decoded, or the reasons why it was not, or not completely, decoded.
    pub(super) fn object(&mut self, key: &KeyEntry, result: Result<ObjectGraph>) -> Result<()> {
        let reasons = result.as_ref().map_or(BTreeSet::new(), |graph| {
            graph.undecoded().map(|item| format!("{}: {item}", name(key))).collect()
        });
        match result {
            Err(error) if error.kind() == Kind::Unsupported => {
                self.objects.undecoded.push(format!("{}: {}", name(key), error.message()));
                Ok(())
            }
            Ok(_) if reasons.is_empty() => {
                self.objects.decoded += 1;
                Ok(())
            }
            Ok(_) => {
                self.objects.undecoded.extend(reasons);
                Ok(())
            }
            damaged => self.record(Some(key), damaged.map(drop)),
        }
    }

    /// Adds damage, and objects that nyssa does not support. Returns errors that are not the fault of the file.
    pub(super) fn record(&mut self, key: Option<&KeyEntry>, result: Result<()>) -> Result<()> {
        let Err(error) = result else { return Ok(()) };
        if error.kind() == Kind::Unsupported {
            let object = key.map(|key| format!("{}: ", name(key))).unwrap_or_default();
            self.unchecked.push(format!("{object}{}", error.message()));
            return Ok(());
        }
        self.damage(key, error)
    }

    /// Adds damage, and returns all other errors.
    pub(super) fn damage(&mut self, key: Option<&KeyEntry>, error: Error) -> Result<()> {
        let kinds = [Kind::OutOfSpecification, Kind::Checksum, Kind::LimitExceeded];
        if !kinds.contains(&error.kind()) {
            return Err(error);
        }
        let problem = Problem::from(&error);
        let object = key.map(name).or_else(|| problem.object.clone());
        self.problems.push(Problem { object, ..problem });
        Ok(())
    }

    /// Adds a directory that cannot be listed, if the check of the container has not found this.
    pub(super) fn lost(&mut self, error: Error) -> Result<()> {
        let new = Problem::from(&error);
        let is_known =
            |known: &Problem| (&known.message, &known.object) == (&new.message, &new.object);
        if self.problems.iter().any(is_known) {
            return Ok(());
        }
        self.record(None, Err(error))
    }

    /// Adds a note for each of the first keys whose records have another text than the list.
    fn differing(&mut self, keys: &[(KeyEntry, BString)], text: &str, why: &str) {
        let notes = keys.iter().take(NAMED_KEYS).map(|(key, own)| {
            let KeyEntry { class, name, cycle, seek, .. } = key;
            printable(&format!(
                "{class} {name:?};{cycle} has the {text} {own:?} in its record at byte {seek}: {why}"
            ))
        });
        self.notes.extend(notes);
        let more = keys.len().saturating_sub(NAMED_KEYS);
        if more > 0 {
            self.notes.push(format!("{more} more keys have other {text}s in their records"));
        }
    }

    /// Adds a note for each of the first keys that no directory lists, and that have another name or title in the
    /// list. A writer that crashed, or that deleted a directory, may leave keys that are not listed.
    pub(super) fn unlisted(&mut self, unlisted: &Unlisted) {
        self.differing(&unlisted.renamed, "name", "it was renamed");
        self.differing(&unlisted.retitled, "title", "it was changed in the list");
        let named = unlisted.keys.iter().take(NAMED_KEYS).map(|key| {
            let KeyEntry { class, name, cycle, seek, .. } = key;
            printable(&format!(
                "{class} {name:?};{cycle} lies at byte {seek}, and no directory lists it"
            ))
        });
        self.notes.extend(named);
        let more = unlisted.keys.len().saturating_sub(NAMED_KEYS);
        if more > 0 {
            self.notes.push(format!("no directory lists {more} more keys that lie in the file"));
        }
        if let Some(byte) = unlisted.lost {
            self.notes.push(format!(
                "no record begins at byte {byte}, where one ends: keys that no directory lists were not looked for behind it"
            ));
        }
    }

    /// Returns what the stored parts of the datasets are called, of which some may have no checksum.
    pub fn parts(&self) -> &'static str {
        match self.datasets.first().map(|dataset| dataset.class.as_str()) {
            Some("Parquet") => "pages",
            Some("Arrow") => "record batches",
            _ => "pages and baskets",
        }
    }

    /// Returns whether everything was checked and decoded, apart from the problems.
    pub fn is_complete(&self) -> bool {
        self.unchecked.is_empty() && self.not_decoded().next().is_none()
    }

    /// Returns the parts that were not decoded, with the reasons: objects, and columns of datasets. Their bytes were
    /// checked if this is possible without decoding them.
    pub fn not_decoded(&self) -> impl Iterator<Item = String> {
        let column = |item: &DatasetReport, column: &String| {
            format!("{}: {column}", with_cycle(&item.path, item.cycle))
        };
        let columns = self.datasets.iter().flat_map(move |item| {
            item.check.unreadable.iter().map(move |reason| column(item, reason))
        });
        self.objects.undecoded.iter().cloned().chain(columns)
    }

    /// Decides whether the file is sound.
    pub(super) fn concluded(mut self) -> Self {
        self.sound = match self.problems.is_empty() && self.is_complete() {
            true => (self.checksums.absent == 0).then_some(true),
            false => Some(false),
        };
        self
    }
}

/// Returns the path and cycle of a key.
fn name(key: &KeyEntry) -> String {
    format!("{};{}", key.path, key.cycle)
}
