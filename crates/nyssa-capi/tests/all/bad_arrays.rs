//! Arrays and schemas with null pointers and wrong counts are errors that name the column.

use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder, StringViewBuilder};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use nyssa_capi::*;

use crate::support::{begun, c, said};

/// An `ArrowArray`, as the interface defines it.
#[repr(C)]
struct RawArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut RawArray,
    dictionary: *mut RawArray,
    release: *const c_void,
    private_data: *mut c_void,
}

/// An `ArrowSchema`, as the interface defines it.
#[repr(C)]
struct RawSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut RawSchema,
    dictionary: *mut RawSchema,
    release: *const c_void,
    private_data: *mut c_void,
}

/// Returns columns of all layouts.
fn columns() -> StructArray {
    let list =
        ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), Some(vec![])]);
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        [Some(vec![Some(1), Some(2)]), Some(vec![Some(3), Some(4)])],
        2,
    );
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    map.append(true).unwrap();
    map.append(true).unwrap();
    let mut views = StringViewBuilder::new();
    views.append_value("a text of more than twelve bytes");
    views.append_value("b");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("number", Arc::new(Int32Array::from(vec![1, 2]))),
        ("optional", Arc::new(Int32Array::from(vec![Some(1), None]))),
        ("flag", Arc::new(BooleanArray::from(vec![true, false]))),
        ("text", Arc::new(StringArray::from(vec!["a", "b"]))),
        ("view", Arc::new(views.finish())),
        ("list", Arc::new(list)),
        ("fixed", Arc::new(fixed)),
        ("map", Arc::new(map.finish())),
        ("words", Arc::new(DictionaryArray::<Int8Type>::from_iter(["a", "b"]))),
    ];
    StructArray::try_from(columns).unwrap()
}

/// Runs `with` on a table of an unfinished file.
fn with_table(with: impl FnOnce(*const nyssa_writer, *const nyssa_table)) {
    let folder = tempfile::tempdir().unwrap();
    let (writer, table) = begun(folder.path());
    with(writer, table);
    nyssa_close(writer.cast());
}

/// Returns the error of filling with the columns after `damage`, which gets the array of a column and all of them.
fn refused(
    table: *const nyssa_table,
    column: &str,
    damage: impl FnOnce(&mut RawArray, *mut RawArray) + Copy,
) -> String {
    let columns = columns();
    let (mut array, schema) = to_ffi(&columns.to_data()).unwrap();
    let at = columns.fields().iter().position(|field| field.name() == column).unwrap();
    let whole: *mut RawArray = std::ptr::from_mut(&mut array).cast();
    // SAFETY: the array lives. What is damaged is repaired before it is released.
    unsafe {
        let child = *(*whole).children.add(at);
        let before = std::ptr::read(child);
        let before_of_whole = std::ptr::read(whole);
        damage(&mut *child, whole);
        // nyssa gets a copy that it cannot release.
        let mut given = std::ptr::read(whole);
        unsafe extern "C" fn nothing(array: *mut RawArray) {
            // SAFETY: users of the interface promise it.
            unsafe { (*array).release = null() };
        }
        if !given.release.is_null() {
            let release: unsafe extern "C" fn(*mut RawArray) = nothing;
            given.release = release as *const c_void;
        }
        let given: *mut FFI_ArrowArray = std::ptr::from_mut(&mut given).cast();
        let (status, message) = said(|error| nyssa_table_fill(table, given, &schema, error));
        assert_eq!(status, NYSSA_INVALID_ARGUMENT, "{column}: {message}");
        std::ptr::write(child, before);
        std::ptr::write(whole, before_of_whole);
        message
    }
}

#[test]
fn null_pointers_and_wrong_counts_of_arrays_are_named() {
    with_table(|_, table| {
        let says = |column: &str, damage: fn(&mut RawArray, *mut RawArray), why: &str| {
            let message = refused(table, column, damage);
            assert!(message.contains(why), "{column}: {message}");
        };
        for column in
            ["number", "optional", "flag", "text", "view", "list", "fixed", "map", "words"]
        {
            says(column, |array, _| array.buffers = null_mut(), "but the pointer to them is null");
            says(column, |array, _| array.n_buffers = -1, "buffers, not -1");
            says(column, |array, _| array.n_buffers = 0, "buffers, not 0");
            says(column, |array, _| array.length = -1, "a length of -1");
            says(column, |array, _| array.length = i64::MAX, "a length of 9223372036854775807");
            says(column, |array, _| array.offset = -2, "an offset of -2");
            says(column, |array, _| array.length = 1, "has 2 values of");
            says(column, |array, _| array.null_count = 9, "9 missing values");
            says(column, |array, _| array.release = null(), "is released");
        }
        for column in ["number", "text", "view", "list", "map", "words"] {
            let second = |array: &mut RawArray, _: *mut RawArray| {
                // SAFETY: the array has two buffers, whose list belongs to this test.
                unsafe { *array.buffers.add(1) = null() }
            };
            says(column, second, "has a null pointer as its buffer 1");
        }
        let last = |array: &mut RawArray, _: *mut RawArray| {
            // SAFETY: the array has four buffers.
            unsafe { *array.buffers.add(3) = null() }
        };
        says("view", last, "has a null pointer as its buffer 3");
        for column in ["list", "fixed", "map"] {
            says(column, |array, _| array.children = null_mut(), "a null pointer as its child 0");
            says(column, |array, _| array.n_children = -3, "1 children, not -3");
            let no_child = |array: &mut RawArray, _: *mut RawArray| {
                array.children = Box::leak(Box::new(null_mut()))
            };
            says(column, no_child, "a null pointer as its child 0");
        }
        says("words", |array, _| array.dictionary = null_mut(), "do not agree about a dictionary");
        let no_columns = |_: &mut RawArray, whole: *mut RawArray| {
            // SAFETY: the array lives.
            unsafe { (*whole).children = null_mut() }
        };
        says("number", no_columns, "a null pointer as its child 0, \"number\"");
        let negative = |_: &mut RawArray, whole: *mut RawArray| {
            // SAFETY: the array lives.
            unsafe { (*whole).n_children = -1 }
        };
        says("number", negative, "the array has -1 columns");
    });
}

