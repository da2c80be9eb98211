//! Reads definitions of classes, which come from Python as a dict.
//!
//! | entry | meaning |
//! |---|---|
//! | `"Jet": {"pt": "float", ":bases": ["Base"], ":version": 2, ":checksum": 7}` | a class |
//! | `"Color": {":enum": "short"}` | an enum |
//! | `"Hits": {":items": "float"}` | a class that ROOT knows as a collection |
//! | `"Hit": {":streamed": "file.root"}` | a class whose objects are bytes, with its streamer infos |

use std::path::PathBuf;

use nyssa_rntuple::format::{CONTENT_STREAMER_INFO, ExtraType};
use nyssa_rntuple::schema::{Classes, Definition};
use nyssa_root::definitions::Entry;
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::StreamerList;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors;

const STREAMED: &str = Definition::STREAMED;

/// Returns the definitions in `given`.
pub(crate) fn classes(given: &Bound<'_, PyDict>) -> PyResult<Classes> {
    let mut classes = Classes::default();
    for (name, entries) in given.iter() {
        let name: String = name.extract()?;
        let definition = definition(&name, entries.cast()?)?;
        classes.define(&name, definition).map_err(|error| errors::to_python(given.py(), &error))?;
    }
    Ok(classes)
}

/// Returns the streamer infos that the definitions in `given` name. They name a file by its path, or have
/// a list as `TBufferFile::WriteObject` streams it.
pub(crate) fn streamer_infos(given: &Bound<'_, PyDict>) -> PyResult<StreamerList> {
    let mut all = StreamerList::default();
    for (_, entries) in given.iter() {
        let Some(source) = entries.cast::<PyDict>()?.get_item(STREAMED)? else { continue };
        let list = match source.cast::<PyBytes>() {
            Ok(bytes) => given_list(bytes.as_bytes()),
            Err(_) => list_of(source.extract()?),
        };
        all.merge(&list.map_err(|error| errors::to_python(given.py(), &error))?);
    }
    Ok(all)
}

fn given_list(bytes: &[u8]) -> nyssa_root::Result<StreamerList> {
    let content_id = CONTENT_STREAMER_INFO;
    let extra = ExtraType { content_id, content: bytes.to_vec(), ..ExtraType::default() };
    StreamerList::parse(extra.streamer_list()?.unwrap_or_default(), ExtraType::LIST_OFFSET)
}

fn list_of(path: PathBuf) -> nyssa_root::Result<StreamerList> {
    RootFile::open(nyssa_io::open(path)?)?.streamer_list()
}

fn definition(name: &str, entries: &Bound<'_, PyDict>) -> PyResult<Definition> {
    let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key: String = key.extract()?;
        let value = match key.as_str() {
            STREAMED => Entry::Other,
            ":bases" => Entry::Texts(value.extract()?),
            ":version" | ":checksum" => Entry::Number(value.extract()?),
            ":enum" | ":items" => Entry::Text(value.extract()?),
            other if other.starts_with(':') => Entry::Other,
            _ => Entry::Text(value.extract()?),
        };
        Ok((key, value))
    };
    let given = entries.iter().map(entry).collect::<PyResult<Vec<_>>>()?;
    Definition::of_entries(name, given).map_err(|error| errors::to_python(entries.py(), &error))
}
