//! One face for any dataset, TTree or RNTuple: what the command line, Python, verify and diff use.

pub mod diff;
mod filter;
mod slice;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::Field;

use crate::Context;
use crate::error::Result;

pub use filter::Filter;
pub use slice::Slice;

/// Which container a dataset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The old container.
    TTree,
    /// The new one.
    RNTuple,
}

/// A readable top-level column of a dataset: a branch or a field.
#[derive(Clone, Debug)]
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
}

/// A shared dataset.
pub type AnyDataset = Arc<dyn Dataset>;
