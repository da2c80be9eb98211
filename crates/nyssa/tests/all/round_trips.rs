//! What reading costs where every request takes 20 ms: round trips are counted, not seconds.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::Duration;

use crate::support::baskets::{File, Spec, be_f32, flat};
use arrow_array::{ArrayRef, Float32Array};
use arrow_schema::{DataType, Schema};
use nyssa::arrow::{Number, field};
use nyssa::merge::{Options as MergeOptions, merge};
use nyssa::open::open_dataset;
use nyssa::rntuple::write::{Options, SharedFile, TableWriter};
use nyssa::rootfile::RootFile;
use nyssa::rootfile::writer::{Options as FileOptions, RootFileWriter};
use nyssa::ttree::Reader;
use nyssa::{Context, Dataset};
use nyssa_io::testing::{Observed, SlowSource, serve};
use nyssa_io::{Cost, Limits, MemorySink, MemorySource, Source};

const COLUMNS: usize = 100;
const CLUSTERS: usize = 10;
/// Values of a column in a cluster.
const VALUES: usize = 2_000;

fn context() -> Context {
    Context::new(Some(2)).unwrap()
}

/// A link of 100 MB a second; `max_ranges` ranges may be in a request.
fn far(max_ranges: usize) -> Limits {
    let latency = Duration::from_millis(20);
    let cost = Cost { latency, range: Duration::from_micros(5), bandwidth: 100_000_000 };
    Limits { max_ranges, max_range_bytes: 8 << 20, concurrency: 8, cost }
}

/// Numbers that cannot be compressed much.
fn values(column: usize, cluster: usize) -> Vec<f32> {
    let mut state = (column * CLUSTERS + cluster) as u32 + 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32
    };
    (0..VALUES).map(|_| next()).collect()
}

fn name(column: usize) -> String {
    format!("c{column}")
}

/// The bytes of a file with an RNTuple of so many clusters.
fn ntuple() -> Vec<u8> {
    let (sink, handle) = MemorySink::new("memory.root");
    let file = RootFileWriter::create(Box::new(sink), FileOptions::default()).unwrap();
    let file = SharedFile::new(file);
    let fields = (0..COLUMNS).map(|column| field(&name(column), DataType::Float32));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let mut writer =
        TableWriter::create(&file, "Events", &schema, Options::default(), &context()).unwrap();
    for cluster in 0..CLUSTERS {
        let array = |column| -> ArrayRef { Arc::new(Float32Array::from(values(column, cluster))) };
        writer.extend(&(0..COLUMNS).map(array).collect::<Vec<_>>()).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    file.finish().unwrap();
    handle.take()
}

fn slow(name: &str, bytes: Vec<u8>, limits: Limits) -> Arc<SlowSource> {
    Arc::new(SlowSource::new(Arc::new(MemorySource::new(name, bytes)), limits))
}

/// Reads every `step`th column, and checks the values; what was asked for.
fn read(source: &SlowSource, dataset: &dyn Dataset, step: usize) -> Observed {
    source.reset();
    let columns: Vec<usize> = (0..COLUMNS).step_by(step).collect();
    let names: Vec<String> = columns.iter().map(|&column| name(column)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let arrays = dataset.read(&names, 0..dataset.num_entries(), &context()).unwrap();
    for (column, array) in columns.iter().zip(arrays) {
        let expected: Vec<f32> =
            (0..CLUSTERS).flat_map(|cluster| values(*column, cluster)).collect();
        let expected: ArrayRef = Arc::new(Float32Array::from(expected));
        assert!(array == expected, "column {column}");
    }
    source.observed()
}

/// Few round trips, many bytes in each, not many more than needed.
fn check(seen: Observed, needed: u64) {
    // Two megabytes come in the time that a request waits.
    let requests = needed.div_ceil(2_000_000) as usize;
    assert!(seen.requests <= 2 * requests + 2, "{seen:?}, {needed} bytes needed");
    assert!(seen.round_trips <= 3, "{seen:?}");
    assert!(seen.bytes >= needed, "{seen:?}, {needed} bytes needed");
}

#[test]
fn an_rntuple_takes_few_round_trips() {
    let bytes = ntuple();
    for max_ranges in [1024, 16] {
        let source = slow("far.root", bytes.clone(), far(max_ranges));
        let dataset = open_dataset(&RootFile::open(source.clone()).unwrap(), None).unwrap();
        let seen = source.observed();
        assert!(seen.requests <= 2, "opening the file and the RNTuple: {seen:?}");
        assert_eq!(dataset.clusters().len(), CLUSTERS);
        for step in [1, 2, 10] {
            let seen = read(&source, dataset.as_ref(), step);
            let needed = (COLUMNS.div_ceil(step) * CLUSTERS * VALUES * 3) as u64;
            match (max_ranges, step) {
                (16, 10) => {
                    // A hundred ranges too far from each other for a gap to be read over.
                    assert!(seen.requests <= 10 && seen.round_trips <= 3, "{seen:?}");
                }
                _ => check(seen, needed),
            }
        }
    }
}

#[test]
fn a_ttree_takes_few_round_trips() {
    let mut file = File::new((CLUSTERS * VALUES) as u64);
    for column in 0..COLUMNS {
        let specs: Vec<Spec> = (0..CLUSTERS)
            .map(|cluster| Spec::new(VALUES, be_f32(&values(column, cluster))))
            .collect();
        file = file.branch(&name(column), flat(Number::Float32), &specs, false);
    }
    for max_ranges in [1024, 16] {
        let source = slow("far.root", file.bytes.clone(), far(max_ranges));
        let reader = Reader::from_tree(source.clone(), "t", file.tree.clone());
        for step in [1, 2, 10] {
            let seen = read(&source, &reader, step);
            check(seen, (COLUMNS.div_ceil(step) * CLUSTERS * VALUES * 4) as u64);
        }
    }
}

#[test]
fn a_merge_takes_few_round_trips() {
    let bytes = ntuple();
    let folder = tempfile::tempdir().unwrap();
    for max_ranges in [1024, 16] {
        let inputs: Vec<Arc<SlowSource>> = (0..2)
            .map(|input| {
                let name = format!("test://merge-{max_ranges}-{input}.root");
                slow(&name, bytes.clone(), far(max_ranges))
            })
            .collect();
        inputs.iter().for_each(|input| serve(input.clone()));
        let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
        let output = folder.path().join(format!("{max_ranges}.root"));
        let report = merge(&names, &output, &MergeOptions::default(), &context()).unwrap();
        assert_eq!(
            (report.written.entries, report.written.clusters),
            ((2 * CLUSTERS * VALUES) as u64, 20)
        );
        for input in inputs {
            let seen = input.observed();
            // Looked at, opened again with what is to be carried over and to be moved, and 6 MB of pages.
            assert!(seen.round_trips <= 10, "{seen:?}");
            assert!(seen.requests <= 16, "{seen:?}");
        }
        let merged = open_dataset(&RootFile::open(nyssa_io::open(&output).unwrap()).unwrap(), None);
        let first = merged.unwrap().read(&["c7"], 0..VALUES as u64, &context()).unwrap();
        let expected: ArrayRef = Arc::new(Float32Array::from(values(7, 0)));
        assert!(first[0] == expected);
    }
}
