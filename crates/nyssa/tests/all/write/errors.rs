//! Tests what writers refuse, and the messages.

use std::sync::Arc;

use arrow_array::*;
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use nyssa_rntuple::page::SealedColumn;
use nyssa_rntuple::schema::{ColumnId, FieldId, Schema};
use nyssa_rntuple::seal::{Scratch, SealSettings, seal_field, seal_offsets};
use nyssa_rntuple::write::{RNTupleWriteOptions, TableWriter, Writer};
use nyssa_root::Kind;

use crate::support::writing::*;

fn refused(data_type: DataType, array: ArrayRef) -> String {
    let (file, _handle) = file();
    let schema = ArrowSchema::new(vec![Field::new("x", data_type, true)]);
    let mut writer =
        TableWriter::create(&file, "Events", &schema, RNTupleWriteOptions::default(), &context(1))
            .unwrap();
    let error = writer.extend(&[array]).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    assert_eq!(writer.entries(), 0);
    error.to_string()
}

#[test]
fn nulls() {
    let array: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, None]));
    assert_eq!(
        refused(DataType::Int32, array),
        "2 of 3 values are null, which a field of type \"std::int32_t\" cannot hold: fill or drop \
         them first (field x, entry 1)"
    );
    let lists = ListArray::from_iter_primitive::<types::Int8Type, _, _>([Some([Some(1), None])]);
    let data_type = lists.data_type().clone();
    assert_eq!(
        refused(data_type, Arc::new(lists)),
        "1 of 2 values are null, which a field of type \"std::int8_t\" cannot hold: fill or drop \
         them first (field x._0, entry 0)"
    );
}

#[test]
fn wrong_types() {
    let array: ArrayRef = Arc::new(Int64Array::from(vec![1, 1 << 31]));
    assert_eq!(
        refused(DataType::Int32, array.clone()),
        "value 2147483648 does not fit a column of type SplitInt32 of a field of type \
         std::int32_t (field x, entry 1)"
    );
    let doubles: ArrayRef = Arc::new(Float64Array::from(vec![0.1]));
    assert_eq!(
        refused(DataType::Float32, doubles),
        "an array of type Float64 cannot fill a column of type SplitReal32 of a field of type float \
         (field x)"
    );
    assert_eq!(
        refused(list_type(DataType::Int64), array.clone()),
        "an array of type Int64 cannot fill a field of type std::vector<std::int64_t> (field x)"
    );
    assert_eq!(
        refused(struct_type(&[("y", DataType::Int64)]), array.clone()),
        "an array of type Int64 cannot fill a field of type untyped (field x)"
    );
    let item = Arc::new(Field::new("item", DataType::Int64, false));
    let pairs: ArrayRef = Arc::new(FixedSizeListArray::new(item, 2, array, None));
    assert_eq!(
        refused(fixed_type(DataType::Int64, 3), pairs),
        "lists of 2 items cannot fill a field of type \"std::array<std::int64_t,3>\" (field x)"
    );
}

#[test]
fn wrong_tables() {
    let (file, _handle) = file();
    let single: ArrayRef = Arc::new(Int8Array::from(vec![1]));
    let two: ArrayRef = Arc::new(Int8Array::from(vec![1, 2]));
    let schema = arrow_schema(&[("x", single.clone()), ("y", single.clone())]);
    let mut writer =
        TableWriter::create(&file, "Events", &schema, RNTupleWriteOptions::default(), &context(1))
            .unwrap();
    let error = writer.extend(std::slice::from_ref(&single)).unwrap_err();
    assert_eq!(error.to_string(), "1 arrays for 2 fields");
    let error = writer.extend(&[single, two]).unwrap_err();
    assert_eq!(error.to_string(), "2 rows where the first field has 1 (field y)");
    let bad = RNTupleWriteOptions { max_unzipped_page: 1, ..RNTupleWriteOptions::default() };
    let error = TableWriter::create(&file, "z", &schema, bad, &context(1)).err().unwrap();
    assert_eq!(error.to_string(), "a page size of 1 bytes is outside 64 to 536870912");
    let error =
        TableWriter::create(&file, "a/b c", &schema, RNTupleWriteOptions::default(), &context(1));
    assert_eq!(
        error.err().unwrap().to_string(),
        "\"b c\" cannot be the name of an RNTuple: ' ' is not allowed; names hold no control \
         characters, '.', ' ', '\\\\' or '/'"
    );
}

