//! Maps the columns of an input to the columns of the output.

use std::collections::HashMap;

use nyssa_rntuple::schema::{Column, ColumnId, FieldId, Schema, Structure};
use nyssa_root::error::{Error, Result};

/// The fields of the output by the fields of an input.
pub(super) type FieldIds = HashMap<FieldId, FieldId>;

/// The columns of the output for the columns of inputs with one schema.
#[derive(Debug, Default)]
pub(super) struct ColumnMapping {
    /// The fields with columns that are moved.
    pub fields: Vec<FieldMapping>,
    /// The fields with columns that the input lacks.
    pub missing: Vec<MissingField>,
}

/// A field that is in the input and in the output.
#[derive(Debug)]
pub(super) struct FieldMapping {
    /// The field of the output.
    pub field: FieldId,
    /// The columns of each representation in the input, and their places in the output.
    pub representations: Vec<(Vec<ColumnId>, Vec<ColumnId>)>,
    /// The number of values in each entry. `None` inside collections and variants.
    pub repetitions: Option<u64>,
}

/// A field that is only in the output.
#[derive(Debug)]
pub(super) struct MissingField {
    /// The columns that get zeros.
    pub columns: Vec<ColumnId>,
    /// The number of values in a cluster.
    pub count: Count,
}

/// The number of values in a cluster of a field that the input lacks.
#[derive(Debug)]
pub(super) enum Count {
    /// No values, since the input lacks the collection of the field, too.
    Nothing,
    /// This number of values in each entry.
    Entries(u64),
    /// `times` values in each item of a collection. Another column of the input, which is one of `like`, depending on
    /// the representation, has `each` elements in each item.
    Items { like: Vec<ColumnId>, each: u64, times: u64 },
}

impl ColumnMapping {
    /// Maps `source` to `target` with the fields in `ids`. Representations that `target` lacks are added to it.
    ///
    /// # Errors
    /// `InvalidArgument` with a field whose columns do not match its type in the output.
    pub(super) fn of(source: &Schema, ids: &FieldIds, target: &mut Schema) -> Result<Self> {
        let mut mapping = Self::default();
        for (id, field) in (0u32..).map(FieldId).zip(&source.fields) {
            let Some(&to) = ids.get(&id) else { continue };
            if field.source.is_some() || field.columns.is_empty() {
                continue;
            }
            let mut representations = Vec::new();
            for from in source.representations(id) {
                fits(source, from, target, to)
                    .map_err(|error| error.at(|place| place.field = Some(source.shown_path(id))))?;
                let known = target.representations(to).find(|ids| same(source, from, target, ids));
                let into = match known.map(<[ColumnId]>::to_vec) {
                    Some(known) => known,
                    None => {
                        let new = from
                            .iter()
                            .map(|&id| Column { first_element: None, ..source.column(id).clone() });
                        target.add_representation(to, new.collect::<Vec<_>>())?
                    }
                };
                representations.push((from.to_vec(), into));
            }
            let repetitions = source.repetitions(id);
            mapping.fields.push(FieldMapping { field: to, representations, repetitions });
        }
        Ok(mapping)
    }

    /// Adds the fields of the complete schema that the inputs lack. Inputs without entries (`is_empty`) need no values.
    ///
    /// # Errors
    /// `Unsupported` for fields that cannot be left without a value, or whose number of values is not known
    /// without decoding.
    pub(super) fn find_missing(
        &mut self,
        source: &Schema,
        ids: &FieldIds,
        target: &Schema,
        is_empty: bool,
    ) -> Result<()> {
        let present: FieldIds = ids.iter().map(|(&from, &to)| (to, from)).collect();
        for (id, field) in (0u32..).map(FieldId).zip(&target.fields) {
            if field.source.is_some() || present.contains_key(&id) {
                continue;
            }
            if !is_empty {
                check_empty(target, id, |id| !present.contains_key(&id))?;
            }
            if let Some(columns) = target.representations(id).next() {
                let count = match is_empty {
                    true => Ok(Count::Nothing),
                    false => count(source, &present, target, id),
                };
                let count = count
                    .map_err(|error| error.at(|place| place.field = Some(target.shown_path(id))))?;
                self.missing.push(MissingField { columns: columns.to_vec(), count });
            }
        }
        Ok(())
    }
}

