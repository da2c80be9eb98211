//! Says which format of tables a file has: by its first bytes, and for a new file by its name.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use nyssa_data::dataset::Format;
use nyssa_io::Source;
use nyssa_root::error::Result;
use nyssa_root::fetch::read_one;

/// The first and the last bytes of a Parquet file. An encrypted footer has others.
pub(crate) const PARQUET: &[u8] = b"PAR1";
/// The first bytes of a Parquet file whose footer is encrypted.
pub(crate) const ENCRYPTED: &[u8] = b"PARE";
/// The first and the last bytes of an Arrow IPC file.
pub(crate) const ARROW: &[u8] = b"ARROW1";
/// The first bytes of an Arrow IPC stream: the mark of a message.
pub(crate) const CONTINUATION: [u8; 4] = [0xff; 4];

/// Returns the format of the table in a source. Returns `None` if the source is no table, such as a ROOT file.
///
/// # Errors
/// `Io` if the source cannot be read.
pub fn format_of_source(source: &Arc<dyn Source>) -> Result<Option<Format>> {
    Ok(format_of(&first_bytes(source)?))
}

/// Returns the bytes of a source that tell its format.
pub(crate) fn first_bytes(source: &Arc<dyn Source>) -> Result<Bytes> {
    read_one(source, 0..source.size().min(ARROW.len() as u64))
}

/// Returns the format of a table with these first bytes. Returns `None` if they are of no table.
pub(crate) fn format_of(first: &[u8]) -> Option<Format> {
    match first {
        bytes if bytes.starts_with(PARQUET) || bytes.starts_with(ENCRYPTED) => {
            Some(Format::Parquet)
        }
        bytes if bytes.starts_with(ARROW) || bytes.starts_with(&CONTINUATION) => {
            Some(Format::Arrow)
        }
        _ => None,
    }
}

/// Returns the name of a format in messages, with its article.
pub fn named(format: Format) -> &'static str {
    match format {
        Format::Parquet => "a Parquet",
        Format::Arrow => "an Arrow IPC",
        Format::RNTuple | Format::TTree => "a ROOT",
    }
}

/// Returns the format of tables that the name of a file means: `.parquet`, `.parq`, `.pq`, or `.arrow`, `.feather`,
/// `.ipc`, `.arrows`. The query of a URL does not count.
pub fn format_of_name(location: &Path) -> Option<Format> {
    match ending(location)?.as_str() {
        "parquet" | "parq" | "pq" => Some(Format::Parquet),
        "arrow" | "arrows" | "feather" | "ipc" => Some(Format::Arrow),
        _ => None,
    }
}

/// Returns the format that the name of a file means, with its article, if it is one that nyssa does not write.
pub fn other_format_of_name(location: &Path) -> Option<&'static str> {
    Some(match ending(location)?.as_str() {
        "csv" | "tsv" => "a CSV",
        "txt" | "md" => "a text",
        "json" | "jsonl" | "ndjson" => "a JSON",
        "npy" | "npz" => "a NumPy",
        "h5" | "hdf5" | "hdf" => "an HDF5",
        "pkl" | "pickle" => "a pickle",
        "xls" | "xlsx" => "an Excel",
        "db" | "sqlite" | "duckdb" => "a database",
        "arrows" => "an Arrow stream",
        "avro" => "an Avro",
        "orc" => "an ORC",
        "gz" | "bz2" | "xz" | "zst" | "zip" | "tar" | "tgz" => "a compressed",
        "png" | "svg" | "pdf" | "html" => "a picture or document",
        _ => return None,
    })
}

/// Returns the ending of the name of a file, in small letters. The query of a URL does not count.
pub fn ending(location: &Path) -> Option<String> {
    let text = location.to_string_lossy();
    let path = match nyssa_io::is_url(location) {
        true => text.split(['?', '#']).next().unwrap_or_default(),
        false => &text,
    };
    Some(Path::new(path).extension()?.to_str()?.to_ascii_lowercase())
}
