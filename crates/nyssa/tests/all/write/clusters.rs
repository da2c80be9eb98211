//! Tests clusters, pages, sharing, and several RNTuples in one file.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::*;
use arrow_schema::Schema;
use nyssa_data::Dataset;
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::write::{MIN_CLUSTER, RNTupleWriteOptions, TableWriter};

use crate::support::writing::*;

fn numbers(rows: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(
        (0..rows).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64)),
    ))
}

fn uncompressed() -> RNTupleWriteOptions {
    RNTupleWriteOptions { compression: "none".parse().unwrap(), ..RNTupleWriteOptions::default() }
}

/// Writes 8 bytes a row and 800 bytes a cluster: there are 100 rows in each, whatever the batches.
#[test]
fn clusters_have_the_size_asked_for() {
    let options =
        RNTupleWriteOptions { approx_zipped_cluster: 800, clusters_per_group: 2, ..uncompressed() };
    for batches in [&[250][..], &[1; 250], &[99, 2, 149]] {
        let (bytes, report) = write(&[("x", numbers(250))], batches, options.clone(), 2);
        let reader = reader(bytes, "Events");
        let entries = reader.clusters_info().unwrap().iter().map(|c| (c.first_entry, c.entries));
        assert_eq!(entries.collect::<Vec<_>>(), [(0, 100), (100, 100), (200, 50)], "{batches:?}");
        let groups = &reader.footer().cluster_groups;
        assert_eq!(groups.iter().map(|g| g.clusters).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((report.clusters, report.entries), (3, 250));
        let first = reader.clusters_info().unwrap().iter().map(|c| c.columns[0].first_element);
        assert_eq!(first.collect::<Vec<_>>(), [0, 100, 200]);
    }
}

/// A row larger than a cluster is a cluster.
#[test]
fn one_row_is_never_split() {
    let options = RNTupleWriteOptions { approx_zipped_cluster: MIN_CLUSTER, ..uncompressed() };
    let rows = (0..3).map(|_| Some((0..40).map(Some)));
    let lists = LargeListArray::from_iter_primitive::<Int64Type, _, _>(rows);
    let (bytes, _) = write(&[("x", Arc::new(lists))], &[3], options, 1);
    assert_eq!(reader(bytes, "Events").clusters(), [0..1, 1..2, 2..3]);
}

/// Pages are as few as the size allows, and none at the end is small: 1000 × 8 bytes in pages of
/// 3000 are two of 375 elements and what is left; 800 are one of 375, and the rest in two halves.
#[test]
fn pages_are_even() {
    let options = RNTupleWriteOptions { max_unzipped_page: 3000, ..uncompressed() };
    let (bytes, report) = write(&[("x", numbers(1000))], &[1000], options, 1);
    let reader = reader(bytes, "Events");
    let pages = &reader.clusters_info().unwrap().get(0).unwrap().columns[0].pages;
    assert_eq!(pages.iter().map(|page| page.elements).collect::<Vec<_>>(), [375, 375, 250]);
    assert_eq!((report.pages, report.uncompressed_bytes, report.compressed_bytes), (3, 8000, 8000));
    for batches in [&[800][..], &[100; 8]] {
        let options = RNTupleWriteOptions { max_unzipped_page: 3000, ..uncompressed() };
        let (bytes, _) = write(&[("x", numbers(800))], batches, options, 1);
        let reader = self::reader(bytes, "Events");
        let pages = &reader.clusters_info().unwrap().get(0).unwrap().columns[0].pages;
        assert_eq!(pages.iter().map(|page| page.elements).collect::<Vec<_>>(), [375, 213, 212]);
    }
}

#[test]
fn equal_pages_are_stored_once() {
    let zeros: ArrayRef = Arc::new(Int64Array::from(vec![0; 1000]));
    let columns = [("x", zeros.clone()), ("y", zeros)];
    let locators = |same_page_merging| {
        let options =
            RNTupleWriteOptions { max_unzipped_page: 800, same_page_merging, ..uncompressed() };
        let (bytes, report) = write(&columns, &[1000], options, 2);
        let reader = reader(bytes, "Events");
        for (array, (_, expected)) in read(&reader).iter().zip(&columns) {
            assert_eq!(array.to_data(), expected.to_data());
        }
        let cluster = &reader.clusters_info().unwrap().get(0).unwrap();
        let pages = cluster.columns.iter().flat_map(|column| &column.pages);
        let offsets = pages.map(|page| page.locator.offset).collect::<HashSet<_>>();
        (offsets.len(), report.pages, report.shared_pages, report.compressed_bytes)
    };
    assert_eq!(locators(true), (1, 20, 19, 800));
    assert_eq!(locators(false), (20, 20, 0, 16000));
}

#[test]
fn checksums_can_be_left_out() {
    let options = RNTupleWriteOptions { checksums: false, ..uncompressed() };
    let (bytes, _) = write(&[("x", numbers(10))], &[10], options, 1);
    let reader = reader(bytes, "Events");
    assert!(!reader.clusters_info().unwrap().get(0).unwrap().columns[0].pages[0].checksummed);
    assert_eq!(read(&reader)[0].to_data(), numbers(10).to_data());
}

#[test]
fn nothing_written_is_an_empty_rntuple() {
    let (bytes, report) = write(&[("x", numbers(5))], &[0], RNTupleWriteOptions::default(), 1);
    let reader = reader(bytes, "Events");
    assert_eq!((reader.num_entries(), report.clusters), (0, 0));
    assert!(reader.footer().cluster_groups.is_empty());
}

#[test]
fn several_rntuples_in_one_file() {
    let (file, handle) = file();
    let context = context(2);
    let schema = arrow_schema(&[("x", numbers(1))]);
    let create = |path: &str, schema: &Schema| {
        TableWriter::create(&file, path, schema, RNTupleWriteOptions::default(), &context)
    };
    let mut first = create("a/b/first", &schema).unwrap();
    let mut second = create("second", &schema).unwrap();
    first.extend(&[numbers(10)]).unwrap();
    second.extend(&[numbers(20)]).unwrap();
    first.flush().unwrap();
    second.flush().unwrap();
    first.extend(&[numbers(10).slice(5, 5)]).unwrap();
    let again = create("second", &schema).err().unwrap();
    assert_eq!(again.to_string(), "the file already has a second");
    first.finish().unwrap();
    let early = file.finish().unwrap_err();
    assert_eq!(early.to_string(), "second is still being written: finish it before the file");
    second.finish().unwrap();
    file.finish().unwrap();
    assert_eq!(file.finish().unwrap_err().to_string(), "the file is already finished");
    let file = open(handle.take());
    let first = Reader::open(&file, "a/b/first").unwrap();
    let second = Reader::open(&file, "second").unwrap();
    assert_eq!((first.num_entries(), second.num_entries()), (15, 20));
    assert_eq!(first.header().name, "first");
    assert_eq!(read(&first)[0].slice(10, 5).to_data(), numbers(10).slice(5, 5).to_data());
    assert_eq!(read(&second)[0].to_data(), numbers(20).to_data());
}

/// Tests that rows may change after `extend`, because the buffered values are copies.
#[test]
fn buffered_rows_pin_no_arrays() {
    let (file, _handle) = file();
    let array = numbers(10);
    let schema = arrow_schema(&[("x", array.clone())]);
    let mut writer =
        TableWriter::create(&file, "Events", &schema, RNTupleWriteOptions::default(), &context(1))
            .unwrap();
    writer.extend(std::slice::from_ref(&array)).unwrap();
    let buffer = array.to_data().buffers()[0].clone();
    drop(array);
    assert_eq!(buffer.strong_count(), 1);
    assert_eq!(writer.entries(), 10);
}
