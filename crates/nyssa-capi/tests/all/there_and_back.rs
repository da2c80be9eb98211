//! What is written is read back, and jobs run.

use std::ptr::{null, null_mut};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{Array, ArrayRef, Float32Array, Int32Array, StructArray};
use nyssa_capi::*;

use crate::support::{c, open, text, works};

/// Returns rows for C.
fn rows(columns: Vec<(&str, ArrayRef)>) -> (FFI_ArrowArray, FFI_ArrowSchema) {
    to_ffi(&StructArray::try_from(columns).unwrap().to_data()).unwrap()
}

fn floats(values: &[f32]) -> ArrayRef {
    Arc::new(Float32Array::from(values.to_vec()))
}

#[test]
fn rows_attributes_and_late_fields() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.root").to_str().unwrap().to_owned();
    let (path, name, set) = (c(&file), c("Events"), c("runs"));
    let definitions = c(
        r#"{"fields": {"pt": "float", "hit": "Hit"}, "classes": {"Hit": {"x": "float", "y": "float"}}}"#,
    );
    let hits = || {
        let members = vec![("x", floats(&[1.0, 2.0])), ("y", floats(&[3.0, 4.0]))];
        Arc::new(StructArray::try_from(members).unwrap()) as ArrayRef
    };
    // SAFETY: the texts live, and the places are places.
    unsafe {
        let (mut writer, mut table) = (null_mut(), null_mut());
        let options = c("compression=lz4");
        works(|error| nyssa_create(path.as_ptr(), options.as_ptr(), null(), &mut writer, error));
        works(|error| {
            let (name, definitions) = (name.as_ptr(), definitions.as_ptr());
            nyssa_writer_table(writer, name, null(), definitions, null(), &mut table, error)
        });
        // By name, in another order.
        let (mut array, schema) = rows(vec![("hit", hits()), ("pt", floats(&[5.0, 6.0]))]);
        works(|error| nyssa_table_fill(table, &mut array, &schema, error));
        works(|error| nyssa_table_flush(table, error));
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![7]));
        let (mut array, schema) = rows(vec![("run", numbers)]);
        works(|error| nyssa_table_attribute_set(table, set.as_ptr(), &schema, error));
        works(|error| {
            let set = set.as_ptr();
            nyssa_table_fill_attributes(table, set, &0, &2, 1, &mut array, &schema, error)
        });
        let late = c(r#"{"fields": {"late": "std::int32_t"}}"#);
        works(|error| nyssa_table_add_fields(table, null(), late.as_ptr(), null_mut(), error));
        // In order, by fill contexts.
        let mut context = null_mut();
        works(|error| nyssa_table_fill_context(table, &mut context, error));
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![8, 9]));
        let (mut array, _) = rows(vec![("a", floats(&[7.0, 8.0])), ("b", hits()), ("c", numbers)]);
        works(|error| nyssa_fill_context_fill(context, &mut array, null(), error));
        let (mut entries, mut stalled) = (0, -1.0);
        works(|error| nyssa_fill_context_stats(context, &mut stalled, error));
        assert!(stalled >= 0.0);
        works(|error| nyssa_fill_context_flush(context, error));
        works(|error| nyssa_fill_context_commit(context, error));
        works(|error| nyssa_table_stats(table, &mut entries, &mut stalled, error));
        assert_eq!(entries, 4);
        let report = text(|report, error| nyssa_table_commit(table, report, error));
        assert!(report.contains("\"entries\":4"), "{report}");
        works(|error| nyssa_writer_commit(writer, &mut entries, error));
        assert_eq!(entries, std::fs::metadata(&file).unwrap().len());
        nyssa_close(writer.cast());

        let dataset = open(&file);
        let described = text(|text, error| nyssa_dataset_describe(dataset, text, error));
        assert!(described.contains("\"attribute_sets\":[\"runs\"]"), "{described}");
        let (mut array, mut schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
        let names = [c("late"), c("hit.y")];
        let names = [names[0].as_ptr(), names[1].as_ptr()];
        works(|error| {
            let names = names.as_ptr();
            nyssa_dataset_read(dataset, names, 2, 1, 4, null(), &mut schema, &mut array, error)
        });
        let read = StructArray::from(from_ffi(array, &schema).unwrap());
        assert_eq!(read.column(0).as_primitive::<Int32Type>().values()[..], [0, 8, 9]);
        assert_eq!(read.column(1).as_primitive::<Float32Type>().values()[..], [4.0, 3.0, 4.0]);
        let mut array = FFI_ArrowArray::empty();
        let indices = [3, 0];
        works(|error| {
            let (names, indices) = (names.as_ptr(), indices.as_ptr());
            nyssa_dataset_take(dataset, names, 1, indices, 2, null(), null_mut(), &mut array, error)
        });
        assert_eq!(array.len(), 2);
        let mut stream = FFI_ArrowArrayStream::empty();
        let options = c("entries=3");
        works(|error| {
            let options = options.as_ptr();
            nyssa_dataset_stream(dataset, null(), 0, 0, 4, options, null(), &mut stream, error)
        });
        let lengths: Vec<usize> = stream_lengths(stream);
        assert_eq!(lengths, [3, 1]);
        let mut attributes = null_mut();
        works(|error| nyssa_dataset_attribute_set(dataset, set.as_ptr(), &mut attributes, error));
        works(|error| nyssa_dataset_entries(attributes, &mut entries, error));
        assert_eq!(entries, 1);
        let (mut some, cut) = (null_mut(), c("late > 8"));
        works(|error| nyssa_dataset_select(dataset, cut.as_ptr(), null(), &mut some, error));
        works(|error| nyssa_dataset_entries(some, &mut entries, error));
        assert_eq!(entries, 1);
        let counts = text(|text, error| nyssa_io_stats(dataset, text, error));
        assert!(counts.contains("bytes"), "{counts}");
        [dataset, attributes, some].iter().for_each(|handle| nyssa_close((*handle).cast()));

        let (mut writer, mut table) = (null_mut(), null_mut());
        works(|error| nyssa_update(path.as_ptr(), null(), null(), &mut writer, error));
        works(|error| nyssa_writer_append(writer, name.as_ptr(), null(), &mut table, error));
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
        let (mut array, schema) =
            rows(vec![("pt", floats(&[1.0, 2.0])), ("hit", hits()), ("late", numbers)]);
        works(|error| nyssa_table_fill(table, &mut array, &schema, error));
        works(|error| nyssa_writer_commit(writer, null_mut(), error));
        jobs(&file);
    }
}

