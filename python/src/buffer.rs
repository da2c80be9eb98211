//! Shows the memory of an Arrow array to Python through the buffer protocol, without a copy.

use std::ffi::{c_int, c_void};

use arrow_buffer::MutableBuffer;
use nyssa_root::arena::OwnBytes;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Bytes, which live as long as any view of them.
#[pyclass(module = "nyssa._core")]
pub struct Buffer(Memory);

/// The memory of a buffer, and who may write to it.
enum Memory {
    /// Others may hold it, too: nobody writes to it.
    Shared(arrow_buffer::Buffer),
    /// Only Python holds it. It is one allocation.
    Own(MutableBuffer),
    /// Only Python holds it. It is a part of an allocation.
    Part(OwnBytes),
}

impl Buffer {
    /// Shows `buffer` to Python, which cannot write to it.
    pub fn new(buffer: arrow_buffer::Buffer) -> Self {
        Self(Memory::Shared(buffer))
    }

    /// Shows `buffer` to Python, which can write to it if nobody else holds it.
    pub fn writable(buffer: arrow_buffer::Buffer) -> Self {
        Self(match buffer.into_mutable().map_err(OwnBytes::take) {
            Ok(own) => Memory::Own(own),
            Err(Ok(part)) => Memory::Part(part),
            Err(Err(shared)) => Memory::Shared(shared),
        })
    }

    fn bytes(&self) -> &[u8] {
        match &self.0 {
            Memory::Shared(bytes) => bytes.as_slice(),
            Memory::Own(bytes) => bytes.as_slice(),
            Memory::Part(bytes) => bytes.as_slice(),
        }
    }
}

#[pymethods]
impl Buffer {
    /// Returns the size in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes().len()
    }

    /// Returns the address of the first byte. It is the same for arrays that share this memory.
    #[getter]
    fn address(&self) -> usize {
        self.bytes().as_ptr() as usize
    }

    fn __len__(&self) -> usize {
        self.nbytes()
    }

    fn __repr__(&self) -> String {
        format!("<nyssa._core.Buffer of {} bytes>", self.nbytes())
    }

    /// # Safety
    /// Called by Python only, with a `view` it owns.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let (data, len, read_only) = {
            let mut buffer = slf.try_borrow_mut()?;
            match &mut buffer.0 {
                Memory::Shared(bytes) => (bytes.as_ptr().cast_mut(), bytes.len(), 1),
                Memory::Own(bytes) => (bytes.as_mut_ptr(), bytes.len(), 0),
                Memory::Part(bytes) => {
                    let bytes = bytes.as_slice_mut();
                    (bytes.as_mut_ptr(), bytes.len(), 0)
                }
            }
        };
        let len = ffi::Py_ssize_t::try_from(len)
            .map_err(|_| PyBufferError::new_err("buffer is too large"))?;
        let data = data.cast::<c_void>();
        // SAFETY: `view` is Python's; `data` holds `len` bytes that do not move and are not freed
        // while `slf`, of which PyBuffer_FillInfo takes a reference, is alive, because no method
        // changes the memory. The last but one argument makes views of shared bytes read-only, so
        // that these are never written. Other bytes belong to this buffer alone, and nothing in
        // Rust reads them.
        let status =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), data, len, read_only, flags) };
        if status == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
