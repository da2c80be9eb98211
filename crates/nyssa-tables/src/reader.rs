//! An open table: a dataset that also knows how it is stored.

use std::ops::Range;
use std::sync::Arc;

use nyssa_data::dataset::AnyDataset;
use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::problem::DatasetCheck;

use crate::layout::Layout;
use crate::table::{Table, Values};

/// The table of a Parquet or Arrow IPC file.
#[derive(Clone)]
pub struct Reader {
    dataset: AnyDataset,
    stored: Arc<dyn Stored>,
}

/// What is known of a table beside its values.
trait Stored: Send + Sync {
    fn file_bytes(&self) -> u64;
    fn groups(&self) -> &[Range<u64>];
    fn layout(&self, context: &Context) -> Result<Layout>;
    fn check(&self, context: &Context) -> Result<DatasetCheck>;
}

impl<V: Values> Stored for Table<V> {
    fn file_bytes(&self) -> u64 {
        self.head.source.size()
    }

    fn groups(&self) -> &[Range<u64>] {
        &self.head.clusters
    }

    fn layout(&self, context: &Context) -> Result<Layout> {
        self.values.layout(&self.head, context)
    }

    fn check(&self, context: &Context) -> Result<DatasetCheck> {
        self.values.check(&self.head, context)
    }
}

impl Reader {
    pub(crate) fn new<V: Values + 'static>(table: Table<V>) -> Self {
        let table = Arc::new(table);
        Self { dataset: Arc::<Table<V>>::clone(&table), stored: table }
    }

    /// Returns the table as a dataset.
    pub fn dataset(&self) -> &AnyDataset {
        &self.dataset
    }

    /// Returns the number of bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.stored.file_bytes()
    }

    /// Returns the entries of each row group or record batch, also of empty ones.
    pub fn groups(&self) -> &[Range<u64>] {
        self.stored.groups()
    }

    /// Says how the values are stored. Reads the header of each page, and decodes nothing.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged table; `Cancelled`; `Io`.
    pub fn layout(&self, context: &Context) -> Result<Layout> {
        self.stored.layout(context).in_file(self.dataset.file())
    }

    /// Reads and decodes every page or record batch, compares the checksums that there are, and collects all problems.
    ///
    /// # Errors
    /// Only `Io` and `Cancelled`. The problems of the table are in the report.
    pub fn verify(&self, context: &Context) -> Result<DatasetCheck> {
        self.stored.check(context)
    }
}
