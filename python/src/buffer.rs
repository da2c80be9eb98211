//! Shows the memory of an Arrow array to Python through the buffer protocol, without a copy.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Read-only bytes, which live as long as any view of them.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Buffer(arrow_buffer::Buffer);

impl Buffer {
    /// Shows `buffer` to Python.
    pub fn new(buffer: arrow_buffer::Buffer) -> Self {
        Self(buffer)
    }
}

#[pymethods]
impl Buffer {
    /// Returns the size in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.len()
    }

    /// Returns the address of the first byte. It is the same for arrays that share this memory.
    #[getter]
    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<nyssa._core.Buffer of {} bytes>", self.0.len())
    }

    /// # Safety
    /// Called by Python only, with a `view` it owns.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let bytes = slf.get().0.as_slice();
        let len = ffi::Py_ssize_t::try_from(bytes.len())
            .map_err(|_| PyBufferError::new_err("buffer is too large"))?;
        let data = bytes.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: `view` is Python's; `data` holds `len` bytes that do not move and are not freed
        // while `slf`, of which PyBuffer_FillInfo takes a reference, is alive; the last but one
        // argument makes the view read-only, so the shared bytes are never written.
        let status = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), data, len, 1, flags) };
        if status == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
