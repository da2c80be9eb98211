//! Opens a file of any format: a ROOT file, or the table of a Parquet or Arrow IPC file.

use std::sync::Arc;

use nyssa_data::dataset::Format;
use nyssa_io::Source;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_tables::Reader;

/// An open file.
pub enum AnyFile {
    /// A ROOT file.
    Root(RootFile),
    /// A Parquet or Arrow IPC file.
    Table(Reader),
}

impl AnyFile {
    /// Opens the file in a source.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged file, and for one of another format; `Unsupported` for an encrypted table; `Io`.
    pub fn open(source: &Arc<dyn Source>) -> Result<Self> {
        match RootFile::open(Arc::clone(source)) {
            Ok(file) => Ok(Self::Root(file)),
            // Only a file that is no ROOT file is looked at twice.
            Err(error) if error.kind() == Kind::OutOfSpecification => {
                open_table(source)?.map(Self::Table).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }
}

/// Opens the table in a source. Returns `None` if it is no table, and has no name of a table.
///
/// # Errors
/// `OutOfSpecification` for a damaged table, and for another file that has the name of a table; `Unsupported` for an
/// encrypted table; `Io`.
pub fn open_table(source: &Arc<dyn Source>) -> Result<Option<Reader>> {
    nyssa_tables::open(source)
}

/// Returns the name of the format of a table, as reports have it.
pub fn table_format(table: &Reader) -> &'static str {
    match table.dataset().format() {
        Format::Parquet => "Parquet",
        _ => "Arrow",
    }
}

/// Returns the table of a file, which has no other name than its own.
///
/// # Errors
/// `NotFound` for another name.
pub fn named_table(table: Reader, name: Option<&str>) -> Result<Reader> {
    let own = table.dataset().name();
    match name {
        Some(name) if name != own => {
            let message = format!("the file is one table, {own:?}: {name:?} is not in it");
            Err(Error::not_found(message)).in_file(table.dataset().file())
        }
        _ => Ok(table),
    }
}
