//! Prints how the columns of an output are stored, and why.

use nyssa_rntuple::write::ColumnReport;

use crate::app::App;
use crate::failure::Result;
use crate::output::Columns;
use crate::units::{count, ratio, size};

/// Prints each column, or how many columns are stored in the same way. The largest sum comes first.
pub(super) fn print(columns: &[ColumnReport], each: bool, app: &mut App<'_>) -> Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    writeln!(app.out)?;
    if each {
        return one_by_one(columns, app);
    }
    let mut groups: Vec<(&ColumnReport, u64, u64, u64)> = Vec::new();
    for column in columns {
        let way = |other: &ColumnReport| {
            (&other.column_type, &other.codec, &other.effort, &other.reason)
                == (&column.column_type, &column.codec, &column.effort, &column.reason)
        };
        let (before, after) = (column.uncompressed_bytes, column.compressed_bytes);
        match groups.iter_mut().find(|(other, ..)| way(other)) {
            Some((_, number, all, stored)) => {
                (*number, *all, *stored) = (*number + 1, *all + before, *stored + after);
            }
            None => groups.push((column, 1, before, after)),
        }
    }
    groups.sort_by_key(|(.., stored)| std::cmp::Reverse(*stored));
    let header =
        ["encoding", "codec", "effort", ">columns", ">uncompressed", ">pages", ">ratio", "why"];
    let mut table = Columns::new(&header);
    for (column, number, before, after) in groups {
        table.row([
            column.column_type.clone(),
            column.codec.clone(),
            column.effort.clone(),
            count(number),
            size(before),
            size(after),
            ratio(before, after),
            column.reason.clone(),
        ]);
    }
    table.print(app)
}

fn one_by_one(columns: &[ColumnReport], app: &mut App<'_>) -> Result<()> {
    let mut table = Columns::new(&[
        ">column",
        "field",
        "encoding",
        "codec",
        "effort",
        ">uncompressed",
        ">pages",
        ">ratio",
        "why",
    ]);
    for column in columns {
        let tried = column.tried.iter().map(|trial| {
            let form =
                if trial.form.is_empty() { String::new() } else { format!("{} ", trial.form) };
            format!("{form}{} {}", trial.effort, size(trial.bytes))
        });
        let tried = tried.collect::<Vec<_>>().join(", ");
        let why = if tried.is_empty() { String::new() } else { format!(": {tried}") };
        table.row([
            column.id.to_string(),
            column.field.clone(),
            column.column_type.clone(),
            column.codec.clone(),
            column.effort.clone(),
            size(column.uncompressed_bytes),
            size(column.compressed_bytes),
            ratio(column.uncompressed_bytes, column.compressed_bytes),
            format!("{}{why}", column.reason),
        ]);
    }
    table.print(app)
}