/// One list field, and its sealed columns of two rows with three items.
struct Lists {
    schema: Schema,
    settings: SealSettings,
    scratch: Scratch,
}

impl Lists {
    fn new() -> Self {
        let arrow = ArrowSchema::new(vec![Field::new("v", list_type(DataType::Int8), false)]);
        let options = RNTupleWriteOptions::default();
        let schema = Schema::from_arrow(&arrow, options.compression).unwrap();
        let settings = options.seal_settings(&schema);
        Self { schema, settings, scratch: Scratch::new() }
    }

    fn index(&mut self, lens: &[usize]) -> SealedColumn {
        let offsets = OffsetBuffer::from_lengths(lens.iter().copied());
        let Self { schema, settings, scratch } = self;
        seal_offsets(schema, FieldId(0), &offsets, settings, scratch).unwrap()
    }

    fn items(&mut self, count: i8) -> SealedColumn {
        let items: ArrayRef = Arc::new(Int8Array::from_iter_values(0..count));
        let Self { schema, settings, scratch } = self;
        seal_field(schema, FieldId(1), &items, settings, scratch).unwrap().remove(0)
    }

    fn writer(&self) -> Writer {
        let (file, _handle) = raw_file();
        Writer::create(file, "Events", self.schema.clone(), RNTupleWriteOptions::default()).unwrap()
    }
}

#[test]
fn columns_have_to_fit_together() {
    let mut lists = Lists::new();
    let mut writer = lists.writer();
    assert_eq!(
        writer.put(lists.items(1)).unwrap_err().message(),
        "no cluster is open: begin one first"
    );
    assert_eq!(
        writer.begin_cluster(0).unwrap_err().message(),
        "a cluster needs at least one entry"
    );
    writer.begin_cluster(2).unwrap();
    assert_eq!(
        writer.begin_cluster(2).unwrap_err().message(),
        "a cluster is still open: commit it first"
    );
    writer.put(lists.index(&[1, 2])).unwrap();
    assert_eq!(
        writer.put(lists.index(&[1, 2])).unwrap_err().to_string(),
        "the column came twice (column 0, cluster 0)"
    );
    assert_eq!(
        writer.commit_cluster().unwrap_err().to_string(),
        "the column is missing (field v._0, column 1, cluster 0)"
    );
    let strange = SealedColumn { column: ColumnId(9), ..lists.items(3) };
    assert_eq!(
        writer.put(strange).unwrap_err().to_string(),
        "there is no such column: the schema has 2 (column 9, cluster 0)"
    );
    let short = SealedColumn { elements: 4, ..lists.items(3) };
    assert_eq!(
        writer.put(short).unwrap_err().to_string(),
        "pages of 3 elements do not make a column of 4; none may be empty (column 1, cluster 0)"
    );
    writer.put(lists.items(4)).unwrap();
    assert_eq!(
        writer.commit_cluster().unwrap_err().to_string(),
        "4 elements where the cluster needs 3 (field v._0, column 1, cluster 0)"
    );
    assert_eq!(writer.finish().unwrap_err().message(), "a cluster is still open: commit it first");
}

#[test]
fn entries_have_to_fit() {
    let mut lists = Lists::new();
    let mut writer = lists.writer();
    writer.begin_cluster(3).unwrap();
    writer.put(lists.index(&[1, 2])).unwrap();
    writer.put(lists.items(3)).unwrap();
    assert_eq!(
        writer.commit_cluster().unwrap_err().to_string(),
        "2 elements where the cluster needs 3 (field v, column 0, cluster 0)"
    );
}

#[test]
fn a_good_cluster() {
    let mut lists = Lists::new();
    let mut writer = lists.writer();
    writer.begin_cluster(2).unwrap();
    // The order of the columns is free.
    writer.put(lists.items(3)).unwrap();
    writer.put(lists.index(&[1, 2])).unwrap();
    writer.commit_cluster().unwrap();
    let report = writer.finish().unwrap();
    assert_eq!((report.entries, report.clusters, report.pages), (2, 1, 2));
}
