//! Prints tables for people.

use std::io::Write;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::app::App;
use crate::failure::Result;
use crate::units::count;

pub(crate) use crate::printable::{brief, printable};

/// The number of names of a long list that are printed.
const NAMED: usize = 5;

/// The number of blanks on both sides of columns.
const GAP: (u16, u16) = (0, 2);

/// A table that is being filled.
pub(crate) struct Columns {
    table: Table,
    right: Vec<bool>,
}

impl Columns {
    /// Makes a table with a header. A `>` before a name aligns its column to the right.
    pub(crate) fn new(header: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let right: Vec<_> = header.iter().map(|name| name.starts_with('>')).collect();
        let names = header.iter().map(|name| name.trim_start_matches('>'));
        table.set_header(names.collect::<Vec<_>>());
        Self { table, right }
    }

    /// Adds a row. Control characters are escaped, since they would break the table.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(cells.into_iter().map(|cell| Cell::new(printable(&cell))));
    }

    /// Prints the table. It is as wide as its content, and not wider than the terminal.
    pub(crate) fn print(self, app: &mut App<'_>) -> Result<()> {
        self.write(app.out, app.terminal.width)
    }

    /// Writes the table. Without a width it is as wide as its cells.
    pub(crate) fn write(self, out: &mut dyn Write, width: Option<u16>) -> Result<()> {
        self.lines(width).iter().try_for_each(|line| Ok(writeln!(out, "{line}")?))
    }

    /// Returns the lines of the table, which are not longer than `width`.
    pub(crate) fn lines(mut self, width: Option<u16>) -> Vec<String> {
        if let Some(width) = width {
            self.table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        for (column, right) in self.table.column_iter_mut().zip(self.right) {
            column.set_padding(GAP);
            if right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self.table.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

/// Prints how many things were `done`, and the names of the first ones. Prints nothing if there are none.
pub(crate) fn names(done: &str, thing: &str, all: &[String], app: &mut App<'_>) -> Result<()> {
    let [first, rest @ ..] = all else { return Ok(()) };
    let (named, more) = rest.split_at(rest.len().min(NAMED - 1));
    let names = named.iter().fold(first.clone(), |names, name| names + ", " + name);
    let plural = match rest {
        [] => "",
        _ if thing.ends_with("ch") => "es",
        _ => "s",
    };
    let more = if more.is_empty() { "" } else { ", … (--json names all)" };
    let number = count(all.len() as u64);
    Ok(writeln!(app.out, "{done} {number} {thing}{plural}: {}{more}", printable(&names))?)
}
