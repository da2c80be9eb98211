//! Defines streams. A stream is a column of a field over all representations of this field.

use nyssa_root::error::{Error, Result};

use super::clusters::Clusters;
use super::element::Element;
use crate::schema::{ColumnId, ColumnRange, Field, Schema};

/// One column of a field. In every cluster exactly one of `columns` has pages (specification, "Suppressed
/// Columns"). A projected field has the physical columns of its source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stream {
    /// The physical columns, one for each representation.
    pub columns: Vec<ColumnId>,
    /// The type as which the elements are read.
    pub element: Element,
}

/// The part of a stream that one cluster stores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'a> {
    /// The column with the pages. `None` if the column was added after the cluster was written.
    pub column: Option<(ColumnId, &'a ColumnRange)>,
    /// Whether a deferred column starts in this cluster. Elements that are missing at the front are zeros.
    pub deferred: bool,
}

impl Stored<'_> {
    /// Returns the number of stored elements.
    pub(super) fn elements(&self) -> u64 {
        self.column.map_or(0, |(_, range)| range.elements)
    }
}

impl Stream {
    /// Makes the stream of column `slot` of `field`, read as `element`, or returns the reason why this is not
    /// possible.
    pub(super) fn new(
        schema: &Schema,
        field: &Field,
        slot: usize,
        slots: usize,
        element: Element,
    ) -> std::result::Result<Self, String> {
        let columns = representations(schema, field, slots)?
            .into_iter()
            .map(|columns| columns[slot])
            .collect::<Vec<_>>();
        for &id in &columns {
            let column = schema.column(id);
            let column_type = column
                .column_type
                .ok_or_else(|| format!("column type {:#06x} is not known", column.type_code))?;
            if !element.reads(Element::of_column(column_type)) {
                return Err(format!(
                    "a column of type {} cannot be read as {element:?}",
                    column_type.name()
                ));
            }
        }
        Ok(Self { columns, element })
    }

    /// Returns the part of the stream that cluster `index` stores.
    ///
    /// # Errors
    /// `OutOfSpecification` unless exactly one representation is active.
    pub(super) fn stored<'a>(
        &self,
        schema: &Schema,
        clusters: &'a Clusters,
        index: usize,
    ) -> Result<Stored<'a>> {
        let cluster = clusters.get(index).ok_or_else(|| Error::out_of_spec("no such cluster"))?;
        let range = |id: ColumnId| cluster.columns.get(id.0 as usize);
        let mut active = self
            .columns
            .iter()
            .filter_map(|&id| range(id).map(|range| (id, range)))
            .filter(|(_, range)| !range.suppressed);
        let column = active.next();
        let place = |error: Error| error.at(|place| place.cluster = Some(index as u64));
        if let Some((second, _)) = active.next() {
            return Err(place(Error::out_of_spec(format!(
                "two representations of one field are active, the second is column {}",
                second.0
            ))));
        }
        let suppressed = self.columns.iter().any(|&id| range(id).is_some_and(|r| r.suppressed));
        if column.is_none() && suppressed {
            return Err(place(Error::out_of_spec("all representations of a field are suppressed")));
        }
        let first = |id: ColumnId| schema.column(id).first_element;
        let deferred = match column {
            // Zeros are missing only in the cluster in which the column starts, not in later clusters.
            Some((id, range)) => {
                first(id).is_some_and(|first| first.unsigned_abs() >= range.first_element)
            }
            None => self.columns.iter().any(|&id| first(id).is_some_and(|first| first >= 0)),
        };
        Ok(Stored { column, deferred })
    }
}

/// Returns the columns of each representation of a field. Each has `slots` columns.
fn representations(
    schema: &Schema,
    field: &Field,
    slots: usize,
) -> std::result::Result<Vec<Vec<ColumnId>>, String> {
    let mut representations: Vec<(u16, Vec<ColumnId>)> = Vec::new();
    for &id in &field.columns {
        let number = schema.column(id).representation;
        match representations.iter_mut().find(|(other, _)| *other == number) {
            Some((_, columns)) => columns.push(id),
            None => representations.push((number, vec![id])),
        }
    }
    if representations.is_empty() {
        return Err("the field has no column".to_owned());
    }
    if let Some((number, columns)) = representations.iter().find(|(_, c)| c.len() != slots) {
        return Err(format!(
            "representation {number} has {} columns instead of {slots}",
            columns.len()
        ));
    }
    Ok(representations.into_iter().map(|(_, columns)| columns).collect())
}
