//! `nyssa._core`: the thin door between Python and the Rust core.

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
