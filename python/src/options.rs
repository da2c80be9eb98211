//! Options that come from Python as a dict; what is missing or `None` keeps its default.

use std::str::FromStr;

use nyssa::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// The option `name`, if it is given.
pub fn get<'py, T: FromPyObjectOwned<'py>>(
    options: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    match options.get_item(name)? {
        Some(value) if !value.is_none() => value.extract().map(Some).map_err(Into::into),
        _ => Ok(None),
    }
}

/// The option `name`, given as text or a number, in a type of the core.
pub fn parse<T: FromStr<Err = Error>>(
    options: &Bound<'_, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    match options.get_item(name)? {
        Some(value) if !value.is_none() => {
            let text = value.str()?.to_string();
            text.parse().map(Some).map_err(|error| errors::to_python(options.py(), &error))
        }
        _ => Ok(None),
    }
}

/// A number of bytes, at most what memory can hold.
pub fn memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
