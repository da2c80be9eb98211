//! Finds out which values of tables are really missing. Most programs declare all columns of a table as nullable, but a
//! field of an RNTuple is optional only where it has to be, and a TTree has no missing values.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use nyssa_root::Context;
use nyssa_root::arrow;
use nyssa_root::error::Result;
use nyssa_tables::may_be_null;

use super::input::Input;
use super::target::TargetColumn;
use crate::job::DEFAULT_MEMORY;

/// The most entries that are read at once to look for missing values.
const ENTRIES: u64 = 1 << 16;
/// The most bytes that the columns of these entries may take, by the bytes of their first entries.
const BYTES: u64 = DEFAULT_MEMORY / 8;

/// Which parts of a column have missing values: the column itself, and the parts below it.
#[derive(Clone, Debug, Default)]
struct Missing {
    here: bool,
    below: Vec<Missing>,
}

/// Takes away the nullability of parts of columns where no value is missing. Columns whose metadata do not say so are
/// read.
///
/// # Errors
/// `Cancelled`; an error if the input is damaged or cannot be read.
pub(super) fn narrow(columns: &mut [TargetColumn], input: &Input, context: &Context) -> Result<()> {
    let unsure = columns
        .iter_mut()
        .filter(|column| column.expression.is_none() && may_be_null(&column.field));
    for column in unsure {
        let name = column.field.name().clone();
        let mut missing = Missing::default();
        let (mut start, mut count) = (input.entries.start, 1024);
        while start < input.entries.end {
            context.check()?;
            let end = input.entries.end.min(start.saturating_add(count));
            let arrays = input.dataset.read(&[&name], start..end, context)?;
            let bytes: usize = arrays.iter().map(|array| array.get_array_memory_size()).sum();
            arrays.iter().for_each(|array| missing.add(array));
            let each = (bytes as u64 / (end - start).max(1)).max(1);
            count = (BYTES / each).clamp(1, ENTRIES);
            start = end;
        }
        column.field = narrowed(&column.field, &missing);
    }
    Ok(())
}

impl Missing {
    fn add(&mut self, array: &ArrayRef) {
        self.here |= array.null_count() > 0;
        let below = arrow::children(array);
        self.below.resize(below.len(), Self::default());
        self.below.iter_mut().zip(&below).for_each(|(own, array)| own.add(array));
    }
}

fn narrowed(field: &Field, missing: &Missing) -> Field {
    let none = Missing::default();
    let child = |index: usize, child: &Field| {
        Arc::new(narrowed(child, missing.below.get(index).unwrap_or(&none)))
    };
    let data_type = match field.data_type() {
        DataType::LargeList(item) => DataType::LargeList(child(0, item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(0, item), *size),
        DataType::Struct(members) => {
            let members = members.iter().enumerate();
            DataType::Struct(members.map(|(index, member)| child(index, member)).collect())
        }
        other => other.clone(),
    };
    let nullable = field.is_nullable() && missing.here;
    field.clone().with_data_type(data_type).with_nullable(nullable)
}
