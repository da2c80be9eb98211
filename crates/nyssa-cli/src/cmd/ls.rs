//! `nyssa ls`: lists the objects of a file.

use clap::Args;
use nyssa_jobs::open::{AnyFile, named_table};
use nyssa_jobs::tune::listing::{ListedKey, Listing, list, list_table, with_cycle};

use super::each::each;
use crate::app::App;
use crate::data::{find, open_any};
use crate::exit_code::FINE;
use crate::failure::Result;
use crate::output::{Columns, printable};
use crate::units::{count, size};

/// List the objects of a file
///
/// Lists all keys of all directories. The size of a TTree or RNTuple is the stored size of all its data. A Parquet or Arrow
/// IPC file has one table.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa ls run3.root\n  nyssa ls run3.root:dir -l")]
pub(crate) struct Ls {
    /// FILE, or FILE:PATH to list one directory or object; several, a glob in quotes, a folder, or @LIST
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Also show sizes before compression, dates and positions
    #[arg(short, long)]
    long: bool,
}

pub(crate) fn run(args: &Ls, app: &mut App<'_>) -> Result<u8> {
    each(&args.files, app, list_file, |listing, app| print(listing, args.long, app))
}

fn list_file(file: &str, app: &mut App<'_>) -> Result<(Listing, u8)> {
    let (file, path) = match open_any(file)? {
        (AnyFile::Root(file), path) => (file, path),
        (AnyFile::Table(table), path) => return Ok((list_table(&named_table(table, path)?), FINE)),
    };
    if let Some(why) = file.not_closed() {
        app.message(&format!("warning: {why}"));
    }
    let below = path.map(|path| find(&file, path)).transpose()?;
    let listing = list(&file, below.as_ref())?;
    listing.unreadable.iter().for_each(|why| app.message(&format!("warning: {why}")));
    Ok((listing, FINE))
}

fn print(listing: Listing, is_long: bool, app: &mut App<'_>) -> Result<()> {
    let special = special(&listing.keys);
    if is_long {
        long(listing.keys, app)?
    } else {
        short(listing.keys, app)?
    }
    for line in special {
        writeln!(app.out, "{}", printable(&line))?;
    }
    Ok(())
}

/// Returns the lines after the table, about attribute sets and late fields of RNTuples.
fn special(rows: &[ListedKey]) -> Vec<String> {
    let line = |row: &ListedKey| {
        let layout = row.layout.as_ref().filter(|layout| layout.is_special())?;
        Some(format!("{};{}: {layout}", row.path, row.cycle))
    };
    rows.iter().filter_map(line).collect()
}

fn entries(row: &ListedKey) -> String {
    row.entries.map(count).unwrap_or_default()
}

fn short(rows: Vec<ListedKey>, app: &mut App<'_>) -> Result<()> {
    let mut table = Columns::new(&["name", "class", ">entries", ">size", "title"]);
    for row in rows {
        let name = with_cycle(&row.path, row.cycle);
        let entries = entries(&row);
        table.row([name, row.class, entries, size(row.bytes), row.title]);
    }
    table.print(app)
}

fn long(rows: Vec<ListedKey>, app: &mut App<'_>) -> Result<()> {
    let header = ["name", "class", ">entries", ">bytes", ">object", ">position", "date", "title"];
    let mut table = Columns::new(&header);
    for row in rows {
        let name = with_cycle(&row.path, row.cycle);
        let entries = entries(&row);
        let (bytes, object) = (count(row.bytes), count(row.object_bytes.into()));
        let position = row.position.to_string();
        table.row([name, row.class, entries, bytes, object, position, row.date, row.title]);
    }
    table.print(app)
}
