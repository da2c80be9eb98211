//! Wrong calls are errors that say what is wrong.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use nyssa_capi::*;

use crate::support::{begun, c, data, open, said, text, works};

#[test]
fn null_is_an_error() {
    // SAFETY: null is allowed everywhere.
    unsafe {
        let (mut dataset, mut entries) = (null_mut(), 0);
        let opened = said(|error| nyssa_open(null(), null(), null(), &mut dataset, error));
        assert_eq!(opened, (NYSSA_INVALID_ARGUMENT, "the URL is null".to_owned()));
        let path = c(&data("plain.root"));
        let opened = said(|error| nyssa_open(path.as_ptr(), null(), null(), null_mut(), error));
        assert_eq!(opened, (NYSSA_INVALID_ARGUMENT, "the place of the result is null".to_owned()));
        let counted = said(|error| nyssa_dataset_entries(null(), &mut entries, error));
        assert_eq!(counted, (NYSSA_INVALID_ARGUMENT, "the dataset is null".to_owned()));
        let filled = said(|error| nyssa_table_fill(null(), null_mut(), null(), error));
        assert_eq!(filled, (NYSSA_INVALID_ARGUMENT, "the array is null".to_owned()));
        // Without a place for the error, the status says it.
        assert_eq!(nyssa_dataset_entries(null(), &mut entries, null_mut()), NYSSA_INVALID_ARGUMENT);
        nyssa_close(null());
        nyssa_text_free(null_mut());
        nyssa_error_free(null_mut());
    }
}

#[test]
fn a_closed_handle_and_one_of_another_type_are_errors() {
    let dataset = open(&data("plain.root"));
    let mut entries = 0;
    // SAFETY: handles are never followed.
    unsafe {
        works(|error| nyssa_dataset_entries(dataset, &mut entries, error));
        assert_eq!(entries, 40);
        let committed = said(|error| nyssa_writer_commit(dataset.cast(), null_mut(), error));
        let message = "the handle is a dataset, not a writer".to_owned();
        assert_eq!(committed, (NYSSA_INVALID_ARGUMENT, message));
        nyssa_close(dataset.cast::<c_void>());
        nyssa_close(dataset.cast::<c_void>());
        let counted = said(|error| nyssa_dataset_entries(dataset, &mut entries, error));
        let message = "the dataset is closed, or was never open: make another".to_owned();
        assert_eq!(counted, (NYSSA_INVALID_ARGUMENT, message));
        let made_up: *const nyssa_dataset = std::ptr::without_provenance(usize::MAX);
        let counted = said(|error| nyssa_dataset_entries(made_up, &mut entries, error));
        assert_eq!(counted.0, NYSSA_INVALID_ARGUMENT);
    }
}

#[test]
fn errors_have_kinds_places_and_suggestions() {
    let dataset = open(&data("codec-zstd.root"));
    let name = c("texd");
    let mut error = null_mut();
    let mut schema = arrow_array::ffi::FFI_ArrowSchema::empty();
    // SAFETY: the texts live, and the places are places.
    unsafe {
        let status = nyssa_dataset_schema(dataset, &name.as_ptr(), 1, &mut schema, &mut error);
        assert_eq!(status, NYSSA_NOT_FOUND);
        let details = std::ffi::CStr::from_ptr(nyssa_error_details(error)).to_str().unwrap();
        assert!(details.contains("\"suggestions\":[\"text\"]"), "{details}");
        nyssa_error_free(error);
        let missing = c("missing.root");
        let mut none = null_mut();
        let opened = said(|error| nyssa_open(missing.as_ptr(), null(), null(), &mut none, error));
        assert_eq!(opened.0, NYSSA_NOT_FOUND);
        let wrong = c("strings=latin");
        let path = c(&data("plain.root"));
        let opened =
            said(|error| nyssa_open(path.as_ptr(), wrong.as_ptr(), null(), &mut none, error));
        assert_eq!(opened.0, NYSSA_INVALID_ARGUMENT);
        for (options, message) in [
            ("entries=0", "a batch has at least one entry"),
            ("memory=0", "is not a size"),
            ("entries=1; entries=2", "the option entries is given 2 times"),
        ] {
            let (options, mut stream) = (c(options), FFI_ArrowArrayStream::empty());
            let begun = said(|error| {
                let options = options.as_ptr();
                nyssa_dataset_stream(dataset, null(), 0, 0, 1, options, null(), &mut stream, error)
            });
            assert_eq!(begun.0, NYSSA_INVALID_ARGUMENT);
            assert!(begun.1.contains(message), "{}", begun.1);
        }
        nyssa_close(dataset.cast());
    }
}

