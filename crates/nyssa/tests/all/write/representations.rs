//! Tests several representations of a field, and fields that come late: page lists and records by the specification's
//! rules.

use std::sync::Arc;

use arrow_array::*;
use nyssa_rntuple::encoding::ColumnType;
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{Column, ColumnId, ColumnRange, FieldId, FieldType, Leaf, Schema};
use nyssa_rntuple::seal::{Scratch, seal_field};
use nyssa_rntuple::write::{RNTupleWriteOptions, Writer};

use crate::support::writing::*;

fn floats(values: std::ops::Range<i16>) -> ArrayRef {
    Arc::new(Float32Array::from_iter_values(values.map(f32::from)))
}

fn lists(lengths: &[usize]) -> ArrayRef {
    let mut next = 0..;
    let rows =
        lengths.iter().map(|&len| Some(next.by_ref().take(len).map(Some).collect::<Vec<_>>()));
    let rows: Vec<_> = rows.collect();
    Arc::new(LargeListArray::from_iter_primitive::<types::Int32Type, _, _>(rows))
}

fn strings(values: &[&str]) -> ArrayRef {
    Arc::new(LargeStringArray::from(values.to_vec()))
}

/// Puts one cluster; the sealed columns of `renamed` go under other ids, sealed as these say.
fn cluster(writer: &mut Writer, arrays: &[(FieldId, ArrayRef)], renamed: &[(u32, u32)]) {
    let mut schema = writer.schema().clone();
    for &(from, to) in renamed {
        let column = schema.column(ColumnId(to)).column_type.unwrap();
        schema.columns[from as usize].set_type(column);
    }
    let settings = RNTupleWriteOptions::default().seal_settings(&schema);
    writer.begin_cluster(arrays[0].1.len() as u64).unwrap();
    for (field, array) in arrays {
        for mut column in
            seal_field(&schema, *field, array, &settings, &mut Scratch::new()).unwrap()
        {
            if let Some((_, to)) = renamed.iter().find(|(from, _)| *from == column.column.0) {
                column.column = ColumnId(*to);
            }
            writer.put(column).unwrap();
        }
    }
    writer.commit_cluster().unwrap();
}

fn started(
    columns: &[(&str, ArrayRef)],
    options: &RNTupleWriteOptions,
) -> (Writer, nyssa_io::MemoryHandle) {
    let (file, handle) = raw_file();
    let schema = Schema::from_arrow(&arrow_schema(columns), options.compression).unwrap();
    (Writer::create(file, "Events", schema, options.clone()).unwrap(), handle)
}

fn plain(field: u32, column_type: ColumnType) -> [Column; 1] {
    [Column::new(FieldId(field), column_type)]
}

/// Returns (first element, elements, suppressed, has pages) of each column of a cluster.
fn ranges(reader: &Reader, cluster: usize) -> Vec<(u64, u64, bool, bool)> {
    let range = |c: &ColumnRange| (c.first_element, c.elements, c.suppressed, !c.pages.is_empty());
    reader.clusters_info().unwrap().get(cluster).unwrap().columns.iter().map(range).collect()
}

/// Both representations in the header; each cluster has another.
#[test]
fn representations_alternate() {
    let (mut writer, handle) = started(&[("x", floats(0..1))], &RNTupleWriteOptions::default());
    let ids = writer.add_representation(FieldId(0), plain(0, ColumnType::Real32)).unwrap();
    assert_eq!(ids, [ColumnId(1)]);
    cluster(&mut writer, &[(FieldId(0), floats(0..10))], &[]);
    cluster(&mut writer, &[(FieldId(0), floats(10..13))], &[(0, 1)]);
    cluster(&mut writer, &[(FieldId(0), floats(13..20))], &[]);
    writer.finish().unwrap();
    let reader = reader(handle.take(), "Events");
    assert_eq!(reader.header().records.columns.len(), 2);
    assert_eq!(reader.header().records.columns[1].representation, 1);
    assert_eq!(ranges(&reader, 0), [(0, 10, false, true), (0, 10, true, false)]);
    assert_eq!(ranges(&reader, 1), [(10, 3, true, false), (10, 3, false, true)]);
    assert_eq!(ranges(&reader, 2), [(13, 7, false, true), (13, 7, true, false)]);
    assert_eq!(read(&reader)[0].to_data(), floats(0..20).to_data());
}

