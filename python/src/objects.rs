//! Makes new objects, such as histograms, of what Python gives: the class and the members that are not zero.

use nyssa_root::streamer::{Draft, Target};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Makes the object of a pair of class and dict of members. Values are numbers, `str`, arrays of `float64` or `int64`,
/// objects as such pairs, lists of such pairs for collections, and a list of `str` for the options of the items.
pub(crate) fn draft(pair: &Bound<'_, PyAny>) -> PyResult<Draft> {
    let (class, members): (String, Bound<'_, PyDict>) = pair.extract()?;
    members.iter().try_fold(Draft::new(&class), |draft, (name, value)| {
        let name: String = name.extract()?;
        if value.is_instance_of::<PyBool>() {
            Ok(draft.int(name, value.extract::<bool>()?.into()))
        } else if value.is_instance_of::<PyInt>() {
            Ok(draft.int(name, value.extract()?))
        } else if value.is_instance_of::<PyFloat>() {
            Ok(draft.float(name, value.extract()?))
        } else if value.is_instance_of::<PyString>() {
            Ok(draft.text(name, value.extract()?))
        } else if value.is_instance_of::<PyTuple>() {
            Ok(draft.object(name, self::draft(&value)?))
        } else if let Ok(list) = value.cast::<PyList>() {
            if let Ok(options) = list.extract::<Vec<String>>()
                && !options.is_empty()
            {
                return Ok(draft.options(options));
            }
            let items = list.iter().map(|item| self::draft(&item).map(Target::New));
            Ok(draft.items(name, items.collect::<PyResult<_>>()?))
        } else if let Ok(numbers) = PyBuffer::<f64>::get(&value) {
            Ok(draft.floats(name, numbers.to_vec(value.py())?))
        } else if let Ok(numbers) = PyBuffer::<i64>::get(&value) {
            Ok(draft.ints(name, numbers.to_vec(value.py())?))
        } else {
            Err(PyTypeError::new_err(format!("{name} of {class} has a value of another type")))
        }
    })
}
