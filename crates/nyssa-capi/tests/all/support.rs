//! Helpers of the tests.

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use nyssa_capi::*;

/// Returns a file of the committed test data.
pub fn data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rntuple");
    folder.join(name).to_str().unwrap().to_owned()
}

/// Returns a text for C.
pub fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// Returns the folder of the header.
pub fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// Runs a call and returns its status and the message of its error.
pub fn said(call: impl FnOnce(*mut *mut nyssa_error) -> nyssa_status) -> (nyssa_status, String) {
    let mut error = null_mut();
    let status = call(&mut error);
    // SAFETY: the error is null or was just made, and is freed once.
    unsafe {
        assert_eq!(nyssa_error_status(error), status);
        let message = CStr::from_ptr(nyssa_error_message(error)).to_str().unwrap().to_owned();
        nyssa_error_free(error);
        (status, message)
    }
}

/// Runs a call that must work.
#[track_caller]
pub fn works(call: impl FnOnce(*mut *mut nyssa_error) -> nyssa_status) {
    assert_eq!(said(call), (NYSSA_OK, String::new()));
}

/// Runs a call that gives a text.
#[track_caller]
pub fn text(call: impl FnOnce(*mut *mut c_char, *mut *mut nyssa_error) -> nyssa_status) -> String {
    let mut text = null_mut();
    works(|error| call(&mut text, error));
    // SAFETY: the call gave the text, which is freed once.
    unsafe {
        let owned = CStr::from_ptr(text).to_str().unwrap().to_owned();
        nyssa_text_free(text);
        owned
    }
}

/// Begins an RNTuple "Events" with a field `x` of type `float`. The writer has to be closed.
pub fn begun(folder: &Path) -> (*mut nyssa_writer, *mut nyssa_table) {
    let path = c(folder.join("out.root").to_str().unwrap());
    let (name, definitions) = (c("Events"), c(r#"{"fields": {"x": "float"}}"#));
    let (mut writer, mut table) = (null_mut(), null_mut());
    // SAFETY: the texts live, and the places are places.
    unsafe {
        works(|error| nyssa_create(path.as_ptr(), null(), null(), &mut writer, error));
        works(|error| {
            let (name, definitions) = (name.as_ptr(), definitions.as_ptr());
            nyssa_writer_table(writer, name, null(), definitions, null(), &mut table, error)
        });
    }
    (writer, table)
}

/// Opens a dataset.
pub fn open(path: &str) -> *mut nyssa_dataset {
    let (path, mut dataset) = (c(path), null_mut());
    // SAFETY: the text lives, and the places are places.
    works(|error| unsafe {
        nyssa_open(path.as_ptr(), std::ptr::null(), std::ptr::null(), &mut dataset, error)
    });
    dataset
}
