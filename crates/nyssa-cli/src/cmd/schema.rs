//! `nyssa schema`: shows branches and fields with their types.

use clap::Args;
use nyssa_data::dataset::Filter;
use nyssa_jobs::tune::schema::{
    Alias, Branches, ColumnEntry, Content, Fields, Friend, TableColumns, describe,
};

use super::each::each;
use crate::app::App;
use crate::data::{check_filter, open_dataset};
use crate::exit_code::FINE;
use crate::failure::Result;
use crate::output::{Columns, brief, printable};
use crate::units::{count, size};

/// Show fields or branches with their types
///
/// For an RNTuple, shows the tree of fields with their C++ types, their columns (type and bits on storage), and
/// the sources of projected fields. For a TTree, shows the branches with their types, counters and numbers of
/// baskets. For a Parquet or Arrow IPC file, shows the columns with their types, and whether values may be missing. If
/// nyssa cannot read a field, branch or column, the reason is shown.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa schema run3.root:Events --filter 'Jet_*'")]
pub(crate) struct Schema {
    /// FILE or FILE:PATH; several, a glob in quotes, a folder, or @LIST
    #[arg(required = true)]
    data: Vec<String>,
    /// Show only branches or top-level fields that match a glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Also show titles and descriptions, and long types in full
    #[arg(short, long)]
    verbose: bool,
}

pub(crate) fn run(args: &Schema, app: &mut App<'_>) -> Result<u8> {
    let filter = Filter::new(&args.filter, &[])?;
    let look = |data: &str, _: &mut App<'_>| {
        let mut report = describe(&open_dataset(data)?)?;
        check_filter(&args.filter, &report.names(), &report.file)?;
        report.select(&filter);
        Ok((report, FINE))
    };
    each(&args.data, app, look, |report, app| match report.content {
        Content::Branches(content) => print_branches(content, args.verbose, app),
        Content::Fields(content) => print_fields(content, args.verbose, app),
        Content::Columns(content) => print_columns(content, args.verbose, app),
    })
}

/// Prints the columns of a table.
fn print_columns(content: TableColumns, verbose: bool, app: &mut App<'_>) -> Result<()> {
    let mut header = vec!["column", "type", ">stored", "remarks"];
    header.extend(verbose.then_some("description"));
    let mut table = Columns::new(&header);
    for row in content.columns {
        let stored = row.stored_bytes.map(size).unwrap_or_default();
        let missing = row.unreadable.is_none() && row.nullable;
        let remarks = remarks(missing.then(|| "may be missing".to_owned()), row.unreadable);
        if verbose {
            table.row([row.name, row.type_name, stored, remarks, row.description]);
        } else {
            table.row([row.name, brief(row.type_name), stored, remarks]);
        }
    }
    table.print(app)
}

/// Prints the fields and attribute sets of an RNTuple.
fn print_fields(content: Fields, verbose: bool, app: &mut App<'_>) -> Result<()> {
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
        let source = row.source.map(|source| format!("shows {source}"));
        let (columns, remarks) = (columns.join(", "), remarks(source, row.unreadable));
        if verbose {
            table.row([field, row.type_name, columns, remarks, row.description]);
        } else {
            table.row([field, brief(row.type_name), columns, remarks]);
        }
    }
    table.print(app)?;
    for set in content.attribute_sets {
        let (major, minor) = set.version;
        writeln!(app.out, "attribute set {}, version {major}.{minor}", printable(&set.name))?;
    }
    Ok(())
}

/// Returns the column type, with its bits if the type does not fix them.
fn show_column(column: &ColumnEntry) -> String {
    let name = &column.type_name;
    match column.value_range {
        Some((low, high)) => format!("{name} ({} bits, {low} to {high})", column.bits),
        None if name == "Real32Trunc" => format!("{name} ({} bits)", column.bits),
        None => name.clone(),
    }
}

/// Prints the branches, aliases and friends of a TTree.
fn print_branches(content: Branches, verbose: bool, app: &mut App<'_>) -> Result<()> {
    let mut table = if verbose {
        Columns::new(&["branch", "type", "counter", ">baskets", "remarks", "title"])
    } else {
        Columns::new(&["branch", "type", "counter", ">baskets", "remarks"])
    };
    for row in content.branches {
        let branch = indented(row.depth, &row.below_parent);
        let (type_name, counter) = (row.type_name.unwrap_or_default(), row.counter);
        let counter = counter.unwrap_or_default();
        let baskets = count(row.baskets as u64);
        let late = row.first_entry.map(|first| format!("begins at entry {first}"));
        let remarks = remarks(late, row.unreadable);
        if verbose {
            table.row([branch, type_name, counter, baskets, remarks, row.title]);
        } else {
            table.row([branch, brief(type_name), counter, baskets, remarks]);
        }
    }
    table.print(app)?;
    for Alias { name, formula } in content.aliases {
        writeln!(app.out, "alias {}", printable(&format!("{name} = {formula}")))?;
    }
    for Friend { name, tree, file } in content.friends {
        let file = file.map(|file| format!(" in {file}")).unwrap_or_default();
        writeln!(app.out, "friend {}", printable(&format!("{name}: {tree}{file}")))?;
    }
    Ok(())
}

/// Indents a name by two blanks for each level.
fn indented(depth: usize, name: &str) -> String {
    format!("{}{name}", "  ".repeat(depth))
}

/// Returns a remark and the reason why something cannot be read, as one text.
fn remarks(remark: Option<String>, unreadable: Option<String>) -> String {
    let unreadable = unreadable.map(|reason| format!("not readable: {reason}"));
    remark.into_iter().chain(unreadable).collect::<Vec<_>>().join("; ")
}
