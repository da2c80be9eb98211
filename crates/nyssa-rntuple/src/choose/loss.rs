//! Finds the chosen column types that lose precision.

use std::collections::HashMap;

use crate::encoding::{Encoding, Precision};
use crate::schema::{Column, ColumnId, Schema};
use crate::seal::SealSettings;

/// Returns the precision of the columns that are stored with less precision than their fields have, because the user
/// chose this. Columns that hold the integers of a tree only differ by rounding.
pub fn precisions(schema: &Schema, settings: &SealSettings) -> HashMap<ColumnId, Precision> {
    let columns = schema.columns.iter().zip(&settings.columns).enumerate();
    let lossy = columns.filter(|(_, (_, settings))| settings.own_type);
    let lossy = lossy.filter_map(|(id, (column, settings))| {
        let encoding = Encoding::of(column.column_type?, column.bits, column.value_range).ok()?;
        let type_name = schema.field(column.field).type_name.as_str();
        let mut precision = encoding.precision(type_name != "float")?;
        if let Some(error) = settings.largest_error {
            precision.absolute = error;
        }
        (precision != Precision::EXACT).then_some((ColumnId(id as u32), precision))
    });
    lossy.collect()
}

/// Returns one line for each column of [`precisions`], with the field, the column type and the precision.
pub fn losses(schema: &Schema, precisions: &HashMap<ColumnId, Precision>) -> Vec<String> {
    let names = schema.shown_names();
    let columns = schema.columns.iter().enumerate();
    let lossy =
        columns.filter_map(|(id, column)| Some((column, precisions.get(&ColumnId(id as u32))?)));
    let line = |(column, precision): (&Column, &Precision)| {
        let path = names.get(&column.field).cloned();
        let path = path.unwrap_or_else(|| schema.path(column.field));
        let (name, bits) = (column.column_type?.name(), column.bits);
        let Precision { relative, absolute, range: (min, max) } = *precision;
        Some(match relative > 0.0 {
            true => format!(
                "{path} is stored as {name} with {bits} bits: relative error at most {relative:.2e} \
                 ({absolute:.1e} next to zero)"
            ),
            false => format!(
                "{path} is stored as {name} with {bits} bits from {min} to {max}: absolute error at \
                 most {absolute:.3e}"
            ),
        })
    };
    lossy.filter_map(line).collect()
}
