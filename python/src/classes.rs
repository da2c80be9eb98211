//! Definitions of classes that come from Python as a dict.
//!
//! | entry | meaning |
//! |---|---|
//! | `"Jet": {"pt": "float", ":bases": ["Base"], ":version": 2, ":checksum": 7}` | a class |
//! | `"Color": {":enum": "short"}` | an enum |
//! | `"Hits": {":items": "float"}` | a class that ROOT knows as a collection |

use nyssa::Error;
use nyssa::schema::{Class, Classes, Definition};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// The definitions in `given`.
pub fn classes(given: &Bound<'_, PyDict>) -> PyResult<Classes> {
    let mut classes = Classes::default();
    for (name, entries) in given.iter() {
        let name: String = name.extract()?;
        let definition = definition(&name, entries.cast()?)?;
        classes.define(&name, definition).map_err(|error| errors::to_python(given.py(), &error))?;
    }
    Ok(classes)
}

fn definition(name: &str, entries: &Bound<'_, PyDict>) -> PyResult<Definition> {
    let refuse =
        |message: String| Err(errors::to_python(entries.py(), &Error::invalid_argument(message)));
    for (key, kind) in [(":enum", true), (":items", false)] {
        let Some(of) = entries.get_item(key)? else { continue };
        if entries.len() > 1 {
            return refuse(format!("{name}: beside {key:?} nothing else can stand"));
        }
        let of = of.extract()?;
        return Ok(if kind { Definition::Enum(of) } else { Definition::Collection(of) });
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
                     \":enum\" and \":items\""
                ));
            }
            _ => members.push((key, value.extract()?)),
        }
    }
    Ok(Definition::Class { bases, members, version, checksum })
}
