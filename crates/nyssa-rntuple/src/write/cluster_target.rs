//! Defines the target of the pages and clusters that a cluster builder makes.

use nyssa_root::error::{Error, Result};
use nyssa_root::fill::Buffers;

use crate::encoding::ColumnType;
use crate::page::SealedPage;
use crate::schema::{ColumnId, PageInfo};

/// A page of the open cluster.
pub(crate) enum ClusterPage {
    /// A page in memory.
    Sealed(SealedPage),
    /// A page in the file.
    Stored(PageInfo),
}

impl ClusterPage {
    /// Returns the size in memory, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Sealed(page) => page.bytes.len() as u64,
            Self::Stored(_) => 0,
        }
    }
}

/// A column of a complete cluster.
pub(crate) struct FinishedColumn {
    /// The column of the first representation of its field.
    pub(super) column: ColumnId,
    /// The column type of the pages. If it is not the type of `column`, they belong to the column of another
    /// representation.
    pub(super) column_type: ColumnType,
    pub(super) elements: u64,
    pub(super) last_offset: Option<u64>,
    pub(super) compression: u32,
    pub(super) pages: Vec<ClusterPage>,
    /// The same elements in another column type. The target chooses one of the two.
    pub(super) other: Option<(ColumnType, Vec<ClusterPage>)>,
}

/// A complete cluster.
pub struct SealedCluster {
    pub(super) entries: u64,
    /// All columns of the schema, in order.
    pub(super) columns: Vec<FinishedColumn>,
    /// The number of bytes of its pages in memory.
    pub(super) bytes: u64,
}

impl Buffers for SealedCluster {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn buffers(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
        let pages = self.columns.iter_mut().flat_map(|column| {
            let FinishedColumn { pages, other, .. } = column;
            pages.iter_mut().chain(other.iter_mut().flat_map(|(_, pages)| pages))
        });
        pages.filter_map(|page| match page {
            ClusterPage::Sealed(page) => Some(&mut page.bytes),
            ClusterPage::Stored(_) => None,
        })
    }
}

/// The receiver of the pages and clusters of a cluster builder.
pub(super) trait ClusterTarget: Send {
    /// Hears of an error that ended the work of the builder.
    fn failed(&mut self, _: &Error) {}

    /// Commits a complete cluster.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    fn commit(&mut self, cluster: SealedCluster) -> Result<()>;

    /// Stores pages before their cluster is complete.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    fn store(&mut self, pages: Vec<SealedPage>) -> Result<Vec<ClusterPage>>;

    /// Stores the pages of a column that are in memory.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    fn store_waiting(&mut self, pages: Vec<ClusterPage>) -> Result<Vec<ClusterPage>> {
        let mut stored = Vec::with_capacity(pages.len());
        let mut sealed = Vec::new();
        for page in pages {
            match page {
                ClusterPage::Sealed(page) => sealed.push(page),
                // Pages are stored in order, so these pages come before all others.
                ClusterPage::Stored(_) => stored.push(page),
            }
        }
        if !sealed.is_empty() {
            stored.append(&mut self.store(sealed)?);
        }
        Ok(stored)
    }
}
