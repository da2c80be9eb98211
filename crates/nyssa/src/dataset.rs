//! One face for any dataset, TTree or RNTuple: what the command line, Python, verify and diff use.

mod batches;
mod chain;
pub mod diff;
pub mod digest;
pub mod evolve;
mod evolved;
mod files;
mod filter;
mod friends;
mod join;
mod rules;
mod selected;
mod slice;
pub(crate) mod spare;
pub mod steps;
mod take;
mod target;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{Field, FieldRef};

use crate::Context;
use crate::error::{Error, Result, ResultExt};
use crate::read;
use crate::rootfile::{KeyEntry, RootFile};
use crate::schema::Schema;
use crate::ttree;

pub use chain::{Chain, ChainOptions, Link, MAX_OPEN};
pub use evolved::Evolved;
pub(crate) use evolved::Mapping;
pub use files::files;
pub use filter::Filter;
pub use friends::open_with_friends;
pub use join::{Join, Right};
pub use rules::{ReadRule, RuleFunction, Ruled, Target as RuleTarget};
pub use selected::{Piece, Selected, taken};
pub use slice::Slice;
pub use spare::{LeftOut, Sparing};
pub use target::Target;

/// Which container a dataset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The old container.
    TTree,
    /// The new one.
    RNTuple,
}

/// A readable top-level column of a dataset: a branch or a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Branch or field name.
    pub name: String,
    /// C++ type name, such as `std::vector<float>` or `float[3]`.
    pub type_name: String,
    /// Arrow field it reads as, or why nyssa cannot read it.
    pub field: std::result::Result<Field, String>,
}

/// A TTree or RNTuple that can be read.
pub trait Dataset: Send + Sync {
    /// Container format.
    fn format(&self) -> Format;

    /// Path of the object in its file, such as `Events`.
    fn name(&self) -> &str;

    /// Name of the file, for messages.
    fn file(&self) -> &str;

    /// Number of entries.
    fn num_entries(&self) -> u64;

    /// Readable and unreadable columns, in order.
    fn items(&self) -> &[Item];

    /// Columns that are part of those of [`Dataset::items`], by path: the sub-branches of split branches, the
    /// parts of fields (`s.x`; `jets.pt` for those of the items of a collection), and the collections of
    /// which projected fields show everything ([`Schema::backing`]).
    fn below(&self) -> &[Item] {
        &[]
    }

    /// Names of the columns that say how many items lists have, so that they are never negative: counters of
    /// branches, projected sizes of collections.
    fn sizes(&self) -> HashSet<String> {
        HashSet::new()
    }

    /// The column of a name, of the items or below them. Those of an RNTuple are also found by ROOT's full
    /// path (`jets._0.pt`), those of a TTree by the last name of their path where no other has it, and by
    /// the path from the tree on (`/event/px`).
    fn item(&self, name: &str) -> Option<&Item> {
        let all = || self.items().iter().chain(self.below());
        let path = name.strip_prefix('/').unwrap_or(name);
        let exact = all().find(|item| item.name == name || item.name == path);
        exact.or_else(|| {
            let mut named = all().filter(|item| item.name.rsplit('/').next() == Some(name));
            named.next().filter(|_| named.next().is_none())
        })
    }

    /// Fields and columns of an RNTuple; its top-level fields are the items.
    fn schema(&self) -> Option<&Schema> {
        None
    }

    /// Entry ranges that are cheap to read on their own, covering all entries.
    fn clusters(&self) -> Vec<Range<u64>>;

