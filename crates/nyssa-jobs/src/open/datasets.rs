//! Opens the datasets that several arguments name as one dataset.

use nyssa_data::cut::Cut;
use nyssa_data::dataset::{AnyDataset, Dataset};
use nyssa_data::view::{Chain, ChainOptions};
use nyssa_io::OpenOptions;
use nyssa_root::Context;
use nyssa_root::error::Result;

use super::{Opened, link};

/// The dataset of one file, or the datasets of several files as one dataset.
pub enum Datasets {
    /// The dataset of one file.
    One(Opened),
    /// A chain, with its first dataset.
    Many(Box<Chain>, Opened),
}

impl Datasets {
    /// Takes the datasets at the paths `files`, see [`open_path`](super::open_path). `first` is the first dataset,
    /// which is already open.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no file; an error if a file cannot be opened or does not match the target
    /// schema.
    pub fn new(
        first: Opened,
        files: &[String],
        options: &ChainOptions,
        context: &Context,
    ) -> Result<Self> {
        if files.len() < 2 {
            return Ok(Self::One(first));
        }
        let by = OpenOptions::default();
        let links = files.iter().map(|file| link(file, &by)).collect();
        Ok(Self::Many(Box::new(Chain::new(links, options, context)?), first))
    }

    /// Returns the dataset of all entries.
    pub fn dataset(&self) -> &dyn Dataset {
        match self {
            Self::One(data) => data.dataset(),
            Self::Many(chain, _) => chain.as_ref(),
        }
    }

    /// Returns the first or only dataset.
    pub fn first(&self) -> &Opened {
        match self {
            Self::One(data) | Self::Many(_, data) => data,
        }
    }

    /// Returns the only dataset. Returns `None` if there are several.
    pub fn only(&self) -> Option<&Opened> {
        match self {
            Self::One(data) => Some(data),
            Self::Many(..) => None,
        }
    }

    /// Returns the only dataset with the columns of its friends. Returns `None` if there are several datasets.
    ///
    /// # Errors
    /// `NotFound` for a missing friend; `InvalidArgument` and `Unsupported` for a friend that cannot be joined; an
    /// error if a tree cannot be opened.
    pub fn with_friends(&self, context: &Context) -> Result<Option<AnyDataset>> {
        self.only().map(|data| data.with_friends(context)).transpose()
    }

    /// Returns `cut` with the aliases of the first dataset, for a dataset with the columns of `dataset`.
    ///
    /// # Errors
    /// `InvalidArgument` with the name of an alias whose formula does not parse; an error if the aliases cannot be
    /// read.
    pub fn with_aliases(&self, cut: &Cut, dataset: &dyn Dataset) -> Result<Cut> {
        cut.clone().with_aliases(dataset.columns(), &self.first().aliases()?)
    }
}
