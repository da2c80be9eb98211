//! Where a filler's pages and clusters go.

use super::Writer;
use super::writer::StoredColumn;
use crate::encoding::ColumnType;
use crate::error::{Kind, Result};
use crate::page::SealedPage;
use crate::schema::{Column, ColumnId, PageInfo, Schema};

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
pub(super) struct WaitingColumn {
    pub(super) column: ColumnId,
    pub(super) elements: u64,
    pub(super) last_offset: Option<u64>,
    pub(super) compression: u32,
    pub(super) pages: Vec<Page>,
}

/// A complete cluster.
pub(super) struct SealedCluster {
    pub(super) entries: u64,
    /// All columns of the schema, in order.
    pub(super) columns: Vec<WaitingColumn>,
    /// Bytes of its pages in memory.
    pub(super) bytes: u64,
}

/// Takes what a filler makes.
pub(super) trait Outlet {
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

    /// Changes the types of columns, if nothing has been written that names them; else `false`.
    ///
    /// # Errors
    /// `InvalidArgument` for types that the fields cannot have.
    fn retype(&mut self, _types: &[(ColumnId, ColumnType)]) -> Result<bool> {
        Ok(false)
    }

    /// The only column of that type in a representation of the field that `column` belongs to, added
    /// when there is none yet, and the schema that has it; `None` when it cannot be.
    ///
    /// # Errors
    /// As [`Writer::extend_schema`].
    fn represent(
        &mut self,
        _column: ColumnId,
        _column_type: ColumnType,
    ) -> Result<Option<(ColumnId, Schema)>> {
        Ok(None)
    }

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

impl Outlet for Writer {
    fn commit(&mut self, cluster: SealedCluster) -> Result<()> {
        self.begin_cluster(cluster.entries)?;
        for column in cluster.columns {
            let WaitingColumn { column, elements, last_offset, compression, pages } = column;
            let pages = self.store_waiting(pages)?.into_iter().filter_map(|page| match page {
                Page::Stored(page) => Some(page),
                Page::Sealed(_) => None,
            });
            let pages = pages.collect();
            self.put_stored(StoredColumn { column, elements, last_offset, compression, pages })?;
        }
        self.commit_cluster()
    }

    fn retype(&mut self, types: &[(ColumnId, ColumnType)]) -> Result<bool> {
        if self.has_header() {
            return Ok(false);
        }
        self.extend_schema(|builder| {
            let columns = &mut builder.schema_mut().columns;
            for (id, column_type) in types {
                if let Some(column) = columns.get_mut(id.0 as usize) {
                    column.set_type(*column_type);
                }
            }
            Ok(true)
        })
    }

    fn represent(
        &mut self,
        column: ColumnId,
        column_type: ColumnType,
    ) -> Result<Option<(ColumnId, Schema)>> {
        let field = self.schema().column(column).field;
        let is_it = |ids: &&[ColumnId]| matches!(ids, [id] if self.schema().column(*id).column_type == Some(column_type));
        if let Some(&[known]) = self.schema().representations(field).find(is_it) {
            return Ok(Some((known, self.schema().clone())));
        }
        match self.add_representation(field, [Column::new(field, column_type)]) {
            Ok(ids) => Ok(ids.first().map(|&id| (id, self.schema().clone()))),
            // Too late, or a field of several columns.
            Err(error) if error.kind() == Kind::InvalidArgument => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn store(&mut self, pages: Vec<SealedPage>) -> Result<Vec<Page>> {
        Ok(self.store_pages(&pages)?.into_iter().map(Page::Stored).collect())
    }
}