/// Tests a representation that comes late: page lists that are not written yet name it, earlier ones cannot.
#[test]
fn late_representations() {
    for (clusters_per_group, first_element) in [(64, None), (1, Some(-10))] {
        let options = RNTupleWriteOptions { clusters_per_group, ..RNTupleWriteOptions::default() };
        let (mut writer, handle) = started(&[("x", floats(0..1))], &options);
        cluster(&mut writer, &[(FieldId(0), floats(0..10))], &[]);
        writer.add_representation(FieldId(0), plain(0, ColumnType::Real32)).unwrap();
        cluster(&mut writer, &[(FieldId(0), floats(10..13))], &[(0, 1)]);
        writer.finish().unwrap();
        let reader = reader(handle.take(), "Events");
        assert_eq!(reader.header().records.columns.len(), 1);
        let late = &reader.footer().extension.columns;
        assert_eq!(late.len(), 1);
        assert_eq!((late[0].field, late[0].representation), (FieldId(0), 1));
        assert_eq!(late[0].first_element, first_element);
        let first = [(0, 10, false, true), (0, 10, true, false)];
        assert_eq!(ranges(&reader, 0), first[..if first_element.is_none() { 2 } else { 1 }]);
        assert_eq!(ranges(&reader, 1), [(10, 3, true, false), (10, 3, false, true)]);
        assert_eq!(read(&reader)[0].to_data(), floats(0..13).to_data());
    }
}

/// A string has two columns: offsets and characters change together.
#[test]
fn representations_of_strings_and_items() {
    let columns = [("s", strings(&["a"])), ("v", lists(&[1]))];
    let (mut writer, handle) = started(&columns, &RNTupleWriteOptions::default());
    let batch = |s: &[&str], v: &[usize]| [(FieldId(0), strings(s)), (FieldId(1), lists(v))];
    cluster(&mut writer, &batch(&["a", "bcd"], &[0, 3]), &[]);
    let types = [ColumnType::Index32, ColumnType::Char];
    let text = types.map(|column_type| Column::new(FieldId(0), column_type));
    assert_eq!(writer.add_representation(FieldId(0), text).unwrap(), [ColumnId(4), ColumnId(5)]);
    writer.add_representation(FieldId(2), plain(2, ColumnType::Int32)).unwrap();
    cluster(&mut writer, &batch(&["ef"], &[5]), &[(0, 4), (1, 5), (3, 6)]);
    writer.finish().unwrap();
    let reader = reader(handle.take(), "Events");
    let suppressed = |cluster| ranges(&reader, cluster).into_iter().map(|range| range.2);
    assert_eq!(suppressed(0).collect::<Vec<_>>(), [false, false, false, false, true, true, true]);
    assert_eq!(suppressed(1).collect::<Vec<_>>(), [true, true, false, true, false, false, false]);
    assert_eq!(ranges(&reader, 1)[6], (3, 5, false, true));
    assert_eq!(ranges(&reader, 1)[5], (4, 2, false, true));
    let arrays = read(&reader);
    let text: Vec<&[u8]> =
        arrays[0].as_any().downcast_ref::<LargeBinaryArray>().unwrap().iter().flatten().collect();
    assert_eq!(text, [&b"a"[..], b"bcd", b"ef"]);
    let items = arrays[1].as_any().downcast_ref::<LargeListArray>().unwrap();
    assert_eq!(items.values().to_data(), Int32Array::from(vec![0, 1, 2, 0, 1, 2, 3, 4]).to_data());
}

