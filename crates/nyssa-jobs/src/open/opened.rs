//! Opens a dataset of a known format.

use std::sync::Arc;

use nyssa_data::dataset::{AnyDataset, Dataset, Format};
use nyssa_io::Source;
use nyssa_rntuple::read;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_ttree as ttree;

use super::any_file::{AnyFile, named_table};
use super::{find_dataset, format_of, open_with_friends};
use crate::kept_tree::KeptTree;

/// Returns the path of a key. It includes the cycle if the file has a newer cycle.
pub fn path_of(file: &RootFile, key: &KeyEntry) -> String {
    match file.find(&key.path) {
        Ok(newest) if newest.cycle == key.cycle => key.path.clone(),
        _ => format!("{};{}", key.path, key.cycle),
    }
}

/// An open dataset, for code that depends on its format.
pub enum Opened {
    /// A TTree.
    Tree(Box<ttree::Reader>),
    /// An RNTuple.
    NTuple(Box<read::Reader>),
    /// The table of a Parquet or Arrow IPC file.
    Table(nyssa_tables::Reader),
}

impl Opened {
    /// Opens the dataset at a path in a file, or its only dataset.
    ///
    /// # Errors
    /// `NotFound` with the nearest names; `InvalidArgument` if the object is not a dataset, or if there is no path and the
    /// file has several datasets; an error if the file is damaged or cannot be read.
    pub fn open(source: &Arc<dyn Source>, object: Option<&str>) -> Result<Self> {
        match AnyFile::open(source)? {
            AnyFile::Root(file) => Self::of_key(&file, &find_dataset(&file, object)?),
            AnyFile::Table(table) => Ok(Self::Table(named_table(table, object)?)),
        }
    }

    /// Opens the dataset of a key with the path `path`. For a TTree only the option for streamed objects is used.
    ///
    /// # Errors
    /// `InvalidArgument` if the object of the key is not a dataset; an error if the file is damaged.
    pub fn new(
        file: &RootFile,
        key: &KeyEntry,
        path: &str,
        options: read::RNTupleReadOptions,
    ) -> Result<Self> {
        match format_of(key) {
            Some(Format::RNTuple) => {
                Ok(Self::NTuple(Box::new(read::Reader::open_with(file, path, options)?)))
            }
            Some(Format::TTree) => {
                let raw = options.streamer == read::StreamerForm::Raw;
                Ok(Self::Tree(Box::new(ttree::Reader::open_with(file, path, raw)?)))
            }
            Some(Format::Parquet | Format::Arrow) | None => Err(Error::invalid_argument(format!(
                "{} is a {}, neither a TTree nor an RNTuple",
                key.path, key.class
            )))
            .in_file(file.name()),
        }
    }

    /// Opens the dataset of a key under its [`path`](path_of).
    ///
    /// # Errors
    /// `InvalidArgument` if the object of the key is not a dataset; an error if the file is damaged.
    pub fn of_key(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        Self::new(file, key, &path_of(file, key), read::RNTupleReadOptions::default())
    }

    /// Returns the dataset, for code that works with all formats.
    pub fn dataset(&self) -> &dyn Dataset {
        match self {
            Self::Tree(reader) => reader.as_ref(),
            Self::NTuple(reader) => reader.as_ref(),
            Self::Table(table) => table.dataset().as_ref(),
        }
    }

    /// Returns the dataset with the columns of all its friends. Only a TTree, and an RNTuple that was a TTree, has friends.
    ///
    /// # Errors
    /// `NotFound` for a missing friend; `InvalidArgument` and `Unsupported` for a friend that cannot be joined; an
    /// error if a tree cannot be opened.
    pub fn with_friends(&self, context: &Context) -> Result<AnyDataset> {
        let source = match self {
            Self::Tree(tree) => tree.own_source(),
            Self::NTuple(reader) => reader.source(),
            Self::Table(table) => return Ok(Arc::clone(table.dataset())),
        };
        let file = RootFile::open(Arc::clone(source))?;
        open_with_friends(&file, self.dataset().name(), context)
    }

    /// Returns the name and the formula of each alias of a TTree, or of an RNTuple that was a TTree.
    ///
    /// # Errors
    /// Returns an error if the dataset is damaged or cannot be read.
    pub fn aliases(&self) -> Result<Vec<(String, String)>> {
        Ok(match self {
            Self::Tree(tree) => tree.relations()?.formulas(),
            Self::NTuple(reader) => {
                KeptTree::of(reader)?.map_or_else(Vec::new, |kept| kept.relations().formulas())
            }
            Self::Table(_) => Vec::new(),
        })
    }
}
