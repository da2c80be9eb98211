//! Checks the current cluster: which columns it has, which are missing, and whether their sizes agree.

use nyssa_root::error::{Error, Result, ResultExt};

use crate::schema::{Cluster, ColumnId, ColumnRange, Field, FieldId, Schema, Structure};

/// The columns of the current cluster.
#[derive(Debug)]
pub(super) struct OpenCluster {
    pub(super) entries: u64,
    columns: Vec<Option<AddedColumn>>,
}

/// A column whose pages are stored.
#[derive(Debug)]
pub(super) struct AddedColumn {
    pub(super) range: ColumnRange,
    pub(super) last_offset: Option<u64>,
}

impl OpenCluster {
    pub(super) fn new(entries: u64, columns: usize) -> Self {
        Self { entries, columns: (0..columns).map(|_| None).collect() }
    }

    /// Checks that a column exists and was not added before.
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
    pub(super) fn insert(&mut self, column: ColumnId, stored: AddedColumn) {
        if let Some(slot) = self.columns.get_mut(column.0 as usize) {
            *slot = Some(stored);
        }
    }

    /// Checks the number of elements of every column against the entries, array sizes and offsets.
    ///
    /// # Errors
    /// `InvalidArgument` with the field whose column is missing, has another number of elements, or has more
    /// than one representation.
    pub(super) fn check(&self, schema: &Schema) -> Result<()> {
        schema.top_level().try_for_each(|(id, _)| self.check_field(schema, id, Some(self.entries)))
    }

    /// Checks a field with `count` values. `None` if the offsets are not known.
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
        let active = self.active(schema, id).in_field(&schema.path(id))?;
        let below = self.check_columns(field, active, count);
        let below = below.map_err(|error| error.at(|place| place.field = Some(schema.path(id))))?;
        field.children.iter().try_for_each(|&child| self.check_field(schema, child, below))
    }

    /// Checks the columns of the active representation. Returns the number of values of the subfields, if it
    /// is known.
    fn check_columns(
        &self,
        field: &Field,
        active: &[ColumnId],
        count: Option<u64>,
    ) -> Result<Option<u64>> {
        let mut below = count;
        for (index, &column) in active.iter().enumerate() {
            let stored = self.column(column, if index == 0 { count } else { below });
            let stored = stored.at(|place| place.column = Some(u64::from(column.0)))?;
            if index == 0 && field.structure != Structure::Variant {
                below = match field.structure {
                    Structure::Leaf if active.len() == 1 => count,
                    _ => stored.last_offset,
                };
            }
        }
        Ok(below.filter(|_| field.structure != Structure::Variant))
    }

    /// Returns the columns of the representation that was added, or of the first representation if none was added.
    fn active<'s>(&self, schema: &'s Schema, id: FieldId) -> Result<&'s [ColumnId]> {
        let came = |columns: &&[ColumnId]| columns.iter().any(|&id| self.stored(id).is_some());
        let mut active = schema.representations(id).filter(came);
        match (active.next(), active.next()) {
            (Some(_), Some(second)) => {
                let second = second.first().map(|id| u64::from(id.0));
                Err(Error::invalid_argument(
                    "columns of two representations of one field: a cluster has one",
                )
                .at(|place| place.column = second))
            }
            (Some(active), None) => Ok(active),
            _ => Ok(schema.representations(id).next().unwrap_or_default()),
        }
    }

    fn stored(&self, column: ColumnId) -> Option<&AddedColumn> {
        self.columns.get(column.0 as usize).and_then(Option::as_ref)
    }

    fn column(&self, column: ColumnId, count: Option<u64>) -> Result<&AddedColumn> {
        let stored = self.stored(column);
        let stored = stored.ok_or_else(|| Error::invalid_argument("the column is missing"))?;
        match count {
            Some(count) if count != stored.range.elements => Err(Error::invalid_argument(format!(
                "{} elements where the cluster needs {count}",
                stored.range.elements
            ))),
            _ => Ok(stored),
        }
    }

    /// Makes the record for the page list. The columns of inactive representations are suppressed.
    /// [`OpenCluster::check`] must have succeeded.
    pub(super) fn finish(self, schema: &Schema, first_entry: u64) -> Cluster {
        let ranges = self.columns.into_iter().map(|stored| stored.map(|stored| stored.range));
        let mut cluster = Cluster { first_entry, entries: self.entries, columns: Vec::new() };
        cluster.columns = complete(schema, ranges.collect());
        cluster
    }
}

/// Suppresses the columns that a cluster lacks. They get the element range of the active representation. Columns of
/// fields that were added after the cluster have no elements.
pub(super) fn complete(schema: &Schema, mut ranges: Vec<Option<ColumnRange>>) -> Vec<ColumnRange> {
    ranges.resize(schema.columns.len(), None);
    for field in schema.fields.iter().filter(|field| field.source.is_none()) {
        let slots = slots(schema, field);
        for (index, &id) in field.columns.iter().enumerate() {
            let (slot, column) = (index % slots, id.0 as usize);
            if ranges[column].is_some() {
                continue;
            }
            let peers = field.columns.iter().skip(slot).step_by(slots);
            let mut peers = peers.filter_map(|peer| ranges[peer.0 as usize].as_ref());
            let active = peers.find(|range| !range.suppressed);
            ranges[column] = Some(ColumnRange {
                first_element: active.map_or(0, |range| range.first_element),
                elements: active.map_or(0, |range| range.elements),
                suppressed: active.is_some() || schema.column(id).representation != 0,
                ..ColumnRange::default()
            });
        }
    }
    ranges.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns the number of columns of each representation, at least 1.
fn slots(schema: &Schema, field: &Field) -> usize {
    let number = |id: &ColumnId| schema.column(*id).representation;
    let first = field.columns.chunk_by(|a, b| number(a) == number(b)).next();
    first.map_or(1, <[ColumnId]>::len)
}
