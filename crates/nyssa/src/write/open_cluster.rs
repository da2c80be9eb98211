//! The cluster being written: what has come, what is missing, and whether it fits together.

use crate::error::{Error, Result, ResultExt};
use crate::schema::{Cluster, ColumnId, ColumnRange, FieldId, Schema, Structure};

/// Columns of the cluster being written.
#[derive(Debug)]
pub(super) struct OpenCluster {
    pub(super) entries: u64,
    columns: Vec<Option<Stored>>,
}

/// A column that has been stored.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) range: ColumnRange,
    pub(super) last_offset: Option<u64>,
}

impl OpenCluster {
    pub(super) fn new(entries: u64, columns: usize) -> Self {
        Self { entries, columns: (0..columns).map(|_| None).collect() }
    }

    /// Checks that a column is expected.
    pub(super) fn expect(&self, column: ColumnId) -> Result<()> {
        match self.columns.get(column.0 as usize) {
            Some(None) => Ok(()),
            Some(Some(_)) => Err(Error::invalid_argument("the column came twice")),
            None => Err(Error::invalid_argument(format!(
                "there is no such column: the schema has {}",
                self.columns.len()
            ))),
        }
    }

    /// Adds a stored column.
    pub(super) fn insert(&mut self, column: ColumnId, stored: Stored) {
        if let Some(slot) = self.columns.get_mut(column.0 as usize) {
            *slot = Some(stored);
        }
    }

    /// Checks every column's number of elements against the entries, array sizes and offsets.
    ///
    /// # Errors
    /// `InvalidArgument` naming the field whose column is missing or has another number of elements.
    pub(super) fn check(&self, schema: &Schema) -> Result<()> {
        schema.top_level().try_for_each(|(id, _)| self.check_field(schema, id, Some(self.entries)))
    }

    /// `count` is the number of values of the field; `None` where offsets are not known.
    fn check_field(&self, schema: &Schema, id: FieldId, count: Option<u64>) -> Result<()> {
        let field = schema.field(id);
        if field.source.is_some() {
            return Ok(());
        }
        let times = |count: Option<u64>, size| match count.map(|count| count.checked_mul(size)) {
            Some(None) => Err(Error::invalid_argument("more elements than can be counted")),
            Some(product) => Ok(product),
            None => Ok(None),
        };
        let count = match field.array_size {
            Some(size) => times(count, size)?,
            None => count,
        };
        let mut below = count;
        for (index, &column) in field.columns.iter().enumerate() {
            let stored = self.column(column, if index == 0 { count } else { below });
            let stored = stored.at(|place| {
                place.field = Some(schema.path(id));
                place.column = Some(u64::from(column.0));
            })?;
            if index == 0 && field.structure != Structure::Variant {
                below = match field.structure {
                    Structure::Leaf if field.columns.len() == 1 => count,
                    _ => stored.last_offset,
                };
            }
        }
        if field.structure == Structure::Variant {
            below = None;
        }
        field.children.iter().try_for_each(|&child| self.check_field(schema, child, below))
    }

    fn column(&self, column: ColumnId, count: Option<u64>) -> Result<&Stored> {
        let stored = self.columns.get(column.0 as usize).and_then(Option::as_ref);
        let stored = stored.ok_or_else(|| Error::invalid_argument("the column is missing"))?;
        match count {
            Some(count) if count != stored.range.elements => Err(Error::invalid_argument(format!(
                "{} elements where the cluster needs {count}",
                stored.range.elements
            ))),
            _ => Ok(stored),
        }
    }

    /// The record for the page list. Only after [`OpenCluster::check`].
    pub(super) fn finish(self, first_entry: u64) -> Cluster {
        let columns = self.columns.into_iter().flatten().map(|stored| stored.range).collect();
        Cluster { first_entry, entries: self.entries, columns }
    }
}
