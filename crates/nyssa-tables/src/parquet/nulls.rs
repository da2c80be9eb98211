//! Finds out from the metadata which parts of a column are never null, although the schema allows nulls. Most programs
//! write all columns as nullable.

use std::sync::Arc;

use arrow_schema::{DataType, Field};
use parquet::file::metadata::ParquetMetaData;

use super::chunks::leaves;
use crate::shown::without_nulls;

/// The numbers of values of a leaf at each definition level, over all row groups.
struct Levels(Vec<i64>);

/// Returns the field of the column `root` without the nulls that no row group has.
pub(super) fn narrowed(metadata: &ParquetMetaData, root: usize, field: &Field) -> Field {
    let leaves: Vec<usize> = leaves(metadata, root).collect();
    if leaves.iter().all(|&leaf| has_no_nulls(metadata, leaf)) {
        return without_nulls(field);
    }
    let levels: Option<Vec<Levels>> = leaves.iter().map(|&leaf| levels(metadata, leaf)).collect();
    let Some(levels) = levels else { return field.clone() };
    narrow(field, 0, &mut levels.iter().peekable()).unwrap_or_else(|| field.clone())
}

/// Returns whether the statistics say that all values of a leaf are there, and no list is empty or missing.
fn has_no_nulls(metadata: &ParquetMetaData, leaf: usize) -> bool {
    let none = |count: u64| count == 0;
    metadata.row_groups().iter().all(|group| {
        let statistics = group.columns().get(leaf).and_then(|column| column.statistics());
        statistics.and_then(|statistics| statistics.null_count_opt()).is_some_and(none)
    })
}

fn levels(metadata: &ParquetMetaData, leaf: usize) -> Option<Levels> {
    let highest = metadata.file_metadata().schema_descr().column(leaf).max_def_level();
    let mut all = vec![0i64; usize::try_from(highest).ok()? + 1];
    if highest == 0 {
        return Some(Levels(all));
    }
    for group in metadata.row_groups() {
        let own = group.columns().get(leaf)?.definition_level_histogram()?;
        if own.len() != all.len() {
            return None;
        }
        for (sum, count) in all.iter_mut().zip(own.values()) {
            *sum = sum.checked_add(*count)?;
        }
    }
    Some(Levels(all))
}

/// Returns a field without the nulls that its leaves do not have. `level` is the definition level above it. Returns
/// `None` if the field does not match the leaves.
fn narrow<'l, I: Iterator<Item = &'l Levels>>(
    field: &Field,
    level: usize,
    leaves: &mut std::iter::Peekable<I>,
) -> Option<Field> {
    let Levels(counts) = leaves.peek()?;
    let (nullable, level) = match field.is_nullable() {
        true => (*counts.get(level)? > 0, level + 1),
        false => (false, level),
    };
    let mut child = |field: &Field, level: usize| narrow(field, level, leaves).map(Arc::new);
    let data_type = match field.data_type() {
        DataType::List(item) => DataType::List(child(item, level + 1)?),
        DataType::LargeList(item) => DataType::LargeList(child(item, level + 1)?),
        DataType::FixedSizeList(item, size) => {
            DataType::FixedSizeList(child(item, level + 1)?, *size)
        }
        DataType::Map(entries, sorted) => DataType::Map(child(entries, level + 1)?, *sorted),
        DataType::Struct(members) => {
            let members = members.iter().map(|member| child(member, level));
            DataType::Struct(members.collect::<Option<_>>()?)
        }
        leaf => {
            let Levels(counts) = leaves.next()?;
            if counts.len() != level + 1 {
                return None;
            }
            leaf.clone()
        }
    };
    Some(field.clone().with_data_type(data_type).with_nullable(nullable))
}
