//! Opens the inputs of a skim.

use std::ops::Range;
use std::sync::Arc;

use nyssa_data::dataset::{AnyDataset, Format, LeftOut, stored_bytes};
use nyssa_data::view::{Chain, ChainOptions, Link};
use nyssa_io::OpenOptions;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use super::options::SkimOptions;
use super::report::SkimSkipped;
use crate::job::EntryRange;
use crate::open::{self, AnyFile, find_dataset, open_with_friends, split_path};

/// The inputs as one dataset.
#[derive(Clone)]
pub(super) struct Input {
    /// The dataset of all files, without the parts of columns that are left out.
    pub(super) dataset: AnyDataset,
    /// The dataset of the first file, which knows titles, counters and aliases.
    pub(super) first: AnyDataset,
    /// The files with requested entries.
    pub(super) files: Vec<InputFile>,
    /// The requested entries.
    pub(super) entries: Range<u64>,
    /// The columns, and parts of columns, that cannot be read.
    pub(super) left_out: Vec<SkimSkipped>,
    /// The dataset of several files.
    chain: Option<Arc<Chain>>,
}

/// A file of the input.
#[derive(Clone)]
pub(super) struct InputFile {
    pub(super) name: String,
    /// Its requested entries in the dataset of all files.
    pub(super) entries: Range<u64>,
    /// Its number in the chain.
    number: usize,
}

impl Input {
    /// Opens the datasets of files.
    ///
    /// # Errors
    /// `NotFound` for a file, dataset or friend; `InvalidArgument` for a range beyond the entries, and for files with other
    /// columns; an error if a file is damaged or cannot be read.
    pub(super) fn open(files: &[String], options: &SkimOptions, context: &Context) -> Result<Self> {
        let first = files.first().ok_or_else(|| Error::not_found("no files are named"))?;
        let first = open_one(first, options.friends, context)?;
        let (dataset, chain, parts): (AnyDataset, _, Vec<_>) = match files {
            [_] => {
                let parts = vec![(first.file().to_owned(), 0..first.num_entries())];
                (Arc::clone(&first), None, parts)
            }
            files => {
                let links = files.iter().map(|file| link(file, options.friends, context)).collect();
                let chain = Arc::new(Chain::new(links, &ChainOptions::default(), context)?);
                let parts = chain.files().map(|(file, entries)| (file.to_owned(), entries));
                let parts = parts.collect();
                (Arc::<Chain>::clone(&chain), Some(chain), parts)
            }
        };
        let entries = EntryRange::checked(options.entries, dataset.num_entries(), "input")?;
        let within = |(number, (name, own)): (usize, (String, Range<u64>))| {
            let entries = own.start.max(entries.start)..own.end.min(entries.end);
            (!entries.is_empty()).then_some(InputFile { name, entries, number })
        };
        let files = parts.into_iter().enumerate().filter_map(within).collect();
        Ok(Self { dataset, first, files, entries, left_out: Vec::new(), chain })
    }

    /// Returns whether the inputs are tables, whose columns are nullable without need.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.first.format(), Format::Parquet | Format::Arrow)
    }

    /// Returns the stored bytes of columns in a file, as far as its format knows them.
    ///
    /// # Errors
    /// Returns an error if the metadata of the file are damaged or cannot be read.
    pub(super) fn stored_bytes(&self, file: &InputFile, columns: &[String]) -> Result<u64> {
        match &self.chain {
            Some(chain) => chain.stored_bytes(file.number, columns),
            None => stored_bytes(&*self.first, columns),
        }
    }

    /// Finds out which of some columns, or which of their parts, cannot be read, and leaves them out. Returns false if
    /// there are none.
    ///
    /// # Errors
    /// `Cancelled`; `Io`.
    pub(super) fn leave_out(&mut self, columns: &[String], context: &Context) -> Result<bool> {
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let Range { start, end } = self.entries;
        let clusters = self.dataset.clusters().into_iter();
        let clusters = clusters.map(|own| own.start.max(start)..own.end.min(end));
        let clusters: Vec<_> = clusters.filter(|own| !own.is_empty()).collect();
        let damaged = self.dataset.damaged(&names, &clusters, context)?;
        let is_new = |item: &LeftOut| self.left_out.iter().all(|known| known.name != item.column);
        let damaged: Vec<LeftOut> = damaged.into_iter().filter(is_new).collect();
        let parts: Vec<LeftOut> =
            damaged.iter().filter(|item| !columns.contains(&item.column)).cloned().collect();
        if !parts.is_empty()
            && let Some(without) = self.dataset.without(&parts, context)?
        {
            self.dataset = without;
        }
        let found = !damaged.is_empty();
        self.left_out.extend(damaged.into_iter().map(|LeftOut { column, reason }| SkimSkipped {
            name: column,
            reason,
            unreadable: true,
        }));
        Ok(found)
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

/// Opens the dataset of a file, with the columns of its friends if they are wanted.
fn open_one(path: &str, friends: bool, context: &Context) -> Result<AnyDataset> {
    if !friends {
        return open::open_path(path);
    }
    let (file, object) = split_path(path);
    match AnyFile::open(&nyssa_io::open(&*file)?)? {
        AnyFile::Root(file) => {
            let key = find_dataset(&file, object)?;
            open_with_friends(&file, &open::path_of(&file, &key), context)
        }
        AnyFile::Table(table) => Ok(Arc::clone(open::named_table(table, object)?.dataset())),
    }
}

/// Returns the dataset of a file as a part of a chain.
fn link(path: &str, friends: bool, context: &Context) -> Link {
    let by = OpenOptions::default();
    if !friends {
        return open::link(path, &by);
    }
    let (own, context) = (path.to_owned(), context.quiet());
    let link = Link::new(nyssa_io::shown(path), move || open_one(&own, true, &context));
    link.with_remote(nyssa_io::is_remote(path)).with_options(vec![by])
}
