//! Defines the trait [`Dataset`], which has the operations that TTrees and RNTuples share.

mod backing;
pub mod batches;
mod cpp_type;
mod filter;
pub mod readable;
pub mod steps;
mod take;
mod windows;

use std::any::Any;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{Field, FieldRef};
use nyssa_io::OpenOptions;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

pub use backing::{BACKING_PREFIX, Backing, Shown, common_names};
pub use cpp_type::{CppKind, CppType, parts};
pub use filter::{Filter, check_patterns, glob, no_match, select_columns, select_readable};
pub use readable::{LeftOut, ReadableColumns};
pub(crate) use take::gather;
pub use windows::{Window, Windows};

/// The format of a dataset. A file of ROOT has TTrees and RNTuples, other files are one table.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// assert_eq!(nyssa::open("../../testdata/rntuple/codec-zstd.root")?.format(), nyssa::Format::RNTuple);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A TTree, the container of ROOT until version 6.
    TTree,
    /// An RNTuple, the successor of TTree.
    RNTuple,
    /// The table of a Parquet file.
    Parquet,
    /// The table of an Arrow IPC file or stream.
    Arrow,
}

/// The values of columns, one array for each.
pub type Arrays = Vec<ArrayRef>;

/// A readable top-level column of a dataset: a branch or a field.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
/// let x = &events.columns()[1];
/// assert_eq!((x.name.as_str(), x.type_name.as_str()), ("x", "std::vector<double>"));
/// assert!(x.field.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnInfo {
    /// The branch or field name.
    pub name: String,
    /// The C++ type name, such as `std::vector<float>` or `float[3]`.
    pub type_name: String,
    /// The Arrow field of the column, or the reason why nyssa cannot read it.
    pub field: std::result::Result<Field, String>,
}

/// The sizes of a column, with all columns below it.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let bytes = nyssa::open("../../testdata/rntuple/codec-zstd.root")?.column_bytes("x")?.unwrap();
/// assert!(bytes.uncompressed >= 250 * 8);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnBytes {
    /// The bytes in the file: pages with their checksums, or baskets with their keys.
    pub compressed: u64,
    /// The bytes before compression: elements of pages, or baskets with their keys.
    pub uncompressed: u64,
}

/// A TTree or RNTuple that can be read.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// fn readable(dataset: &dyn nyssa::Dataset) -> usize {
///     dataset.columns().iter().filter(|column| column.field.is_ok()).count()
/// }
/// assert!(readable(&*nyssa::open("../../testdata/rntuple/plain.root")?) > 0);
/// assert!(readable(&*nyssa::open("../../testdata/ttree/events-zstd.root")?) > 0);
/// # Ok(())
/// # }
/// ```
pub trait Dataset: Send + Sync {
    /// Returns the container format.
    fn format(&self) -> Format;

    /// Returns the path of the object in its file, such as `Events`.
    fn name(&self) -> &str;

    /// Returns the name of the file, for messages.
    fn file(&self) -> &str;

    /// Returns the path or URL with which the file can be opened again.
    fn location(&self) -> &Path {
        Path::new(self.file())
    }

    /// Returns the number of entries.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// assert_eq!(nyssa::open("../../testdata/rntuple/codec-zstd.root")?.num_entries(), 250);
    /// # Ok(())
    /// # }
    /// ```
    fn num_entries(&self) -> u64;

    /// Returns the readable and unreadable columns, in order.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
    /// let names: Vec<_> = events.columns().iter().map(|column| &column.name).collect();
    /// assert_eq!(names, ["n", "x", "text"]);
    /// # Ok(())
    /// # }
    /// ```
    fn columns(&self) -> &[ColumnInfo];

    /// Returns the title of a branch, or the description of a field. It is empty if the column has none, and for
    /// views that do not know it.
    fn title(&self, column: &str) -> String {
        let _ = column;
        String::new()
    }

    /// Returns the title of the TTree, or the description of the RNTuple. It is empty if the dataset has none, and
    /// for views that do not know it.
    fn description(&self) -> String {
        String::new()
    }

