//! The fields of an RNTuple.

use nyssa::tune::schema::{ColumnEntry, Fields};

use super::{indented, remark};
use crate::app::App;
use crate::failure::Result;
use crate::output::{Columns, printable};

/// Prints the fields and attribute sets.
pub fn print(content: Fields, verbose: bool, app: &mut App<'_>) -> Result<()> {
    let mut table = if verbose {
        Columns::new(&["field", "type", "columns", "remarks", "description"])
    } else {
        Columns::new(&["field", "type", "columns", "remarks"])
    };
    for row in content.fields {
        let field = indented(row.depth, &row.name);
        let columns: Vec<_> = match row.source {
            Some(_) => Vec::new(),
            None => row.columns.iter().map(show_column).collect(),
        };
        let source = row.source.map(|source| format!("shows {source}")).unwrap_or_default();
        let remarks = [source, remark(row.unreadable.as_ref())];
        let remarks: Vec<_> = remarks.into_iter().filter(|it| !it.is_empty()).collect();
        let (columns, remarks) = (columns.join(", "), remarks.join("; "));
        if verbose {
            table.row([field, row.type_name, columns, remarks, row.description]);
        } else {
            table.row([field, row.type_name, columns, remarks]);
        }
    }
    table.print(app)?;
    for set in content.attribute_sets {
        let (major, minor) = set.version;
        writeln!(app.out, "attribute set {}, version {major}.{minor}", printable(&set.name))?;
    }
    Ok(())
}

/// Returns the column type, with its bits where the type does not fix them.
fn show_column(column: &ColumnEntry) -> String {
    let name = &column.type_name;
    match column.value_range {
        Some((low, high)) => format!("{name} ({} bits, {low} to {high})", column.bits),
        None if name == "Real32Trunc" => format!("{name} ({} bits)", column.bits),
        None => name.clone(),
    }
}
