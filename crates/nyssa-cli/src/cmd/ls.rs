//! `nyssa ls`: the objects of a file.

use clap::Args;
use nyssa::open::{self, Opened};
use nyssa::rootfile::{KeyEntry, NOT_CLOSED, RootFile};
use nyssa::ttree::Branch;
use nyssa::tune::inspect::Layout;
use serde::Serialize;

use crate::FINE;
use crate::app::App;
use crate::data::{of_key, open_file};
use crate::failure::Result;
use crate::output::{Columns, printable};
use crate::units::{count, size};

/// List the objects of a file
///
/// Lists all keys of all directories. The size of a TTree or RNTuple is the stored size of all its data.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa ls run3.root\n  nyssa ls run3.root:dir -l")]
pub struct Ls {
    /// FILE, or FILE:PATH to list one directory or object
    file: String,
    /// Also show sizes before compression, dates and positions
    #[arg(short, long)]
    long: bool,
}

#[derive(Serialize)]
struct Listing {
    file: String,
    bytes: u64,
    keys: Vec<Row>,
}

/// One key.
#[derive(Serialize)]
struct Row {
    path: String,
    cycle: u16,
    class: String,
    title: String,
    /// Number of entries of a TTree or RNTuple.
    entries: Option<u64>,
    /// Bytes on storage, including all data of a TTree or RNTuple.
    bytes: u64,
    /// Of the object, for data without its data.
    object_bytes: u32,
    date: String,
    position: u64,
    /// Of an RNTuple.
    #[serde(flatten)]
    layout: Option<Layout>,
}

pub fn run(args: &Ls, app: &mut App<'_>) -> Result<u8> {
    let (file, path) = open_file(&args.file)?;
    if file.was_recovered() {
        app.message(&format!("warning: {NOT_CLOSED}"));
    }
    let (mut keys, lost) = file.list_all()?;
    lost.iter().for_each(|error| app.message(&format!("warning: {error}")));
    if let Some(path) = path {
        let found = crate::data::find(&file, path)?;
        let below = format!("{}/", found.path);
        keys.retain(|key| key.path == found.path || key.path.starts_with(&below));
    }
    let keys: Vec<_> = keys.iter().map(|key| row(&file, key, app)).collect();
    if app.json {
        let listing = Listing { file: file.name().to_owned(), bytes: file.source().size(), keys };
        app.print_json(&listing)?;
        return Ok(FINE);
    }
    let special = special(&keys);
    if args.long {
        long(keys, app)?
    } else {
        short(keys, app)?
    }
    for line in special {
        writeln!(app.out, "{}", printable(&line))?;
    }
    Ok(FINE)
}

/// Returns the lines below the table, about attribute sets and late fields of RNTuples.
fn special(rows: &[Row]) -> Vec<String> {
    let line = |row: &Row| {
        let layout = row.layout.as_ref().filter(|layout| layout.is_special())?;
        Some(format!("{};{}: {layout}", row.path, row.cycle))
    };
    rows.iter().filter_map(line).collect()
}

fn row(file: &RootFile, key: &KeyEntry, app: &mut App<'_>) -> Row {
    let (year, month, day, hour, minute, second) = key.date_time();
    let mut row = Row {
        path: key.path.clone(),
        cycle: key.cycle,
        class: key.class.clone(),
        title: key.title.clone(),
        entries: None,
        bytes: u64::from(key.nbytes),
        object_bytes: key.objlen,
        date: format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
        position: key.seek,
        layout: None,
    };
    if open::format_of(key).is_some() {
        match of_key(file, key) {
            Ok(data) => {
                row.entries = Some(data.dataset().num_entries());
                row.bytes = row.bytes.saturating_add(stored(&data));
                if let Opened::NTuple(reader) = &data {
                    row.layout = Some(Layout::of(reader));
                }
            }
            Err(failure) => app.message(&format!("warning: {}", failure.message())),
        }
    }
    row
}

/// Returns the stored bytes of all data of a dataset.
fn stored(data: &Opened) -> u64 {
    match data {
        Opened::Tree(reader) => baskets(&reader.tree().branches),
        Opened::NTuple(reader) => {
            let clusters = reader.clusters_info().iter();
            let columns = clusters.flat_map(|cluster| &cluster.columns);
            let pages: u64 =
                columns.flat_map(|column| &column.pages).map(|page| page.locator.size).sum();
            let lists = reader.footer().cluster_groups.iter();
            let lists: u64 = lists.map(|group| group.page_list.locator.size).sum();
            let anchor = reader.anchor();
            pages + lists + anchor.header.nbytes + anchor.footer.nbytes
        }
    }
}

fn baskets(branches: &[Branch]) -> u64 {
    let own = |branch: &Branch| {
        let on_disk = branch.baskets.iter().filter(|basket| basket.embedded.is_none());
        on_disk.map(|basket| basket.bytes).fold(0, u64::saturating_add)
    };
    branches
        .iter()
        .map(|branch| own(branch).saturating_add(baskets(&branch.branches)))
        .fold(0, u64::saturating_add)
}

fn entries(row: &Row) -> String {
    row.entries.map(count).unwrap_or_default()
}

fn short(rows: Vec<Row>, app: &mut App<'_>) -> Result<()> {
    let mut table = Columns::new(&["name", "class", ">entries", ">size", "title"]);
    for row in rows {
        let name = format!("{};{}", row.path, row.cycle);
        let entries = entries(&row);
        table.row([name, row.class, entries, size(row.bytes), row.title]);
    }
    table.print(app)
}

fn long(rows: Vec<Row>, app: &mut App<'_>) -> Result<()> {
    let header = ["name", "class", ">entries", ">bytes", ">object", ">position", "date", "title"];
    let mut table = Columns::new(&header);
    for row in rows {
        let name = format!("{};{}", row.path, row.cycle);
        let entries = entries(&row);
        let (bytes, object) = (count(row.bytes), count(row.object_bytes.into()));
        let position = row.position.to_string();
        table.row([name, row.class, entries, bytes, object, position, row.date, row.title]);
    }
    table.print(app)
}
