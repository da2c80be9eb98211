//! Lists the objects of a file with their sizes.

use std::collections::HashSet;

use nyssa_rntuple::read;
use nyssa_rntuple::schema::PageInfo;
use nyssa_root::error::Result;
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_tables::Reader;
use nyssa_ttree::Branch;
use serde::Serialize;

use super::inspect::{RNTupleLayout, metadata_bytes};
use crate::open::{Opened, format_of, table_format};

/// The objects of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// The name of the file.
    pub file: String,
    /// The number of bytes of the whole file.
    pub bytes: u64,
    /// The keys of all directories, in the order of the file.
    pub keys: Vec<ListedKey>,
    /// The directories that cannot be listed and datasets that cannot be opened, as messages.
    #[serde(skip)]
    pub unreadable: Vec<String>,
}

/// A key of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedKey {
    /// The path in the file, without the cycle.
    pub path: String,
    /// The cycle. It is 0 for a table, which has none.
    pub cycle: u16,
    /// The class name, or the format of a table: `Parquet` or `Arrow`.
    pub class: String,
    /// The title.
    pub title: String,
    /// The number of entries of a dataset.
    pub entries: Option<u64>,
    /// The number of bytes on storage. For a TTree or RNTuple, all its data are included; for a table, it is the file.
    pub bytes: u64,
    /// The number of bytes of the object before compression, without the data of a TTree or RNTuple.
    pub object_bytes: u32,
    /// The date and time at which the key was written.
    pub date: String,
    /// The position of the key in the file.
    pub position: u64,
    /// The layout of an RNTuple.
    #[serde(flatten)]
    pub layout: Option<RNTupleLayout>,
}

/// Lists all objects of a file. With a key, lists only its object and, if this is a directory, the objects in it.
///
/// # Errors
/// `Io` if the file cannot be read.
pub fn list(file: &RootFile, below: Option<&KeyEntry>) -> Result<Listing> {
    let (mut keys, lost) = file.list_all()?;
    if let Some(folder) = below {
        let inside = format!("{}/", folder.path);
        keys.retain(|key| key.path == folder.path || key.path.starts_with(&inside));
    }
    let mut unreadable: Vec<String> = lost.iter().map(ToString::to_string).collect();
    let keys = keys.iter().map(|key| entry(file, key, &mut unreadable)).collect();
    Ok(Listing { file: file.name().to_owned(), bytes: file.source().size(), keys, unreadable })
}

/// Lists the only object of a Parquet or Arrow IPC file, which is its table.
pub fn list_table(table: &Reader) -> Listing {
    let (dataset, bytes) = (&**table.dataset(), table.file_bytes());
    let entry = ListedKey {
        path: dataset.name().to_owned(),
        cycle: 0,
        class: table_format(table).to_owned(),
        title: dataset.description(),
        entries: Some(dataset.num_entries()),
        bytes,
        object_bytes: 0,
        date: String::new(),
        position: 0,
        layout: None,
    };
    let (file, keys) = (dataset.file().to_owned(), vec![entry]);
    Listing { file, bytes, keys, unreadable: Vec::new() }
}

/// Returns the name of an object with its cycle. A table has none.
pub fn with_cycle(path: &str, cycle: u16) -> String {
    match cycle {
        0 => path.to_owned(),
        _ => format!("{path};{cycle}"),
    }
}

fn entry(file: &RootFile, key: &KeyEntry, unreadable: &mut Vec<String>) -> ListedKey {
    let (year, month, day, hour, minute, second) = key.date_time();
    let mut entry = ListedKey {
        path: key.path.clone(),
        cycle: key.cycle,
        class: key.class.clone(),
        title: key.title.to_string(),
        entries: None,
        bytes: u64::from(key.nbytes),
        object_bytes: key.objlen,
        date: format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
        position: key.seek,
        layout: None,
    };
    if format_of(key).is_none() {
        return entry;
    }
    match Opened::of_key(file, key) {
        Ok(data) => {
            entry.entries = Some(data.dataset().num_entries());
            match stored_bytes(&data) {
                Ok(bytes) => entry.bytes = entry.bytes.saturating_add(bytes),
                Err(error) => unreadable.push(error.statement()),
            }
            if let Opened::NTuple(reader) = &data {
                entry.layout = Some(RNTupleLayout::of(reader));
            }
        }
        Err(error) => unreadable.push(error.statement()),
    }
    entry
}

/// Returns the stored bytes of all data of a dataset.
fn stored_bytes(data: &Opened) -> Result<u64> {
    match data {
        Opened::Tree(reader) => Ok(of_baskets(&reader.tree().branches)),
        Opened::NTuple(reader) => of_pages_and_metadata(reader),
        Opened::Table(table) => Ok(table.file_bytes()),
    }
}

/// Pages that several places share count once, as in the report of `inspect`.
fn of_pages_and_metadata(reader: &read::Reader) -> Result<u64> {
    let columns = reader.clusters_info()?.iter().flat_map(|cluster| &cluster.columns);
    let mut seen = HashSet::new();
    let pages = columns.flat_map(|column| &column.pages);
    let pages = pages.filter(|page| seen.insert(page.locator.offset)).map(PageInfo::stored_bytes);
    Ok(pages.fold(metadata_bytes(reader), u64::saturating_add))
}

fn of_baskets(branches: &[Branch]) -> u64 {
    let own = |branch: &Branch| {
        let on_disk = branch.baskets.iter().filter(|basket| basket.embedded.is_none());
        on_disk.map(|basket| basket.bytes).fold(0, u64::saturating_add)
    };
    branches
        .iter()
        .map(|branch| own(branch).saturating_add(of_baskets(&branch.branches)))
        .fold(0, u64::saturating_add)
}
