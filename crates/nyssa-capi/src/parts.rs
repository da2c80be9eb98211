//! The parts of arrays and schemas of the Arrow C data interface as the caller gave them. A pointer in them may be null, and
//! a count negative: the types of `arrow` show neither, and panic.

use std::ffi::{CStr, c_char, c_void};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use nyssa_root::{Error, Result};

/// How deep types may be nested. It ends schemas that contain themselves.
const MAX_DEPTH: usize = 128;

/// An `ArrowArray`, as the interface defines it.
#[repr(C)]
pub(crate) struct ArrayParts {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    buffers: *const *const c_void,
    children: *const *const ArrayParts,
    dictionary: *const ArrayParts,
    release: *const c_void,
    private_data: *const c_void,
}

/// An `ArrowSchema`, as the interface defines it.
#[repr(C)]
struct SchemaParts {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *const *const SchemaParts,
    dictionary: *const SchemaParts,
    release: *const c_void,
    private_data: *const c_void,
}

impl ArrayParts {
    /// Returns the parts of an array.
    pub fn of(array: &FFI_ArrowArray) -> &Self {
        // SAFETY: both types are the struct of the interface, whose layout C fixes, and nothing is written.
        unsafe { &*std::ptr::from_ref(array).cast() }
    }

    /// Returns whether there is a list of the buffers.
    pub fn has_buffers(&self) -> bool {
        !self.buffers.is_null()
    }

    /// Returns a buffer. `None` if it, or the list of the buffers, is null, and from `n_buffers` on.
    pub fn buffer(&self, index: usize) -> Option<*const c_void> {
        if !self.has_buffers() || !is_below(index, self.n_buffers) {
            return None;
        }
        // SAFETY: the list is not null, so that it has `n_buffers` pointers, as the interface says.
        let buffer = unsafe { self.buffers.add(index).read_unaligned() };
        (!buffer.is_null()).then_some(buffer)
    }

    /// Returns a child. `None` if it, or the list of the children, is null, and from `n_children` on.
    pub fn child(&self, index: usize) -> Option<&Self> {
        if self.children.is_null() || !is_below(index, self.n_children) {
            return None;
        }
        // SAFETY: the list is not null, so that it has `n_children` pointers to arrays, as the interface says.
        unsafe { self.children.add(index).read_unaligned().as_ref() }
    }

    /// Returns the dictionary, if there is one.
    pub fn dictionary(&self) -> Option<&Self> {
        // SAFETY: it is null or an array, as the interface says.
        unsafe { self.dictionary.as_ref() }
    }

    /// Returns whether the array is released, or was moved to another place.
    pub fn is_released(&self) -> bool {
        self.release.is_null()
    }
}

/// Checks that a schema has what its type needs, and that texts are UTF-8.
///
/// # Errors
/// `InvalidArgument` with the first part that is missing.
///
/// # Safety
/// Pointers in the schema that are not null are as the interface says.
pub(crate) unsafe fn check_schema(schema: &FFI_ArrowSchema) -> Result<()> {
    // SAFETY: both types are the struct of the interface, whose layout C fixes, and nothing is written.
    let parts: &SchemaParts = unsafe { &*std::ptr::from_ref(schema).cast() };
    // SAFETY: the caller promises it.
    unsafe { parts.check("the schema", MAX_DEPTH) }.map(drop)
}

impl SchemaParts {
    /// Checks a schema and the schemas below it, down to `depth`. Returns its format, and the number of its children.
    ///
    /// # Safety
    /// Pointers in the schema that are not null are as the interface says.
    unsafe fn check(&self, what: &str, depth: usize) -> Result<(&str, usize)> {
        let wrong = |why: &str| Err(Error::invalid_argument(format!("{what} {why}")));
        if self.release.is_null() {
            return wrong("is released");
        }
        if depth == 0 {
            return wrong(&format!("is nested deeper than {MAX_DEPTH} types"));
        }
        // SAFETY: the caller promises it.
        let (format, name) = unsafe { (text_of(self.format), text_of(self.name)) };
        let format = match format {
            None => return wrong("has no format: the pointer is null"),
            Some(Err(())) => return wrong("has a format that is not UTF-8"),
            Some(Ok(format)) => format,
        };
        if name == Some(Err(())) {
            return wrong("has a name that is not UTF-8");
        }
        let Ok(count) = usize::try_from(self.n_children) else {
            return wrong(&format!("has {} children", self.n_children));
        };
        if count > 0 && self.children.is_null() {
            return wrong(&format!("has {count} children, but the pointer to them is null"));
        }
        let mut formats = Vec::new();
        for index in 0..count {
            // SAFETY: the list is not null, so the caller promises that it has so many pointers to schemas.
            let child = unsafe { self.children.add(index).read_unaligned().as_ref() };
            let Some(child) = child else {
                return wrong(&format!("has a null pointer as its child {index}"));
            };
            // SAFETY: the caller promises it.
            let what = match unsafe { text_of(child.name) } {
                Some(Ok(name)) => format!("the schema of {name:?}"),
                _ => format!("child {index} of {what}"),
            };
            // SAFETY: as above.
            formats.push(unsafe { child.check(&what, depth - 1) }?);
        }
        let is_index =
            |format: &str| matches!(format, "c" | "C" | "s" | "S" | "i" | "I" | "l" | "L");
        let is_right = match (format, &formats[..]) {
            ("+m", [("+s", 2)]) => true,
            ("+m", _) => false,
            ("+r", [(ends, _), _]) => matches!(*ends, "s" | "i" | "l"),
            ("+r", _) => false,
            (lists, items)
                if lists.starts_with('+') && lists != "+s" && !lists.starts_with("+u") =>
            {
                items.len() == 1
            }
            _ => true,
        };
        if !is_right {
            let formats: Vec<&str> = formats.iter().map(|(format, _)| *format).collect();
            return wrong(&format!(
                "of format {format:?} cannot have children of formats {formats:?}"
            ));
        }
        let size = format.strip_prefix('+').unwrap_or(format).strip_prefix("w:");
        if size.is_some_and(|size| size.starts_with('-')) {
            return wrong(&format!("of format {format:?} has a size below zero"));
        }
        // SAFETY: it is null or a schema, as the caller promises.
        if let Some(dictionary) = unsafe { self.dictionary.as_ref() } {
            if !is_index(format) {
                return wrong(&format!(
                    "of format {format:?} has a dictionary, whose indices are integers"
                ));
            }
            // SAFETY: as above.
            unsafe { dictionary.check(&format!("the dictionary of {what}"), depth - 1) }?;
        }
        Ok((format, count))
    }
}

/// Returns whether an index is below a count of the caller, which may be negative.
fn is_below(index: usize, count: i64) -> bool {
    usize::try_from(count).is_ok_and(|count| index < count)
}

/// Returns a text; `None` for null, and an error for one that is not UTF-8.
///
/// # Safety
/// `text` is null, or a text that ends with a zero and lives for `'a`.
unsafe fn text_of<'a>(text: *const c_char) -> Option<std::result::Result<&'a str, ()>> {
    // SAFETY: the caller promises it.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().map_err(drop))
}
