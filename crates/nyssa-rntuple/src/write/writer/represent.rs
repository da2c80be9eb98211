//! Decides in which of two column types the columns of a cluster are stored, and in which representations of
//! their fields.
//!
//! If the builder chose another column type than ROOT's, it seals the pages in both types, and the smaller
//! pages are stored. The header has the column types of the first cluster. Later clusters get further
//! representations if these save more than they cost. Summed over the clusters, the pages of a column are never
//! larger than in ROOT's type.

use std::collections::{BTreeMap, BTreeSet};

use nyssa_root::error::{Error, Kind, Result};

use super::Writer;
use crate::choose::default_type;
use crate::encoding::ColumnType;
use crate::heuristics::choose;
use crate::schema::{Column, ColumnId};
use crate::write::cluster_target::{ClusterPage, FinishedColumn};

/// The columns with another type than ROOT's, by the column of the first representation.
#[derive(Default)]
pub(super) struct Represented {
    /// The number of bytes saved until now, compared to ROOT's type.
    saved: BTreeMap<ColumnId, u64>,
    /// ROOT's types of the columns that have another type in the header.
    root: BTreeMap<ColumnId, ColumnType>,
    /// The columns that can have no further representation.
    fixed: BTreeSet<ColumnId>,
}

impl Writer {
    /// Chooses the column types of a complete cluster. The pages of the other types are dropped.
    ///
    /// # Errors
    /// `InvalidArgument` when a representation cannot be added.
    pub(in crate::write) fn represent(&mut self, columns: &mut [FinishedColumn]) -> Result<()> {
        if self.header.is_none() {
            return self.represent_first(columns);
        }
        columns.iter_mut().try_for_each(|column| self.represent_next(column))
    }

    /// Chooses the column types of the first cluster. Before the header is written, the types of the schema can
    /// change.
    fn represent_first(&mut self, columns: &mut [FinishedColumn]) -> Result<()> {
        let mut types = Vec::new();
        for column in columns {
            if let Some((root, pages)) = column.other.take() {
                if size(&pages) < size(&column.pages) {
                    (column.column_type, column.pages) = (root, pages);
                } else {
                    self.represented.root.insert(column.column, root);
                    let saved = size(&pages) - size(&column.pages);
                    self.represented.saved.insert(column.column, saved);
                }
            }
            if self.stored_type(column.column) != Some(column.column_type) {
                types.push((column.column, column.column_type));
            }
        }
        if types.is_empty() {
            return Ok(());
        }
        self.extend_schema(|builder| {
            let columns = &mut builder.schema_mut().columns;
            for (id, column_type) in types {
                if let Some(column) = columns.get_mut(id.0 as usize) {
                    column.set_type(column_type);
                }
            }
            Ok(())
        })
    }

    /// Chooses the column type of a later cluster. After the header is written, another type needs another
    /// representation.
    fn represent_next(&mut self, column: &mut FinishedColumn) -> Result<()> {
        let base = column.column;
        if let Some((root, pages)) = column.other.take() {
            let (ours, theirs) = (size(&column.pages), size(&pages));
            let saved = self.represented.saved.get(&base).copied().unwrap_or(0);
            let keep = if ours <= theirs {
                let saves = theirs - ours;
                let pays = saves >= choose::SWITCH_BYTES && saves >= theirs / choose::SWITCH_GAIN;
                self.represented_as(base, column.column_type).is_some()
                    || pays && self.representation(base, column.column_type)?.is_some()
            } else {
                self.represented_as(base, root).is_none()
                    && (saved >= ours - theirs || self.representation(base, root)?.is_none())
            };
            if keep {
                let saved = (saved + theirs).saturating_sub(ours);
                self.represented.saved.insert(base, saved);
            } else {
                (column.column_type, column.pages) = (root, pages);
            }
        }
        if column.elements == 0 || self.stored_type(base) == Some(column.column_type) {
            return Ok(());
        }
        let id = self.representation(base, column.column_type)?;
        column.column = id.ok_or_else(|| {
            Error::invalid_argument(format!(
                "column {} cannot be stored as {} any more",
                base.0,
                column.column_type.name()
            ))
        })?;
        Ok(())
    }

    /// Adds representations in ROOT's types, which any later cluster may need, before page lists are written.
    /// After that some of them cannot be added.
    pub(super) fn represent_rest(&mut self) -> Result<()> {
        for (column, root) in self.represented.root.clone() {
            if self.schema.repetitions(self.schema.column(column).field).is_none() {
                self.representation(column, root)?;
            }
        }
        Ok(())
    }

    /// Returns whether a column must keep its type: because it was already in the file, or because a representation
    /// in ROOT's type is not possible.
    pub(in crate::write) fn keeps_type(&self, column: ColumnId) -> bool {
        let root = self.stored_type(column).map(default_type);
        let known = root.is_none_or(|root| self.represented_as(column, root).is_some());
        let foreseen = known || self.represented.root.contains_key(&column);
        self.resumed.is_some() || self.header.is_some() && !foreseen
    }

    /// Returns the column with this type in a representation of the field of `column`, which must be its only column.
    /// Adds the representation if it is missing. Returns `None` when this is not possible.
    fn representation(
        &mut self,
        column: ColumnId,
        column_type: ColumnType,
    ) -> Result<Option<ColumnId>> {
        if let Some(known) = self.represented_as(column, column_type) {
            return Ok(Some(known));
        }
        if self.represented.fixed.contains(&column) {
            return Ok(None);
        }
        let field = self.schema.column(column).field;
        match self.add_representation(field, [Column::new(field, column_type)]) {
            Ok(ids) => Ok(ids.first().copied()),
            // Page lists are already written, or the field has several columns.
            Err(error) if error.kind() == Kind::InvalidArgument => {
                self.represented.fixed.insert(column);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the column with this type in a representation of the field of `column`, if it exists.
    fn represented_as(&self, column: ColumnId, column_type: ColumnType) -> Option<ColumnId> {
        let field = self.schema.column(column).field;
        let mut alone = self.schema.representations(field).filter_map(|ids| match ids {
            [id] => Some(*id),
            _ => None,
        });
        alone.find(|id| self.stored_type(*id) == Some(column_type))
    }

    fn stored_type(&self, column: ColumnId) -> Option<ColumnType> {
        self.schema.column(column).column_type
    }
}

/// Returns the number of bytes of pages in memory.
fn size(pages: &[ClusterPage]) -> u64 {
    pages.iter().map(ClusterPage::bytes).sum()
}
