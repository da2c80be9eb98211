//! Adds fields while fill contexts write. Python's tests read such files with ROOT and uproot.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::*;
use nyssa_data::Dataset;
use nyssa_rntuple::schema::{FieldId, FieldType, Leaf};
use nyssa_rntuple::write::{FillContext, Order, ParallelWriter, RNTupleWriteOptions, SharedFile};
use nyssa_root::Kind;

use crate::support::writing::*;

/// Returns `count` numbers from `start` on.
fn numbers(start: i64, count: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(start..start + count))
}

/// Returns lists of `number % 3` times the number.
fn lists(start: i64, count: i64) -> ArrayRef {
    let lists = (start..start + count).map(|i| Some((0..i % 3).map(move |_| Some(i as f32))));
    Arc::new(LargeListArray::from_iter_primitive::<Float32Type, _, _>(lists))
}

fn begin(order: Order) -> (SharedFile, nyssa_io::MemoryHandle, ParallelWriter) {
    let (file, handle) = file();
    let schema = arrow_schema(&[("x", numbers(0, 1))]);
    let options = RNTupleWriteOptions { contexts: Some(4), ..RNTupleWriteOptions::default() };
    let writer =
        ParallelWriter::create(&file, "Events", &schema, options, order, &context(2)).unwrap();
    (file, handle, writer)
}

fn add_lists(writer: &ParallelWriter) {
    let float = FieldType::Leaf(Leaf::Float);
    writer.extend_schema(|builder| builder.field(None, "v", &FieldType::vector(float))).unwrap();
}

/// Writes rows as a cluster.
fn cluster(context: &mut FillContext, arrays: &[ArrayRef]) {
    context.extend(arrays).unwrap();
    context.flush().unwrap();
}

/// Each row has its list, or an empty list if it came without.
#[test]
fn contexts_see_a_field_when_their_rows_have_it() {
    let (file, handle, writer) = begin(Order::RoundRobin);
    let (mut first, mut second) = (writer.context().unwrap(), writer.context().unwrap());
    cluster(&mut first, &[numbers(0, 5)]);
    cluster(&mut second, &[numbers(100, 5)]);
    // An open cluster of the first context ends when it sees the field.
    first.extend(&[numbers(5, 5)]).unwrap();
    second.extend(&[numbers(105, 5)]).unwrap();
    add_lists(&writer);
    first.extend(&[numbers(10, 5), lists(10, 5)]).unwrap();
    second.extend(&[numbers(110, 5)]).unwrap();
    let error = first.extend(&[numbers(0, 1)]).unwrap_err();
    assert_eq!(error.to_string(), "1 arrays for 2 fields");
    second.extend(&[numbers(115, 5), lists(115, 5)]).unwrap();
    first.finish().unwrap();
    second.finish().unwrap();
    writer.finish().unwrap();
    file.finish().unwrap();
    let reader = reader(handle.take(), "Events");
    let arrays = read(&reader);
    let x = arrays[0].as_primitive::<Int64Type>();
    let v = arrays[1].as_list::<i64>();
    let mut seen = x.values().to_vec();
    for (row, &number) in x.values().iter().enumerate() {
        let has = number >= 115 || (10..15).contains(&number);
        let expected = vec![number as f32; if has { (number % 3) as usize } else { 0 }];
        let list = v.value(row);
        assert_eq!(list.as_primitive::<Float32Type>().values().to_vec(), expected, "{number}");
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..15).chain(100..120).collect::<Vec<_>>());
}

/// The columns are deferred: their first element has the number of the entry at which the field came.
#[test]
fn a_late_field_is_deferred() {
    let (file, handle, writer) = begin(Order::Completion);
    let mut first = writer.context().unwrap();
    cluster(&mut first, &[numbers(0, 7)]);
    first.finish().unwrap();
    add_lists(&writer);
    // A field that no context fills.
    let int = FieldType::Leaf(Leaf::Int32);
    writer.extend_schema(|builder| builder.field(None, "never", &int)).unwrap();
    let mut second = writer.context().unwrap();
    let error = second.extend(&[numbers(7, 3), lists(7, 3)]).unwrap_err();
    assert_eq!(error.to_string(), "2 arrays for 3 fields");
    second.finish().unwrap();
    assert_eq!(writer.finish().unwrap().entries, 7);
    file.finish().unwrap();
    let reader = reader(handle.take(), "Events");
    let firsts: Vec<_> =
        reader.schema().columns.iter().map(|column| column.first_element).collect();
    // x, the offsets and the items of v, never.
    assert_eq!(firsts, [None, Some(7), None, Some(7)]);
    let arrays = read(&reader);
    assert_eq!(arrays[2].as_primitive::<types::Int32Type>().values().to_vec(), [0; 7]);
}