#[test]
fn null_pointers_and_wrong_counts_of_schemas_are_named() {
    let wrong: [(&str, &str, usize, &str); 10] = [
        ("", "no format", 0, "the schema of \"x\" has no format: the pointer is null"),
        (
            "+l",
            "list",
            0,
            "the schema of \"x\" of format \"+l\" cannot have children of formats []",
        ),
        ("+w:2", "fixed", 0, "cannot have children of formats []"),
        ("+w:-2", "negative", 1, "has a size below zero"),
        ("w:-2", "negative", 0, "has a size below zero"),
        ("+m", "map", 1, "of format \"+m\" cannot have children of formats [\"i\"]"),
        ("+r", "run ends", 1, "of format \"+r\" cannot have children"),
        ("+s", "null child", 99, "has a null pointer as its child 0"),
        ("+s", "no children", 98, "but the pointer to them is null"),
        ("i", "negative", 97, "has -1 children"),
    ];
    with_table(|writer, _| {
        for (format, what, children, why) in wrong {
            let format = CString::new(format).unwrap();
            let schema = |format: *const c_char, name: &'static std::ffi::CStr| RawSchema {
                format,
                name: name.as_ptr(),
                metadata: null(),
                flags: 0,
                n_children: 0,
                children: null_mut(),
                dictionary: null_mut(),
                release: std::ptr::without_provenance(1),
                private_data: null_mut(),
            };
            let mut item = schema(c"i".as_ptr(), c"item");
            let mut items = [&raw mut item];
            let mut nulls = [null_mut()];
            let format = if format.is_empty() { null() } else { format.as_ptr() };
            let mut column = schema(format, c"x");
            match children {
                99 => (column.n_children, column.children) = (1, nulls.as_mut_ptr()),
                98 => column.n_children = 1,
                97 => column.n_children = -1,
                0 => {}
                _ => (column.n_children, column.children) = (1, items.as_mut_ptr()),
            }
            let mut columns = [&raw mut column];
            let mut whole = schema(c"+s".as_ptr(), c"");
            (whole.n_children, whole.children) = (1, columns.as_mut_ptr());
            let (name, mut table) = (c("Other"), null_mut());
            let schema: *const FFI_ArrowSchema = (&raw const whole).cast();
            // SAFETY: the schema lives, and its pointers are null or schemas.
            let (status, message) = said(|error| unsafe {
                nyssa_writer_table(writer, name.as_ptr(), schema, null(), null(), &mut table, error)
            });
            assert_eq!(status, NYSSA_INVALID_ARGUMENT, "{what}: {message}");
            assert!(message.contains(why), "{what}: {message}");
        }
    });
}

#[test]
fn a_schema_that_contains_itself_is_an_error() {
    with_table(|writer, _| {
        let mut whole = RawSchema {
            format: c"+s".as_ptr(),
            name: c"x".as_ptr(),
            metadata: null(),
            flags: 0,
            n_children: 1,
            children: null_mut(),
            dictionary: null_mut(),
            release: std::ptr::without_provenance(1),
            private_data: null_mut(),
        };
        let mut children = [&raw mut whole];
        whole.children = children.as_mut_ptr();
        let (name, mut table) = (c("Other"), null_mut());
        let schema: *const FFI_ArrowSchema = (&raw const whole).cast();
        // SAFETY: the schema lives, and its pointers are null or schemas.
        let (status, message) = said(|error| unsafe {
            nyssa_writer_table(writer, name.as_ptr(), schema, null(), null(), &mut table, error)
        });
        assert_eq!(status, NYSSA_INVALID_ARGUMENT);
        assert!(message.contains("is nested deeper than 128 types"), "{message}");
    });
}
