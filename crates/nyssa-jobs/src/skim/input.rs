//! Opens the inputs of a skim.

use std::ops::Range;
use std::sync::Arc;

use nyssa_data::dataset::{AnyDataset, Format};
use nyssa_data::view::{Chain, ChainOptions};
use nyssa_io::OpenOptions;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use crate::job::EntryRange;
use crate::open::{self, link};

/// The inputs as one dataset.
pub(super) struct Input {
    /// The dataset of all files.
    pub(super) dataset: AnyDataset,
    /// The dataset of the first file, which knows titles, counters and aliases.
    pub(super) first: AnyDataset,
    /// The files with their entries in the dataset, as far as they are requested.
    pub(super) files: Vec<(String, Range<u64>)>,
    /// The requested entries.
    pub(super) entries: Range<u64>,
}

impl Input {
    /// Opens the datasets of files.
    ///
    /// # Errors
    /// `NotFound` for a file or dataset; `InvalidArgument` for a range beyond the entries, and for files with other
    /// columns; an error if a file is damaged or cannot be read.
    pub(super) fn open(
        files: &[String],
        entries: Option<EntryRange>,
        context: &Context,
    ) -> Result<Self> {
        let first = files.first().ok_or_else(|| Error::not_found("no files are named"))?;
        let first = open::open_path(first)?;
        let (dataset, parts): (AnyDataset, Vec<_>) = match files {
            [_] => {
                let parts = vec![(first.file().to_owned(), 0..first.num_entries())];
                (Arc::clone(&first), parts)
            }
            files => {
                let by = OpenOptions::default();
                let links = files.iter().map(|file| link(file, &by)).collect();
                let chain = Chain::new(links, &ChainOptions::default(), context)?;
                let parts = chain.files().map(|(file, entries)| (file.to_owned(), entries));
                let parts = parts.collect();
                (Arc::new(chain), parts)
            }
        };
        let entries = EntryRange::checked(entries, dataset.num_entries(), "input")?;
        let within = |(file, own): (String, Range<u64>)| {
            let own = own.start.max(entries.start)..own.end.min(entries.end);
            (!own.is_empty()).then_some((file, own))
        };
        let files = parts.into_iter().filter_map(within).collect();
        Ok(Self { dataset, first, files, entries })
    }

    /// Returns whether the inputs are tables, whose columns are nullable without need.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.first.format(), Format::Parquet | Format::Arrow)
    }

    /// Returns the other objects of the first file: each path with its class.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub(super) fn other_objects(&self) -> Result<Vec<String>> {
        if self.is_table() {
            return Ok(Vec::new());
        }
        let file = open::open_again(&*self.first)?;
        let own = open::without_cycle(self.first.name());
        let (keys, _) = file.list_all()?;
        let others = keys.iter().filter(|key| !key.is_directory() && key.path != own);
        Ok(others.map(|key| format!("{};{} ({})", key.path, key.cycle, key.class)).collect())
    }
}