/// Before the first cluster, the header takes the field. Clusters without it have zeros.
#[test]
fn a_field_before_the_first_cluster_is_in_the_header() {
    let (file, handle, writer) = begin(Order::Completion);
    let mut first = writer.context().unwrap();
    first.extend(&[numbers(0, 3)]).unwrap();
    add_lists(&writer);
    first.finish().unwrap();
    let mut second = writer.context().unwrap();
    second.extend(&[numbers(3, 3), lists(3, 3)]).unwrap();
    second.finish().unwrap();
    writer.finish().unwrap();
    file.finish().unwrap();
    let reader = reader(handle.take(), "Events");
    assert!(reader.schema().columns.iter().all(|column| column.first_element.is_none()));
    let arrays = read(&reader);
    let lengths: Vec<_> = arrays[1].as_list::<i64>().offsets().lengths().collect();
    assert_eq!(lengths, [0, 0, 0, 0, 1, 2]);
}

/// Members of records are added, too. A context says when its rows have them.
#[test]
fn members_come_with_a_call() {
    let (file, handle) = file();
    let record = |members: &[(&str, i64)]| -> Vec<ArrayRef> {
        let members = members.iter().map(|&(name, value)| {
            let array = numbers(value, 1);
            (Arc::new(nyssa_root::arrow::field(name, array.data_type().clone())), array)
        });
        vec![Arc::new(StructArray::from(members.collect::<Vec<_>>()))]
    };
    let schema = arrow_schema(&[("r", record(&[("a", 0)]).remove(0))]);
    let (options, order) = (RNTupleWriteOptions::default(), Order::Completion);
    let writer =
        ParallelWriter::create(&file, "Events", &schema, options, order, &context(2)).unwrap();
    let mut rows = writer.context().unwrap();
    rows.extend(&record(&[("a", 1)])).unwrap();
    let int = FieldType::Leaf(Leaf::Int64);
    writer.extend_schema(|builder| builder.field(Some(FieldId(0)), "b", &int)).unwrap();
    rows.extend(&record(&[("a", 2)])).unwrap();
    rows.see_new_fields().unwrap();
    rows.extend(&record(&[("a", 3), ("b", 4)])).unwrap();
    rows.finish().unwrap();
    writer.finish().unwrap();
    file.finish().unwrap();
    let reader = reader(handle.take(), "Events");
    assert_eq!(reader.num_entries(), 3);
    let arrays = read(&reader);
    let member =
        |at: usize| arrays[0].as_struct().column(at).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!((member(0), member(1)), (vec![1, 2, 3], vec![0, 0, 4]));
}

#[test]
fn a_field_must_hold_zero_and_be_new() {
    let (file, _) = file();
    let first: ArrayRef = Arc::new(Float32Array::from(vec![1.5]));
    let schema = arrow_schema(&[("q0", first)]);
    let quantized = nyssa_rntuple::write::FieldOptions::new("q*")
        .and_then(|options| options.with("column", "Real32Quant:8:1:2"))
        .unwrap();
    let options = RNTupleWriteOptions { fields: vec![quantized], ..RNTupleWriteOptions::default() };
    let order = Order::Completion;
    let writer =
        ParallelWriter::create(&file, "Events", &schema, options, order, &context(2)).unwrap();
    let float = FieldType::Leaf(Leaf::Float);
    let add = |name: &str| writer.extend_schema(|builder| builder.field(None, name, &float));
    let error = add("q1").unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    let begin = "a field that is added while fill contexts write must be able to hold zero: ";
    assert!(error.to_string().starts_with(begin), "{error}");
    assert_eq!(add("q0").unwrap_err().kind(), Kind::InvalidArgument);
    add("y").unwrap();
    assert_eq!(writer.schema().fields.len(), 2);
}
