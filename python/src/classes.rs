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
use nyssa_rntuple::schema::{Class, Classes, Definition};
use nyssa_root::Error;
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::StreamerList;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors;

/// The key of the entry that says where the streamer infos of a class are.
const STREAMED: &str = ":streamed";

/// Returns the definitions in `given`.
pub fn classes(given: &Bound<'_, PyDict>) -> PyResult<Classes> {
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
pub fn streamer_infos(given: &Bound<'_, PyDict>) -> PyResult<StreamerList> {
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
    let refuse =
        |message: String| Err(errors::to_python(entries.py(), &Error::invalid_argument(message)));
    for (key, kind) in [(":enum", true), (":items", false)] {
        let Some(of) = entries.get_item(key)? else { continue };
        if entries.len() > 1 {
            return refuse(format!("{name}: {key:?} must be the only entry"));
        }
        let of = of.extract()?;
        return Ok(if kind { Definition::Enum(of) } else { Definition::Collection(of) });
    }
    if entries.contains(STREAMED)? {
        if entries.len() > 1 {
            return refuse(format!("{name}: {STREAMED:?} must be the only entry"));
        }
        return Ok(Definition::Streamed);
    }
    let (mut bases, mut members) = (Vec::new(), Vec::new());
    let (mut version, mut checksum) = (Class::NO_VERSION, None);
    for (key, value) in entries.iter() {
        let key: String = key.extract()?;
        match key.as_str() {
            ":bases" => bases = value.extract()?,
            ":version" => version = value.extract()?,
            ":checksum" => checksum = Some(value.extract()?),
            other if other.starts_with(':') => {
                return refuse(format!(
                    "{name}: {other:?} is none of \":bases\", \":version\", \":checksum\", \
                     \":enum\", \":items\" and \":streamed\""
                ));
            }
            _ => members.push((key, value.extract()?)),
        }
    }
    Ok(Definition::Class { bases, members, version, checksum })
}
