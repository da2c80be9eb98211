//! Opens a table as a dataset.

use std::sync::Arc;

use nyssa_data::dataset::Format;
use nyssa_io::Source;
use nyssa_root::error::{Error, Result, ResultExt};

use crate::format::{ENCRYPTED, first_bytes, format_of, format_of_name, named};
use crate::reader::Reader;
use crate::{ipc, parquet};

/// Opens the table in a source. Returns `None` if the source is no table, and has no name of a table.
///
/// # Errors
/// `OutOfSpecification` for a damaged table, and for another file that has the name of a table; `Unsupported` for an
/// encrypted table; `Io` if the source cannot be read.
pub fn open(source: &Arc<dyn Source>) -> Result<Option<Reader>> {
    let first = first_bytes(source)?;
    let opened = match format_of(&first) {
        Some(Format::Parquet) if first.starts_with(ENCRYPTED) => {
            Err(Error::unsupported("the Parquet file is encrypted: decrypt it first"))
        }
        Some(Format::Parquet) => parquet::read::open(source).map(Reader::new),
        Some(_) => ipc::read::open(source).map(Reader::new),
        None => match format_of_name(source.location()) {
            Some(format) => Err(other_file(format, &first)),
            None => return Ok(None),
        },
    };
    opened.map(Some).in_file(source.name())
}

/// Returns the error of a file that is not what its name says.
fn other_file(format: Format, first: &[u8]) -> Error {
    let format = named(format);
    Error::out_of_spec(match first.is_empty() {
        true => format!("not {format} file: it is empty"),
        false => format!("not {format} file: it begins with \"{}\"", first.escape_ascii()),
    })
}