    /// Returns the sizes of a column with all columns below it, from the metadata. No page or basket is read. `None`
    /// means that the dataset has no such column, or is made of several datasets and does not know.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
    /// assert!(events.column_bytes("text")?.unwrap().compressed > 0);
    /// assert!(events.column_bytes("missing")?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if a page list is damaged or cannot be read.
    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        let _ = column;
        Ok(None)
    }

    /// Returns the columns that are parts of other columns, by path: sub-branches of split branches
    /// (`event/px`), subfields (`s.x`, `jets.pt`), and collections whose content other columns show
    /// ([`Dataset::backing`]).
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// let events = nyssa::open("../../testdata/rntuple/late.root")?;
    /// assert!(events.subcolumns().iter().any(|column| column.name.starts_with("record.")));
    /// # Ok(())
    /// # }
    /// ```
    fn subcolumns(&self) -> &[ColumnInfo] {
        &[]
    }

    /// Returns the names of the columns that hold the lengths of lists: counters of branches and projected
    /// sizes of collections. Their values are never negative.
    fn size_columns(&self) -> HashSet<String> {
        HashSet::new()
    }

    /// Returns groups of columns whose lists have equal lengths in every entry, with the columns that hold the
    /// length: branches with one counter, and projected members of one collection.
    fn equal_lengths(&self) -> Vec<BTreeSet<String>> {
        Vec::new()
    }

    /// Finds a column by its name or path. A column of an RNTuple is also found by ROOT's full path
    /// (`jets._0.pt`). A branch of a TTree is also found by the last name of its path, if no other branch
    /// has that name, and by its path from the tree on (`/event/px`).
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
    /// assert_eq!(events.find_column("x").unwrap().type_name, "std::vector<double>");
    /// assert!(events.find_column("y").is_none());
    /// # Ok(())
    /// # }
    /// ```
    fn find_column(&self, name: &str) -> Option<&ColumnInfo> {
        let all = || self.columns().iter().chain(self.subcolumns());
        let path = name.strip_prefix('/').unwrap_or(name);
        let exact = all().find(|item| item.name == name || item.name == path);
        exact.or_else(|| {
            let mut named = all().filter(|item| item.name.rsplit('/').next() == Some(name));
            named.next().filter(|_| named.next().is_none())
        })
    }

    /// Returns the C++ type of a column if the dataset knows it. A dataset that is made of several datasets does not
    /// know it.
    fn cpp_type(&self, column: &ColumnInfo) -> Option<CppType> {
        let _ = column;
        None
    }

    /// Returns the collections whose content other columns show completely. Only columns for which `listed` is true
    /// count.
    fn backing(&self, listed: &dyn Fn(&str) -> bool) -> Backing {
        let _ = listed;
        Backing::new()
    }

    /// Returns the reader of the file, for operations that only its format has. A view returns the reader of the
    /// dataset whose columns it shows. `None` if the dataset is made of several datasets, or adds columns.
    fn reader(&self) -> Option<&dyn Any> {
        None
    }

    /// Returns ranges of entries, in order, that cover all entries. Reading one range needs little more than
    /// its own bytes.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
    /// assert_eq!(events.clusters().last().unwrap().end, events.num_entries());
    /// # Ok(())
    /// # }
    /// ```
    fn clusters(&self) -> Vec<Range<u64>>;

    /// Reads the columns `names` of a range of entries. The arrays come in the order of `names`. Each is as
    /// long as the range, and of the Arrow type in [`Dataset::columns`].
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// let context = nyssa::Context::new(None)?;
    /// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
    /// let arrays = events.read(&["n", "text"], 10..20, &context)?;
    /// assert_eq!((arrays.len(), arrays[0].len()), (2, 10));
    /// let error = events.read(&["m"], 0..1, &context).unwrap_err();
    /// assert_eq!(error.suggestions()[0], "n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` with the nearest names, `Unsupported`, `InvalidArgument` for a range beyond the entries; an error
    /// if the file is damaged or cannot be read.
    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context)
    -> Result<Vec<ArrayRef>>;

    /// Reads the columns `names` for entries in any order, which can be repeated. The arrays have the types
    /// of [`Dataset::read`] and one value for each index. Only the pages or baskets that hold these entries
    /// are read.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// let context = nyssa::Context::new(None)?;
    /// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
    /// assert_eq!(events.take(&["x"], &[249, 0, 0], &context)?[0].len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`, `Unsupported`, `InvalidArgument` for an index beyond the entries; an error if the file is damaged
    /// or cannot be read.
    fn take(&self, names: &[&str], indices: &[u64], context: &Context) -> Result<Vec<ArrayRef>> {
        take::take(self, names, indices, context)
    }

    /// Returns the columns, or the parts of columns, that cannot be read for these entries, with the reasons.
    ///
    /// # Errors
    /// `Io`, `Cancelled`, `InvalidArgument`. Damage of the file is not an error here.
    fn damaged(
        &self,
        names: &[&str],
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Vec<LeftOut>> {
        readable::damaged(self, names, entries, context)
    }

    /// Returns this dataset without some parts of its columns, which [`Dataset::damaged`] has named. Records do not
    /// have these parts. Returns `None` if the dataset cannot read columns in parts.
    ///
    /// # Errors
    /// Returns an error if the dataset cannot be opened again.
    fn without(&self, _parts: &[LeftOut], _context: &Context) -> Result<Option<AnyDataset>> {
        Ok(None)
    }

    /// Closes the files of the dataset. After that, nothing can be read, not even by other datasets of this open
    /// file. A dataset without files stays readable.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// let context = nyssa::Context::new(None)?;
    /// let events = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
    /// events.close();
    /// assert!(events.read(&["x"], 0..1, &context).is_err());
    /// # Ok(())
    /// # }
    /// ```
    fn close(&self) {}

    /// Checks that the files of these entries are open.
    ///
    /// # Errors
    /// `InvalidArgument` with the name of a file that is closed.
    fn check_open(&self, _entries: &Range<u64>) -> Result<()> {
        Ok(())
    }

    /// Returns the options with which the files of the dataset were opened, each only once. A dataset without files
    /// has none.
    fn open_options(&self) -> Vec<OpenOptions> {
        Vec::new()
    }
}