fn stream_lengths(stream: FFI_ArrowArrayStream) -> Vec<usize> {
    let reader = arrow_array::ffi_stream::RecordBatchStreamReader::try_new(stream).unwrap();
    reader.map(|batch| batch.unwrap().num_rows()).collect()
}

/// Runs all jobs on a file of 6 entries.
unsafe fn jobs(file: &str) {
    let (path, tree) = (c(file), c(&format!("{file}.tree.root")));
    let (small, all) = (c(&format!("{file}.small.root")), c(&format!("{file}.all.root")));
    // SAFETY: the texts live, and the places are places.
    unsafe {
        let listed = text(|text, error| nyssa_list(path.as_ptr(), null(), null(), text, error));
        assert_eq!(listed, r#"[{"format":"RNTuple","name":"Events"}]"#);
        let to_tree = c("to=ttree; include=pt");
        text(|report, error| {
            let (path, tree, options) = (path.as_ptr(), tree.as_ptr(), to_tree.as_ptr());
            nyssa_convert(path, tree, options, null(), report, error)
        });
        let some = c(r#"{"entries": "1:3", "verify": true}"#);
        let report = text(|report, error| {
            nyssa_rewrite(path.as_ptr(), small.as_ptr(), some.as_ptr(), null(), report, error)
        });
        assert!(report.contains("\"entries\":2"), "{report}");
        // Without a place there is no report.
        let inputs = [small.as_ptr(), path.as_ptr()];
        works(|error| {
            nyssa_merge(inputs.as_ptr(), 2, all.as_ptr(), null(), null(), null_mut(), error)
        });
        let to_tree = c("to=ttree; include=pt; force=true");
        works(|error| {
            let (path, tree, options) = (path.as_ptr(), tree.as_ptr(), to_tree.as_ptr());
            nyssa_convert(path, tree, options, null(), null_mut(), error)
        });
        let (mut chain, mut entries) = (null_mut(), 0);
        let both = [all.as_ptr(), path.as_ptr()];
        works(|error| nyssa_chain(both.as_ptr(), 2, null(), null(), &mut chain, error));
        works(|error| nyssa_dataset_entries(chain, &mut entries, error));
        assert_eq!(entries, 2 + 6 + 6);
        nyssa_close(chain.cast());
    }
}
