//! The trait [`Dataset`]: what can be done with any dataset, TTree or RNTuple.

pub(crate) mod batches;
mod filter;
pub(crate) mod readable;
pub mod steps;
mod take;
mod windows;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{Field, FieldRef};

use crate::Context;
use crate::error::{Error, Result};
use crate::rntuple::schema::Schema;

pub use filter::{Filter, select_columns};
pub use readable::{LeftOut, ReadableColumns};
pub use windows::{Window, Windows};

/// Which container a dataset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TTree, the container of ROOT until version 6.
    TTree,
    /// RNTuple, its successor.
    RNTuple,
}

/// A readable top-level column of a dataset: a branch or a field.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnInfo {
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
    fn columns(&self) -> &[ColumnInfo];

    /// Columns that are parts of other columns, by path: sub-branches of split branches (`event/px`),
    /// subfields (`s.x`, `jets.pt`), and collections whose content is shown by projected fields
    /// ([`Schema::backing`]).
    fn subcolumns(&self) -> &[ColumnInfo] {
        &[]
    }

    /// Names of the columns that hold the lengths of lists: counters of branches and projected sizes of
    /// collections. Their values are never negative.
    fn size_columns(&self) -> HashSet<String> {
        HashSet::new()
    }

    /// Finds a column by its name or path. A column of an RNTuple is also found by ROOT's full path
    /// (`jets._0.pt`). A branch of a TTree is also found by the last name of its path, if no other branch
    /// has that name, and by its path from the tree on (`/event/px`).
    fn find_column(&self, name: &str) -> Option<&ColumnInfo> {
        let all = || self.columns().iter().chain(self.subcolumns());
        let path = name.strip_prefix('/').unwrap_or(name);
        let exact = all().find(|item| item.name == name || item.name == path);
        exact.or_else(|| {
            let mut named = all().filter(|item| item.name.rsplit('/').next() == Some(name));
            named.next().filter(|_| named.next().is_none())
        })
    }

    /// Fields and columns of an RNTuple. Its top-level fields are the columns of the dataset.
    fn schema(&self) -> Option<&Schema> {
        None
    }

    /// Ranges of entries, in order, that cover all entries. Each is cheap to read on its own.
    fn clusters(&self) -> Vec<Range<u64>>;

    /// Reads the columns `names` of a range of entries. The arrays come in the order of `names`. Each is as
    /// long as the range, and of the Arrow type in [`Dataset::columns`].
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
        readable::damaged(self, names, entries, context)
    }

    /// The same dataset without some parts of its columns, which [`Dataset::damaged`] names: records do
    /// not have them. `None` where columns are read as a whole or not at all.
    ///
    /// # Errors
    /// Those of opening the dataset.
    fn without(&self, _parts: &[LeftOut], _context: &Context) -> Result<Option<AnyDataset>> {
        Ok(None)
    }

    /// Closes the files of the dataset. After that nothing can be read, also not by other datasets of the
    /// same open file. A dataset without files stays readable.
    fn close(&self) {}

    /// Checks that the files of these entries are open.
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

    /// Opens an attribute set: an RNTuple with the fields of `rntuple::read::ATTRIBUTE_FIELDS`.
    ///
    /// # Errors
    /// `NotFound`, and those of `rntuple::read::Reader::open_attribute_set`.
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

/// Checks that a dataset of `total` entries has these.
///
/// # Errors
/// `InvalidArgument` with both numbers.
pub(crate) fn check_entries(entries: &Range<u64>, total: u64) -> Result<()> {
    if entries.start <= entries.end && entries.end <= total {
        return Ok(());
    }
    let Range { start, end } = entries;
    let message = format!("entries {start}..{end} are asked for, there are {total}");
    Err(Error::invalid_argument(message))
}

/// The Arrow fields of columns, with the names that were asked for.
///
/// # Errors
/// `NotFound`, `Unsupported`.
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
        let item = item.ok_or_else(|| Error::not_found(format!("no column named {name:?}")))?;
        // The column may have another name than the one that was asked for.
        let field = item.field.clone().map_err(Error::unsupported)?;
        Ok(Arc::new(field.with_name(name)))
    };
    names.iter().map(find).collect()
}