impl std::fmt::Debug for dyn Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {} of {}", self.format(), self.name(), self.file())
    }
}

/// A shared dataset.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let events: nyssa::AnyDataset = nyssa::open("../../testdata/rntuple/plain.root")?;
/// let again = events.clone();
/// let entries = std::thread::spawn(move || again.num_entries()).join().unwrap();
/// assert_eq!(entries, events.num_entries());
/// # Ok(())
/// # }
/// ```
pub type AnyDataset = Arc<dyn Dataset>;

/// Returns the options without clones of earlier options.
pub(crate) fn different(all: impl IntoIterator<Item = OpenOptions>) -> Vec<OpenOptions> {
    let mut different: Vec<OpenOptions> = Vec::new();
    for options in all {
        if !different.iter().any(|known| known.stats.is_same(&options.stats)) {
            different.push(options);
        }
    }
    different
}

/// Checks that a dataset of `total` entries has the entries `entries`.
///
/// # Errors
/// `InvalidArgument` with both numbers.
pub fn check_entries(entries: &Range<u64>, total: u64) -> Result<()> {
    if entries.start <= entries.end && entries.end <= total {
        return Ok(());
    }
    let Range { start, end } = entries;
    let message = format!("entries {start}..{end} are requested, but there are {total}");
    Err(Error::invalid_argument(message))
}

/// Returns the stored bytes of columns, as far as the format of the dataset knows them.
///
/// # Errors
/// Returns an error if the metadata are damaged or cannot be read.
pub fn stored_bytes(dataset: &dyn Dataset, columns: &[String]) -> Result<u64> {
    columns.iter().try_fold(0u64, |sum, name| {
        let bytes = dataset.column_bytes(name)?.map_or(0, |bytes| bytes.compressed);
        Ok(sum.saturating_add(bytes))
    })
}

/// Returns the Arrow fields of columns, with the requested names.
///
/// # Errors
/// `NotFound` with the nearest names, `Unsupported`.
pub fn fields<S: AsRef<str>>(dataset: &dyn Dataset, names: &[S]) -> Result<Vec<FieldRef>> {
    fn named(item: &ColumnInfo) -> (&str, &ColumnInfo) {
        (&item.name, item)
    }
    let mut items: HashMap<&str, &ColumnInfo> = dataset.columns().iter().map(named).collect();
    if names.iter().any(|name| !items.contains_key(name.as_ref())) {
        items.extend(dataset.subcolumns().iter().map(named));
    }
    let find = |name: &S| {
        let name = name.as_ref();
        let item = items.get(name).copied().or_else(|| dataset.find_column(name));
        let missing = || {
            let known = dataset.columns().iter().chain(dataset.subcolumns());
            let known = known.map(|column| column.name.as_str());
            Error::not_found(format!("no column named {name:?}")).suggest(name, known)
        };
        let item = item.ok_or_else(missing)?;
        // The name of the column can differ from the requested name.
        let field = item.field.clone().map_err(Error::unsupported)?;
        Ok(Arc::new(field.with_name(name)))
    };
    names.iter().map(find).collect()
}