    /// Reads `names` for an entry range; arrays in the order asked, each `entries.len()` long,
    /// of the Arrow types in [`Dataset::items`].
    ///
    /// # Errors
    /// `NotFound` with the nearest names, `Unsupported`, `InvalidArgument` for a range beyond the
    /// entries, and whatever is wrong with the file.
    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context)
    -> Result<Vec<ArrayRef>>;

    /// Reads `names` for entries in any order, also repeated: arrays of the same types as
    /// [`Dataset::read`], one value for each index. Only what holds these entries is read.
    ///
    /// # Errors
    /// Those of [`Dataset::read`], `InvalidArgument` for an index beyond the entries.
    fn take(&self, names: &[&str], indices: &[u64], context: &Context) -> Result<Vec<ArrayRef>> {
        take::take(self, names, indices, context)
    }

    /// Which of the columns, or which parts of them, cannot be read of these entries, and why.
    ///
    /// # Errors
    /// `Io`, `Cancelled`, and wrong arguments.
    fn damaged(
        &self,
        names: &[&str],
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Vec<LeftOut>> {
        spare::damaged(self, names, entries, context)
    }

    /// The same dataset without some parts of its columns, which [`Dataset::damaged`] names: records do
    /// not have them. `None` where columns are read as a whole or not at all.
    ///
    /// # Errors
    /// Those of opening the dataset.
    fn without(&self, _parts: &[LeftOut], _context: &Context) -> Result<Option<AnyDataset>> {
        Ok(None)
    }

    /// Lets go of the files that it is read from; nothing can be read any more, also not by other datasets
    /// of the same open file. For datasets without files this does nothing.
    fn close(&self) {}

    /// Refuses entries of files that were closed.
    ///
    /// # Errors
    /// `InvalidArgument` with the name of the file.
    fn check_open(&self, _entries: &Range<u64>) -> Result<()> {
        Ok(())
    }

    /// Names of the attribute sets: data about ranges of entries, which only RNTuples have.
    fn attribute_sets(&self) -> Vec<String> {
        Vec::new()
    }

    /// Opens an attribute set: an RNTuple with the fields of [`read::ATTRIBUTE_FIELDS`].
    ///
    /// # Errors
    /// `NotFound`, and those of [`read::Reader::open_attribute_set`].
    fn attribute_set(&self, name: &str) -> Result<AnyDataset> {
        Err(Error::not_found(format!("{} has no attribute set {name:?}", self.name())))
    }
}

impl std::fmt::Debug for dyn Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {} of {}", self.format(), self.name(), self.file())
    }
}

/// A shared dataset.
pub type AnyDataset = Arc<dyn Dataset>;

/// Class names of the keys of TTrees that nyssa reads.
pub const TREE_CLASSES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];

/// What kind of dataset the object of a key is, if it is one.
pub fn format_of(key: &KeyEntry) -> Option<Format> {
    match key.class.as_str() {
        read::CLASS => Some(Format::RNTuple),
        class if TREE_CLASSES.contains(&class) => Some(Format::TTree),
        _ => None,
    }
}

/// Opens the dataset at `path` (`dir/name`, `dir/name;cycle`), TTree or RNTuple by its key's class;
/// without a path the only one in the file.
///
/// # Errors
/// `NotFound` with the nearest names or when the file has no dataset; `InvalidArgument` when `path`
/// is something else, or naming the candidates when there are several and no path; and whatever is
/// wrong with the file.
pub fn open_dataset(file: &RootFile, path: Option<&str>) -> Result<AnyDataset> {
    open_dataset_with(file, path, read::Options::default())
}

/// As [`open_dataset`], with options; of a TTree only the form of streamed objects counts.
///
/// # Errors
/// Those of [`open_dataset`].
pub fn open_dataset_with(
    file: &RootFile,
    path: Option<&str>,
    options: read::Options,
) -> Result<AnyDataset> {
    let key = match path {
        Some(path) => file.find(path)?,
        None => only_dataset(file).in_file(file.name())?,
    };
    // Name and cycle: the path alone would be another cycle's.
    let path = format!("{};{}", key.path, key.cycle);
    match format_of(&key) {
        Some(Format::RNTuple) => Ok(Arc::new(read::Reader::open_with(file, &path, options)?)),
        Some(Format::TTree) => {
            let raw = options.streamer == read::StreamerForm::Raw;
            Ok(Arc::new(ttree::Reader::open_with(file, &path, raw)?))
        }
        None => Err(Error::invalid_argument(format!(
            "{} is a {}, neither a TTree nor an RNTuple",
            key.path, key.class
        )))
        .in_file(file.name()),
    }
}

/// Opens the dataset at `file.root:Events`, or the only one of a local file.
///
/// # Errors
/// Those of opening the file and of [`open_dataset`].
pub fn open_path(path: &str) -> Result<AnyDataset> {
    let (file, object) = split_path(path);
    let source: Arc<dyn nyssa_io::Source> = Arc::new(nyssa_io::LocalSource::open(file)?);
    open_dataset(&RootFile::open(source)?, object)
}