#[test]
fn a_truncated_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(data("codec-zstd.root")).unwrap();
    for length in [0, 10, 60, whole.len() / 2, whole.len() - 1] {
        let path = folder.path().join("cut.root");
        std::fs::write(&path, &whole[..length]).unwrap();
        let path = c(path.to_str().unwrap());
        // SAFETY: the text lives, and the places are places.
        unsafe {
            let mut dataset = null_mut();
            let opened =
                said(|error| nyssa_open(path.as_ptr(), null(), null(), &mut dataset, error));
            assert_ne!(opened.0, NYSSA_OK, "{length}");
            assert_ne!(opened.0, NYSSA_INTERNAL, "{length}");
            assert!(dataset.is_null());
        }
    }
}

#[test]
fn work_can_be_cancelled_and_observed() {
    unsafe extern "C" fn count(user: *mut c_void, _: u64, _: u64) -> i32 {
        // SAFETY: the user is the counter below.
        unsafe { &*user.cast::<std::sync::atomic::AtomicU64>() }
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        0
    }
    let calls = std::sync::atomic::AtomicU64::new(0);
    let user = std::ptr::from_ref(&calls).cast_mut().cast();
    let path = c(&data("codec-zstd.root"));
    // SAFETY: the counter lives as long as the context.
    unsafe {
        let mut context = null_mut();
        works(|error| nyssa_context_new(2, Some(count), user, &mut context, error));
        let report = text(|report, error| nyssa_verify(path.as_ptr(), context, report, error));
        assert!(report.contains("\"problems\":[]"), "{report}");
        assert!(calls.load(std::sync::atomic::Ordering::Relaxed) > 0);
        works(|error| nyssa_context_cancel(context, true, error));
        let mut report = null_mut();
        let ended = said(|error| nyssa_verify(path.as_ptr(), context, &mut report, error));
        assert_eq!(ended.0, NYSSA_CANCELLED);
        works(|error| nyssa_context_cancel(context, false, error));
        text(|report, error| nyssa_verify(path.as_ptr(), context, report, error));
        nyssa_close(context.cast());
        let many = said(|error| nyssa_context_new(5000, None, null_mut(), &mut context, error));
        assert_eq!(many.0, NYSSA_INVALID_ARGUMENT);
    }
}

