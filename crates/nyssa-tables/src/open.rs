//! Opens a table as a dataset.

use std::sync::Arc;

use nyssa_data::dataset::{AnyDataset, Format};
use nyssa_io::Source;
use nyssa_root::error::{Error, Result, ResultExt};

use crate::format::{ENCRYPTED, first_bytes, format_of};
use crate::{ipc, parquet};

/// Opens the table in a source. Returns `None` if the source is no table.
///
/// # Errors
/// `OutOfSpecification` for a damaged table; `Unsupported` for an encrypted one; `Io` if the source cannot be read.
pub fn open(source: &Arc<dyn Source>) -> Result<Option<AnyDataset>> {
    let first = first_bytes(source)?;
    let opened = match format_of(&first) {
        Some(Format::Parquet) if first.starts_with(ENCRYPTED) => {
            Err(Error::unsupported("the Parquet file is encrypted: decrypt it first"))
        }
        Some(Format::Parquet) => parquet::read::open(source).map(|it| Arc::new(it) as AnyDataset),
        Some(_) => ipc::read::open(source).map(|it| Arc::new(it) as AnyDataset),
        None => return Ok(None),
    };
    opened.map(Some).in_file(source.name())
}