/// The newest cycle of each dataset of a file, in the order of the file; those in directories that cannot
/// be listed are missing.
///
/// # Errors
/// Those of [`RootFile::list_all`].
pub fn datasets(file: &RootFile) -> Result<Vec<KeyEntry>> {
    let mut newest: Vec<KeyEntry> = Vec::new();
    let (keys, _) = file.list_all()?;
    for key in keys.into_iter().filter(|key| format_of(key).is_some()) {
        match newest.iter_mut().find(|other| other.path == key.path) {
            Some(other) if other.cycle < key.cycle => *other = key,
            Some(_) => (),
            None => newest.push(key),
        }
    }
    Ok(newest)
}

/// The Arrow fields that columns read as, under the names that are asked for.
///
/// # Errors
/// `NotFound`, `Unsupported`.
pub fn fields<S: AsRef<str>>(dataset: &dyn Dataset, names: &[S]) -> Result<Vec<FieldRef>> {
    fn named(item: &Item) -> (&str, &Item) {
        (&item.name, item)
    }
    let mut items: HashMap<&str, &Item> = dataset.items().iter().map(named).collect();
    if names.iter().any(|name| !items.contains_key(name.as_ref())) {
        items.extend(dataset.below().iter().map(named));
    }
    let find = |name: &S| {
        let name = name.as_ref();
        let item = items.get(name).copied().or_else(|| dataset.item(name));
        let item = item.ok_or_else(|| Error::not_found(format!("no column named {name:?}")))?;
        // By the name that was asked for: the column's own may be spelled otherwise.
        let field = item.field.clone().map_err(Error::unsupported)?;
        Ok(Arc::new(field.with_name(name)))
    };
    names.iter().map(find).collect()
}

fn only_dataset(file: &RootFile) -> Result<KeyEntry> {
    let mut datasets = datasets(file)?;
    match datasets.len() {
        0 => Err(Error::not_found("the file has no TTree and no RNTuple")),
        1 => Ok(datasets.swap_remove(0)),
        _ => {
            let names = datasets.iter().map(|key| key.path.as_str()).collect::<Vec<_>>();
            Err(Error::invalid_argument(format!(
                "the file has several datasets, name one of them: {}",
                names.join(", ")
            )))
        }
    }
}

/// Splits `file.root:dir/Events` into the file and the object in it. Colons of URLs, of Windows drives
/// and inside the names of existing files do not count.
pub fn split_path(path: &str) -> (&str, Option<&str>) {
    if std::path::Path::new(path).exists() {
        return (path, None);
    }
    let host_end = path.find("://").map_or(0, |scheme| {
        let host = scheme + 3;
        path[host..].find('/').map_or(path.len(), |slash| host + slash)
    });
    let drive =
        matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let candidates = path
        .match_indices(':')
        .map(|(colon, _)| colon)
        .filter(|&colon| colon >= host_end && !(drive && colon == 1))
        .collect::<Vec<_>>();
    let is_file = |colon: &usize| std::path::Path::new(&path[..*colon]).is_file();
    let is_named_root = |colon: &usize| path[..*colon].to_ascii_lowercase().ends_with(".root");
    let colon = candidates
        .iter()
        .copied()
        .find(is_file)
        .or_else(|| candidates.iter().copied().find(is_named_root))
        .or_else(|| candidates.last().copied());
    match colon {
        Some(colon) => {
            let object = path[colon + 1..].trim_matches('/');
            (&path[..colon], Some(object).filter(|object| !object.is_empty()))
        }
        None => (path, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_at_the_object() {
        for (path, file, object) in [
            ("a.root", "a.root", None),
            ("a.root:", "a.root", None),
            ("a.root:Events", "a.root", Some("Events")),
            ("a.root:/dir/Events;2", "a.root", Some("dir/Events;2")),
            ("run:3.root:Events", "run:3.root", Some("Events")),
            ("a.root:x:y", "a.root", Some("x:y")),
            (r"C:\data\a.root", r"C:\data\a.root", None),
            (r"C:\data\a.root:Events", r"C:\data\a.root", Some("Events")),
            ("https://host:8443/a.root", "https://host:8443/a.root", None),
            (
                "root://host:1094//store/a.root:Events",
                "root://host:1094//store/a.root",
                Some("Events"),
            ),
            ("a.ntuple:Events", "a.ntuple", Some("Events")),
        ] {
            assert_eq!(split_path(path), (file, object), "{path}");
        }
    }

    #[test]
    fn colons_in_names_of_files_do_not_split() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a:b");
        std::fs::write(&file, "").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(split_path(file), (file, None));
        let with_object = format!("{file}:Events");
        assert_eq!(split_path(&with_object), (file, Some("Events")));
    }
}
