//! Finds the chosen column types that lose precision.

use super::SealSettings;
use crate::error::{Error, Result};
use crate::rntuple::encoding::{Encoding, Precision};
use crate::rntuple::schema::Schema;

/// Returns one line for each field that is stored with less precision than its type has, because the user chose
/// this. The line has the field, the column type and the precision.
pub(crate) fn losses(schema: &Schema, settings: &SealSettings) -> Vec<String> {
    let names = schema.shown_names();
    let columns = schema.columns.iter().zip(&settings.columns);
    let lines = columns.filter(|(_, settings)| settings.own_type).filter_map(|(column, _)| {
        let column_type = column.column_type?;
        let encoding = Encoding::of(column_type, column.bits, column.value_range).ok()?;
        let type_name = schema.field(column.field).type_name.as_str();
        let precision = encoding.precision(type_name != "float")?;
        if precision == Precision::EXACT {
            return None;
        }
        let path = names.get(&column.field).cloned();
        let path = path.unwrap_or_else(|| schema.path(column.field));
        let (name, bits) = (column_type.name(), column.bits);
        let Precision { relative, absolute, range: (min, max) } = precision;
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
    });
    lines.collect()
}

/// Refuses a verification of all values when some will differ because of the chosen column types.
///
/// # Errors
/// `InvalidArgument` with the fields.
pub(crate) fn check_exact(schema: &Schema, settings: &SealSettings) -> Result<()> {
    match losses(schema, settings) {
        lines if lines.is_empty() => Ok(()),
        lines => Err(Error::invalid_argument(format!(
            "all values are to be verified, but the chosen columns change some: {}",
            lines.join("; ")
        ))),
    }
}