/// New fields: the principal column of each entry is deferred, what lies in collections is not.
#[test]
fn late_fields() {
    let (mut writer, handle) = started(&[("x", floats(0..1))], &RNTupleWriteOptions::default());
    cluster(&mut writer, &[(FieldId(0), floats(0..4))], &[]);
    let types = [
        ("late", FieldType::Leaf(Leaf::Int32)),
        ("pair", FieldType::array(FieldType::Leaf(Leaf::Int32), 2)),
        ("list", FieldType::vector(FieldType::Leaf(Leaf::Int32))),
        ("text", FieldType::String),
    ];
    let ids = writer.extend_schema(|builder| {
        types.iter().map(|(name, t)| builder.field(None, name, t)).collect::<Result<Vec<_>, _>>()
    });
    let ids = ids.unwrap();
    let pairs = FixedSizeListArray::from_iter_primitive::<types::Int32Type, _, _>(
        [Some([Some(1), Some(2)]), Some([Some(3), Some(4)])],
        2,
    );
    let rows: [ArrayRef; 5] = [
        floats(4..6),
        Arc::new(Int32Array::from(vec![7, 8])),
        Arc::new(pairs),
        lists(&[1, 2]),
        strings(&["p", "q"]),
    ];
    let fields = std::iter::once(FieldId(0)).chain(ids);
    cluster(&mut writer, &fields.zip(rows).collect::<Vec<_>>(), &[]);
    writer.finish().unwrap();
    let reader = reader(handle.take(), "Events");
    let late = reader.footer().extension.columns.iter().map(|column| column.first_element);
    // late; pair._0; list, list._0; text's offsets and characters
    let expected = [Some(4), Some(8), Some(4), None, Some(4), None];
    assert_eq!(late.collect::<Vec<_>>(), expected);
    assert_eq!(reader.clusters_info().unwrap().get(0).unwrap().columns.len(), 1);
    let first = ranges(&reader, 1).into_iter().map(|range| range.0);
    assert_eq!(first.collect::<Vec<_>>(), [4, 4, 8, 4, 0, 4, 0]);
    let arrays = read(&reader);
    assert_eq!(arrays[0].to_data(), floats(0..6).to_data());
    assert_eq!(arrays[1].to_data(), Int32Array::from(vec![0, 0, 0, 0, 7, 8]).to_data());
    let lengths = |array: &ArrayRef| {
        let offsets = array.as_any().downcast_ref::<LargeListArray>().unwrap().offsets();
        offsets.windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>()
    };
    assert_eq!(lengths(&arrays[3]), [0, 0, 0, 0, 1, 2]);
}

/// Misuse is the caller's fault, and changes nothing.
#[test]
fn refused() {
    let (mut writer, _handle) = started(
        &[("v", lists(&[1]))],
        &RNTupleWriteOptions { clusters_per_group: 1, ..RNTupleWriteOptions::default() },
    );
    let error = |result: nyssa_root::Result<Vec<ColumnId>>| result.unwrap_err().to_string();
    let two = [ColumnType::Real32; 2].map(|column_type| Column::new(FieldId(1), column_type));
    assert_eq!(
        error(writer.add_representation(FieldId(1), two)),
        "a representation of 2 columns for a field with 1 of its own (field v._0)"
    );
    assert_eq!(
        error(writer.add_representation(FieldId(1), plain(1, ColumnType::Real32))),
        "schema: a column of type Real32 does not belong here (field v._0)"
    );
    cluster(&mut writer, &[(FieldId(0), lists(&[2]))], &[]);
    assert_eq!(
        error(writer.add_representation(FieldId(1), plain(1, ColumnType::Int32))),
        "a representation of a field with several columns or inside a collection has to be added \
         before the first cluster group is complete (field v._0)"
    );
    let member =
        writer.extend_schema(|b| b.field(Some(FieldId(1)), "x", &FieldType::Leaf(Leaf::Int8)));
    assert_eq!(
        member.unwrap_err().to_string(),
        "after entries were written, members can only be added to untyped records outside \
         collections, and v._0 is not one (field v._0.x)"
    );
    let renamed = writer.extend_schema(|b| {
        b.schema_mut().fields[0].name = "w".to_owned();
        Ok(())
    });
    assert_eq!(
        renamed.unwrap_err().to_string(),
        "fields and columns that have been written cannot change: only add new ones"
    );
    assert_eq!(writer.schema().columns.len(), 2);
    writer.begin_cluster(1).unwrap();
    let open = writer.add_representation(FieldId(0), plain(0, ColumnType::Index32));
    assert_eq!(error(open), "the schema cannot change within a cluster");
}

#[test]
fn a_cluster_has_one_representation() {
    let (mut writer, _handle) = started(&[("x", floats(0..1))], &RNTupleWriteOptions::default());
    writer.add_representation(FieldId(0), plain(0, ColumnType::Real32)).unwrap();
    let settings = RNTupleWriteOptions::default().seal_settings(writer.schema());
    let schema = writer.schema().clone();
    let array = floats(0..2);
    let sealed = seal_field(&schema, FieldId(0), &array, &settings, &mut Scratch::new()).unwrap();
    writer.begin_cluster(2).unwrap();
    for id in [0, 1] {
        let mut column = sealed[0].clone();
        column.column = ColumnId(id);
        writer.put(column).unwrap();
    }
    assert_eq!(
        writer.commit_cluster().unwrap_err().to_string(),
        "columns of two representations of one field: a cluster has one (field x, column 1, cluster \
         0)"
    );
}
