//! Tests merging of files that only Rust can write.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use nyssa_data::Dataset;
use nyssa_jobs::merge::{MergeOptions, merge};
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::write::{RNTupleWriteOptions, SharedFile, TableWriter};
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};

use crate::support::writing::{arrow_schema, context, read};

#[test]
fn pages_over_several_keys() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<i64> = (0..20_000).map(|number| number * 7_919 % 100_003).collect();
    let columns = [("number", Arc::new(Int64Array::from(numbers.clone())) as ArrayRef)];
    let paths: Vec<String> = [1000, 1 << 20]
        .into_iter()
        .map(|max_key_size| {
            let path = folder.path().join(format!("{max_key_size}.root"));
            let sink = nyssa_io::create(&path, false).unwrap();
            let options = FileOptions::default();
            let file = SharedFile::new(RootFileWriter::create(sink, options).unwrap());
            let options = RNTupleWriteOptions { max_key_size, ..RNTupleWriteOptions::default() };
            let schema = arrow_schema(&columns);
            let mut table = TableWriter::create(&file, "n", &schema, options, &context(1)).unwrap();
            table.extend(&[Arc::clone(&columns[0].1)]).unwrap();
            table.finish().unwrap();
            file.finish().unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect();
    let output = folder.path().join("merged.root");
    let report = merge(&paths, &output, &MergeOptions::default(), &context(2)).unwrap();
    assert_eq!(report.written.entries, 40_000);
    let file = RootFile::open(nyssa_io::open(&output).unwrap()).unwrap();
    let reader = Reader::open(&file, "n").unwrap();
    let arrays = read(&reader);
    let merged = arrays[0].as_any().downcast_ref::<Int64Array>().unwrap();
    assert_eq!(merged.values()[..20_000], numbers);
    assert_eq!(merged.values()[20_000..], numbers);
    let sizes = |reader: &Reader| -> Vec<u64> {
        let columns = reader.clusters_info().unwrap().iter().flat_map(|cluster| &cluster.columns);
        columns.flat_map(|range| &range.pages).map(|page| page.locator.size).collect()
    };
    assert!(sizes(&reader).iter().any(|&size| size > 1000), "{:?}", sizes(&reader));
    assert_eq!(reader.num_entries(), 40_000);
}
