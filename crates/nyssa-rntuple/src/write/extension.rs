//! Adds fields and columns to an RNTuple while it is written (specification, "Column Description", deferred
//! columns; "Schema Extension Record Frame").
//!
//! A new field reads as zeros in earlier entries. Readers compute the number of zeros from the index of the
//! first element. This is only possible for columns with a fixed number of elements in each entry; the
//! content of collections is empty there, because the offsets are zero. A new representation of an old field
//! is suppressed in earlier clusters.

use nyssa_root::error::{Error, Result, ResultExt};

use crate::schema::{Field, FieldId, Schema, Structure};

/// The numbers of entries and elements that were written before the schema grows.
pub(super) struct Progress<'a> {
    pub(super) entries: u64,
    /// The number of elements of each column.
    pub(super) elements: &'a [u64],
    /// Whether the file has page lists, which do not have the new columns.
    pub(super) page_lists: bool,
}

/// Checks that `new` only has additions to `old` that are possible after `progress`, and sets the first elements of
/// the new columns. Returns the index of the first element of each new column.
///
/// # Errors
/// `InvalidArgument` when an old field or column has changed, for new members of fields other than top-level
/// untyped records, and for representations that are too late.
pub(super) fn defer(old: &Schema, new: &mut Schema, progress: &Progress<'_>) -> Result<Vec<u64>> {
    check_prefix(old, new)?;
    for id in (0u32..).map(FieldId).take(new.fields.len()).skip(old.fields.len()) {
        check_parent(old, new, id)?;
    }
    let mut starts = Vec::with_capacity(new.columns.len() - old.columns.len());
    for index in old.columns.len()..new.columns.len() {
        let field = new.columns[index].field;
        let known = (field.0 as usize) < old.fields.len();
        let start = match known {
            true => representation_start(new, index, progress),
            false => field_start(new, index, progress.entries),
        };
        let (first, start) = start.in_field(&new.path(field))?;
        new.columns[index].first_element = first;
        starts.push(start);
    }
    Ok(starts)
}

/// Checks that `new` has all fields and columns of `old`, unchanged.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_prefix(old: &Schema, new: &Schema) -> Result<()> {
    let record =
        |field: &Field| Field { children: Vec::new(), columns: Vec::new(), ..field.clone() };
    let fields = old.fields.len() <= new.fields.len()
        && old.fields.iter().zip(&new.fields).all(|(old, new)| record(old) == record(new));
    if fields && new.columns.starts_with(&old.columns) && new.aliases.starts_with(&old.aliases) {
        return Ok(());
    }
    Err(Error::invalid_argument(
        "fields and columns that have been written cannot change: only add new ones",
    ))
}

/// Checks a new field that may be a member of an old one. This is allowed if each entry has one value of the old field.
///
/// # Errors
/// `InvalidArgument` with the path of the new field.
pub(super) fn check_parent(old: &Schema, new: &Schema, id: FieldId) -> Result<()> {
    let mut parent = new.field(id).parent.filter(|parent| (parent.0 as usize) < old.fields.len());
    while let Some(above) = parent {
        let record = new.field(above);
        if record.structure != Structure::Record || !record.type_name.is_empty() {
            return Err(Error::invalid_argument(format!(
                "after entries were written, members can only be added to untyped records outside \
                 collections, and {} is not one",
                new.path(above)
            )))
            .in_field(&new.path(id));
        }
        parent = record.parent;
    }
    Ok(())
}

/// Returns the first element of a column of a new field: the stored number, and the index.
fn field_start(schema: &Schema, index: usize, entries: u64) -> Result<(Option<i64>, u64)> {
    let column = &schema.columns[index];
    let repetitions = schema.repetitions(column.field).filter(|_| slot(schema, index) == 0);
    let Some(repetitions) = repetitions else { return Ok((None, 0)) };
    let start = entries.checked_mul(repetitions);
    let start = start.and_then(|start| Some((i64::try_from(start).ok()?, start)));
    let (signed, start) = start.ok_or_else(|| {
        Error::limit(format!("{repetitions} values in each of {entries} entries cannot be counted"))
    })?;
    // The first representation has the earlier entries. In the other representations they are suppressed.
    let first = if column.representation == 0 { signed } else { -signed };
    Ok((Some(first).filter(|&first| first != 0), start))
}

/// Returns the first element of a column of a new representation of an old field: the stored number, and the
/// index.
fn representation_start(
    schema: &Schema,
    index: usize,
    progress: &Progress<'_>,
) -> Result<(Option<i64>, u64)> {
    let column = &schema.columns[index];
    if column.representation == 0 {
        return Err(Error::invalid_argument(
            "after entries were written, a field can only get further representations",
        ));
    }
    let slot = slot(schema, index);
    let field = schema.field(column.field);
    let peer = field.columns.get(slot).map_or(0, |id| id.0 as usize);
    let start = progress.elements.get(peer).copied().unwrap_or(0);
    let deferred = schema.columns[peer].first_element.is_some();
    if !progress.page_lists && !deferred {
        return Ok((None, start));
    }
    // Readers compute the earlier elements from the number of entries.
    let alone = schema.representations(column.field).next().is_some_and(|ids| ids.len() == 1);
    if !alone && progress.page_lists || schema.repetitions(column.field).is_none() {
        return Err(Error::invalid_argument(
            "a representation of a field with several columns or inside a collection has to be \
             added before the first cluster group is complete",
        ));
    }
    let signed = i64::try_from(start).unwrap_or(i64::MAX);
    Ok((Some(-signed).filter(|&first| first != 0 && slot == 0), start))
}

/// Returns the index of a column in its representation.
pub(super) fn slot(schema: &Schema, index: usize) -> usize {
    let column = &schema.columns[index];
    let mut same = schema.field(column.field).columns.iter();
    let place = same.position(|id| id.0 as usize == index).unwrap_or(0);
    let before = schema.field(column.field).columns.iter().take(place);
    before.filter(|id| schema.column(**id).representation == column.representation).count()
}