#[test]
fn a_wrong_array_is_an_error_and_is_released() {
    use arrow_array::{Array, Int32Array, StructArray};
    let folder = tempfile::tempdir().unwrap();
    let (writer, table) = begun(folder.path());
    // SAFETY: the writer, the table, the array and the schema live.
    unsafe {
        let numbers: arrow_array::ArrayRef = std::sync::Arc::new(Int32Array::from(vec![1, 2]));
        let record = StructArray::try_from(vec![("y", numbers)]).unwrap();
        let (mut array, schema) = arrow_array::ffi::to_ffi(&record.to_data()).unwrap();
        let filled = said(|error| nyssa_table_fill(table, &mut array, &schema, error));
        assert_eq!(filled.0, NYSSA_INVALID_ARGUMENT);
        assert!(filled.1.contains("missing ['x'], unknown ['y']"), "{}", filled.1);
        assert!(array.is_released());
        let again = said(|error| nyssa_table_fill(table, &mut array, &schema, error));
        assert!(again.1.starts_with("the array is released, or was taken by an earlier"));
        nyssa_close(writer.cast());
        let ended = said(|error| nyssa_table_flush(table, error));
        assert!(ended.1.starts_with("the table is committed, or its writer is closed"));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left");
}

#[test]
fn wrong_options_of_tables_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = c(folder.path().join("out.root").to_str().unwrap());
    let mut writer = null_mut();
    // SAFETY: the texts live, and the places are places.
    unsafe {
        works(|error| nyssa_create(path.as_ptr(), null(), null(), &mut writer, error));
        let (name, definitions) = (c("T"), c(r#"{"fields": {"n": "int"}}"#));
        for (options, message) in [
            ("format=ttree; fill_contexts=0", "the number of fill contexts must be at least 1"),
            ("fill_contexts=0", "the number of fill contexts must be at least 1"),
            ("format=ttree; format=rntuple", "the option format is given 2 times"),
            ("format=ttree; aliases=a=n; aliases=a=2*n", "the alias \"a\" is given twice"),
            (r#"{"format": "ttree", "title": "a\u0000b"}"#, "the title \"a\\0b\" has a zero byte"),
            (
                r#"{"format": "ttree", "aliases": "a=n\u0000"}"#,
                "the alias \"n\\0\" has a zero byte",
            ),
            (
                r#"{"format": "ttree", "user_info": "a\u0000=n"}"#,
                "the user info \"a\\0\" has a zero",
            ),
            (
                r#"{"format": "ttree", "branch_options": "n:title=\u0000"}"#,
                "title of a branch \"\\0\"",
            ),
            ("format=ttree; branch_options=n:title=a,title=b", "has the option title twice"),
        ] {
            let (options, mut table) = (c(options), null_mut());
            let begun = said(|error| {
                let (name, definitions) = (name.as_ptr(), definitions.as_ptr());
                let options = options.as_ptr();
                nyssa_writer_table(writer, name, null(), definitions, options, &mut table, error)
            });
            assert_eq!(begun.0, NYSSA_INVALID_ARGUMENT, "{}", begun.1);
            assert!(begun.1.contains(message), "{}", begun.1);
        }
        nyssa_close(writer.cast());
    }
}

#[test]
fn negative_counts_are_errors() {
    let dataset = open(&data("plain.root"));
    let (name, index) = (c("x"), 0u64);
    let (names, negative) = ([name.as_ptr()], -1isize as usize);
    let (mut array, mut other) = (FFI_ArrowArray::empty(), null_mut());
    // SAFETY: the texts live, and the places are places. Nothing is read where a count is wrong.
    unsafe {
        let why = format!("cannot have {negative} items: was the count negative?");
        let is = |said: (nyssa_status, String)| {
            assert_eq!(said.0, NYSSA_INVALID_ARGUMENT);
            assert!(said.1.ends_with(&why), "{}", said.1);
        };
        is(said(|error| {
            let names = names.as_ptr();
            nyssa_dataset_read(
                dataset,
                names,
                negative,
                0,
                1,
                null(),
                null_mut(),
                &mut array,
                error,
            )
        }));
        is(said(|error| {
            let (names, array) = (names.as_ptr(), &raw mut array);
            nyssa_dataset_take(
                dataset,
                names,
                1,
                &index,
                negative,
                null(),
                null_mut(),
                array,
                error,
            )
        }));
        is(said(|error| nyssa_chain(names.as_ptr(), negative, null(), null(), &mut other, error)));
        nyssa_close(dataset.cast());
    }
}

#[test]
fn rows_without_columns_are_not_lost_silently() {
    use arrow_array::{Array, StructArray};
    let folder = tempfile::tempdir().unwrap();
    let (writer, _) = begun(folder.path());
    let (name, mut table) = (c("None"), null_mut());
    // SAFETY: the writer, the table and the array live.
    unsafe {
        works(|error| {
            nyssa_writer_table(writer, name.as_ptr(), null(), null(), null(), &mut table, error)
        });
        let record = StructArray::new_empty_fields(2, None);
        let (mut array, schema) = arrow_array::ffi::to_ffi(&record.to_data()).unwrap();
        let filled = said(|error| nyssa_table_fill(table, &mut array, &schema, error));
        assert_eq!(filled.0, NYSSA_INVALID_ARGUMENT);
        assert!(filled.1.starts_with("the array has 2 rows without columns"), "{}", filled.1);
        nyssa_close(writer.cast());
    }
}

#[test]
fn arrays_that_no_row_can_have_are_no_fields() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, table) = begun(folder.path());
    for field in ["std::array<float,3000000000>", "std::bitset<18446744073709551615>"] {
        let fields = c(&format!(r#"{{"fields": {{"a": "{field}"}}}}"#));
        // SAFETY: the table and the text live.
        let added = said(|error| unsafe {
            nyssa_table_add_fields(table, null(), fields.as_ptr(), null_mut(), error)
        });
        assert_eq!(added.0, NYSSA_UNSUPPORTED);
        assert!(added.1.contains("elements are too large for Arrow"), "{}", added.1);
    }
    nyssa_close(writer.cast());
}

#[test]
fn fill_contexts_end_with_their_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, table) = begun(folder.path());
    let mut context = null_mut();
    // SAFETY: the handles may be closed.
    unsafe {
        works(|error| nyssa_table_fill_context(table, &mut context, error));
        nyssa_close(writer.cast());
        let ended = said(|error| nyssa_fill_context_commit(context, error));
        assert_eq!(ended.0, NYSSA_INVALID_ARGUMENT);
        assert!(ended.1.contains("its writer is closed"), "{}", ended.1);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left");
}

#[test]
fn a_closed_context_calls_nobody() {
    unsafe extern "C" fn fail(user: *mut c_void, _: u64, _: u64) -> i32 {
        // SAFETY: the user is the counter below.
        unsafe { &*user.cast::<std::sync::atomic::AtomicU64>() }
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        0
    }
    let calls = std::sync::atomic::AtomicU64::new(0);
    let user = std::ptr::from_ref(&calls).cast_mut().cast();
    let dataset = open(&data("plain.root"));
    let mut stream = FFI_ArrowArrayStream::empty();
    // SAFETY: the counter lives, and the places are places.
    unsafe {
        let mut context = null_mut();
        works(|error| nyssa_context_new(2, Some(fail), user, &mut context, error));
        works(|error| {
            nyssa_dataset_stream(dataset, null(), 0, 0, 1, null(), context, &mut stream, error)
        });
        nyssa_close(context.cast());
        let batches = arrow_array::ffi_stream::RecordBatchStreamReader::from_raw(&mut stream);
        assert!(batches.unwrap().all(|batch| batch.is_ok()));
    }
    assert_eq!(calls.into_inner(), 0);
    nyssa_close(dataset.cast());
}
