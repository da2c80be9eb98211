//! The target of the pages and clusters that a builder of clusters makes.

use crate::error::Result;
use crate::rntuple::encoding::ColumnType;
use crate::rntuple::page::SealedPage;
use crate::rntuple::schema::{ColumnId, PageInfo};

/// A page of the open cluster.
pub(super) enum Page {
    /// In memory.
    Sealed(SealedPage),
    /// In the file.
    Stored(PageInfo),
}

impl Page {
    /// Bytes in memory.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Sealed(page) => page.bytes.len() as u64,
            Self::Stored(_) => 0,
        }
    }
}

/// A column of a complete cluster.
pub(super) struct FinishedColumn {
    /// Of the first representation of its field.
    pub(super) column: ColumnId,
    /// What its pages hold; if that is not the type of `column`, they belong to a column of another
    /// representation.
    pub(super) column_type: ColumnType,
    pub(super) elements: u64,
    pub(super) last_offset: Option<u64>,
    pub(super) compression: u32,
    pub(super) pages: Vec<Page>,
    /// The same elements in another type, to choose from.
    pub(super) other: Option<(ColumnType, Vec<Page>)>,
}

/// A complete cluster.
pub(super) struct SealedCluster {
    pub(super) entries: u64,
    /// All columns of the schema, in order.
    pub(super) columns: Vec<FinishedColumn>,
    /// Bytes of its pages in memory.
    pub(super) bytes: u64,
}

/// Takes the pages and clusters of a builder.
pub(super) trait ClusterTarget {
    /// Takes a complete cluster.
    ///
    /// # Errors
    /// Whatever the sink says.
    fn commit(&mut self, cluster: SealedCluster) -> Result<()>;

    /// Stores pages before their cluster is complete.
    ///
    /// # Errors
    /// Whatever the sink says.
    fn store(&mut self, pages: Vec<SealedPage>) -> Result<Vec<Page>>;

    /// Stores those pages of a column that are in memory.
    ///
    /// # Errors
    /// Whatever the sink says.
    fn store_waiting(&mut self, pages: Vec<Page>) -> Result<Vec<Page>> {
        let mut stored = Vec::with_capacity(pages.len());
        let mut sealed = Vec::new();
        for page in pages {
            match page {
                Page::Sealed(page) => sealed.push(page),
                // Pages are stored in order, so these come before all others.
                Page::Stored(_) => stored.push(page),
            }
        }
        if !sealed.is_empty() {
            stored.append(&mut self.store(sealed)?);
        }
        Ok(stored)
    }
}