/// Refuses a field, which an input lacks, if its values would be objects without bytes: no streamer reads them.
pub(super) fn check_empty(
    target: &Schema,
    id: FieldId,
    is_missing: impl Fn(FieldId) -> bool,
) -> Result<()> {
    if target.field(id).structure != Structure::Streamer || has_no_values(target, id, is_missing) {
        return Ok(());
    }
    Err(Error::unsupported(
        "an object stored by its streamer has no value that could stand for a missing one: leave the \
         field out with filter",
    )
    .at(|place| place.field = Some(target.shown_path(id))))
}

/// Returns whether a field is in a collection or a variant that the input lacks, too, and that is empty therefore.
fn has_no_values(target: &Schema, id: FieldId, is_missing: impl Fn(FieldId) -> bool) -> bool {
    let above = std::iter::successors(target.field(id).parent, |&id| target.field(id).parent);
    let mut missing = above.take_while(|&id| is_missing(id));
    missing
        .any(|id| matches!(target.field(id).structure, Structure::Collection | Structure::Variant))
}

/// Returns the number of values of the field `id` of the output, which `source` lacks.
fn count(source: &Schema, present: &FieldIds, target: &Schema, id: FieldId) -> Result<Count> {
    let too_many = || Error::out_of_spec("more elements than can be counted");
    let (mut field, mut times) = (id, 1u64);
    loop {
        let size = target.field(field).array_size.unwrap_or(1);
        times = times.checked_mul(size).ok_or_else(too_many)?;
        let Some(parent) = target.field(field).parent else { return Ok(Count::Entries(times)) };
        if matches!(target.field(parent).structure, Structure::Collection | Structure::Variant) {
            break;
        }
        field = parent;
    }
    // `field` is the item of the collection. Each item has `times` values.
    let Some(&item) = present.get(&field) else { return Ok(Count::Nothing) };
    match counted(source, item, 1) {
        Some((like, each)) => Ok(Count::Items { like, each, times }),
        None => Err(Error::unsupported(
            "the input does not have it, and no other field tells how many items there are: merge \
             with recluster, which decodes everything",
        )),
    }
}

/// Returns the first column of each representation of the field `id`, or of a field below it, that has `each`
/// elements in every item.
fn counted(source: &Schema, id: FieldId, each: u64) -> Option<(Vec<ColumnId>, u64)> {
    let field = source.field(id);
    let each = each.checked_mul(field.array_size.unwrap_or(1)).filter(|&each| each > 0)?;
    let like: Vec<_> = source.representations(id).filter_map(|ids| ids.first().copied()).collect();
    if !like.is_empty() {
        return Some((like, each));
    }
    field.children.iter().find_map(|&child| counted(source, child, each))
}

/// Refuses columns that the type of the output cannot have.
fn fits(source: &Schema, from: &[ColumnId], target: &Schema, to: FieldId) -> Result<()> {
    let wide = target.field(to);
    let fits = |&id: &ColumnId| source.column(id).fits(&wide.type_name);
    let field = from.first().map(|&id| source.field(source.column(id).field));
    match field {
        Some(field)
            if field.type_name != wide.type_name
                && field.structure == Structure::Leaf
                && !from.iter().all(fits) =>
        {
            Err(Error::invalid_argument(format!(
                "its type is {}, and with the other inputs it has to be {}: its pages cannot be moved \
                 as they are; merge with recluster, which decodes everything",
                field.type_name, wide.type_name
            )))
        }
        _ => Ok(()),
    }
}

/// Returns whether two representations are encoded in one way.
fn same(source: &Schema, from: &[ColumnId], target: &Schema, into: &[ColumnId]) -> bool {
    let encoding = |schema: &Schema, id: ColumnId| {
        let Column { type_code, bits, value_range, .. } = *schema.column(id);
        (type_code, bits, value_range)
    };
    from.len() == into.len()
        && from.iter().zip(into).all(|(&a, &b)| encoding(source, a) == encoding(target, b))
}
