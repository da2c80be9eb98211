//! Counts round trips, not seconds, where every request takes 20 ms.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::support::baskets::{File, Spec, be_f32, flat};
use arrow_array::{ArrayRef, Float32Array};
use arrow_schema::{DataType, Schema};
use nyssa_data::Dataset;
use nyssa_data::view::{Chain, ChainOptions};
use nyssa_io::testing::{Observed, SlowSource, WithVersion, serve, times_opened};
use nyssa_io::{Cost, Limits, MemorySink, MemorySource, OpenOptions, Source};
use nyssa_jobs::convert::{ToRNTuple, convert};
use nyssa_jobs::merge::{MergeOptions, merge};
use nyssa_jobs::open::{link, open_dataset};
use nyssa_jobs::rewrite::{RewriteOptions, rewrite};
use nyssa_jobs::tune::inspect::inspect_ntuple;
use nyssa_jobs::verify::verify;
use nyssa_rntuple::read as rntuple;
use nyssa_rntuple::write::{
    DEFAULT_APPROX_ZIPPED_CLUSTER, Encodings, RNTupleWriteOptions, SharedFile, TableWriter,
};
use nyssa_root::Context;
use nyssa_root::arrow::{Number, field};
use nyssa_root::compression::Compression;
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_ttree::Reader;

const COLUMNS: usize = 100;
const CLUSTERS: usize = 10;
/// The number of values of a column in a cluster.
const VALUES: usize = 2_000;

pub fn context() -> Context {
    Context::new(Some(2)).unwrap()
}

/// A link of 100 MB a second; `max_ranges` ranges may be in a request.
pub fn far(max_ranges: usize) -> Limits {
    let latency = Duration::from_millis(20);
    let cost = Cost { latency, range: Duration::from_micros(5), bandwidth: 100_000_000 };
    Limits { max_ranges, max_range_bytes: 8 << 20, concurrency: 8, cost, ..Limits::NONE }
}

/// Returns numbers that cannot be compressed much.
fn values(column: usize, cluster: usize) -> Vec<f32> {
    let mut state = (column * CLUSTERS + cluster) as u32 + 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32
    };
    (0..VALUES).map(|_| next()).collect()
}

pub fn name(column: usize) -> String {
    format!("c{column}")
}

/// Returns the bytes of a file with an RNTuple of so many clusters.
pub fn ntuple(clusters: Range<usize>) -> Vec<u8> {
    ntuple_behind(0, clusters)
}

/// The size of an object beside the RNTuple, in bytes.
const OBJECT_BYTES: usize = 10_000;

/// Returns the bytes of a file with so many objects before the RNTuple.
fn ntuple_behind(objects: usize, clusters: Range<usize>) -> Vec<u8> {
    ntuple_with(objects, clusters, VALUES, RNTupleWriteOptions::default())
}

/// Returns the bytes of the same file with so many values of each column in a cluster.
fn ntuple_with(
    objects: usize,
    clusters: Range<usize>,
    count: usize,
    options: RNTupleWriteOptions,
) -> Vec<u8> {
    let (sink, handle) = MemorySink::new("memory.root");
    let mut file = RootFileWriter::create(Box::new(sink), FileOptions::default()).unwrap();
    for object in 0..objects {
        let (name, payload) = (format!("o{object}"), [(object % 256) as u8; OBJECT_BYTES]);
        file.write_object("", "C", &name, "", &payload, Compression::NONE).unwrap();
    }
    let file = SharedFile::new(file);
    let fields = (0..COLUMNS).map(|column| field(&name(column), DataType::Float32));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let mut writer = TableWriter::create(&file, "Events", &schema, options, &context()).unwrap();
    for cluster in clusters {
        let array = |column| -> ArrayRef {
            Arc::new(Float32Array::from(values(column, cluster)[..count].to_vec()))
        };
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

/// Checks that there are few round trips with many bytes in each, and not many more than needed.
fn check(seen: Observed, needed: u64) {
    // Two megabytes come in the time that a request waits.
    let requests = needed.div_ceil(2_000_000) as usize;
    assert!(seen.requests <= 2 * requests + 2, "{seen:?}, {needed} bytes needed");
    assert!(seen.round_trips <= 3, "{seen:?}");
    assert!(seen.bytes >= needed, "{seen:?}, {needed} bytes needed");
}

/// Tests that of several cluster groups only the page lists of the entries that are read are fetched.
#[test]
fn page_lists_of_other_entries_stay_where_they_are() {
    const GROUPS: usize = 12;
    let options = RNTupleWriteOptions {
        clusters_per_group: 5,
        compression: Compression::NONE,
        ..RNTupleWriteOptions::default()
    };
    let bytes = ntuple_with(0, 0..5 * GROUPS, 200, options);
    let near = open_dataset(&opened(Arc::new(MemorySource::new("near.root", bytes.clone()))), None);
    let near = near.unwrap();
    let lists = {
        let reader = rntuple::Reader::open(
            &opened(Arc::new(MemorySource::new("near.root", bytes.clone()))),
            "Events",
        );
        let groups = &reader.unwrap().footer().cluster_groups.clone();
        assert_eq!(groups.len(), GROUPS);
        groups.iter().map(|group| group.page_list.locator).collect::<Vec<_>>()
    };
    let all: u64 = lists.iter().map(|list| list.size).sum();
    assert!(all > 64 << 10, "{all} bytes of page lists");
    let source = slow("far.root", bytes.clone(), far(1024));
    let dataset = open_dataset(&RootFile::open(source.clone()).unwrap(), None).unwrap();
    let opening = source.observed();
    let entries = 5 * GROUPS as u64 * 200;
    assert_eq!(dataset.num_entries(), entries);
    assert!(opening.round_trips <= 2, "{opening:?}");
    // Some entries of the third cluster group: its page list, then the pages.
    let read =
        |dataset: &dyn Dataset, entries| dataset.read(&["c90"], entries, &context()).unwrap();
    source.reset();
    assert!(read(&*dataset, 2_010..2_020) == read(&*near, 2_010..2_020));
    let seen = source.observed();
    assert_eq!(seen.round_trips, 2, "{seen:?}");
    assert!(seen.bytes <= lists[2].size + 1_000, "{seen:?}, {} bytes", lists[2].size);
    // The group is known now, and others are read together.
    source.reset();
    assert!(read(&*dataset, 2_030..2_900) == read(&*near, 2_030..2_900));
    assert_eq!(source.observed().round_trips, 1);
    source.reset();
    assert!(read(&*dataset, 0..entries) == read(&*near, 0..entries));
    let seen = source.observed();
    assert_eq!(seen.round_trips, 2, "{seen:?}");
    assert_eq!(dataset.clusters(), near.clusters());
    assert_eq!(source.observed().bytes, seen.bytes);
    // The ends of clusters are in the page lists.
    source.reset();
    let again = open_dataset(&RootFile::open(source.clone()).unwrap(), None).unwrap();
    assert_eq!(again.clusters(), near.clusters());
    assert_eq!(again.clusters().len(), 5 * GROUPS);
    assert!(source.observed().round_trips <= 3, "{:?}", source.observed());
    // A page list that is damaged is an error of its entries.
    let mut damaged = bytes;
    damaged[lists[1].offset as usize + 20] ^= 1;
    let source = slow("damaged.root", damaged, far(1024));
    let dataset = open_dataset(&RootFile::open(source).unwrap(), None).unwrap();
    assert!(read(&*dataset, 0..1_000) == read(&*near, 0..1_000));
    let error = dataset.read(&["c90"], 900..1_001, &context()).unwrap_err();
    assert_eq!(error.kind(), nyssa_root::error::Kind::Checksum, "{error}");
    assert!(error.to_string().contains("damaged.root"), "{error}");
    assert_eq!(dataset.clusters().len(), 5 * GROUPS - 4);
}

fn opened(source: Arc<dyn Source>) -> RootFile {
    RootFile::open(source).unwrap()
}

#[test]
fn an_rntuple_takes_few_round_trips() {
    let bytes = ntuple(0..CLUSTERS);
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
    let bytes = ntuple(0..CLUSTERS);
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
            // Opened, and 6 MB of pages.
            assert_eq!(times_opened(input.name()), 1);
            assert!(seen.round_trips <= 3 && seen.requests <= 6, "{seen:?}");
            assert!(seen.bytes <= input.size() * 105 / 100, "{seen:?}");
        }
        let merged = open_dataset(&RootFile::open(nyssa_io::open(&output).unwrap()).unwrap(), None);
        let first = merged.unwrap().read(&["c7"], 0..VALUES as u64, &context()).unwrap();
        let expected: ArrayRef = Arc::new(Float32Array::from(values(7, 0)));
        assert!(first[0] == expected);
    }
}

/// Makes so many remote files of one cluster each, behind one link.
fn files(word: &str, count: usize) -> Vec<Arc<SlowSource>> {
    let link = slow("link.root", Vec::new(), far(1024));
    let files = (0..count).map(|number| {
        let url = format!("test://{word}-{number}.root");
        let bytes = ntuple(number % CLUSTERS..number % CLUSTERS + 1);
        Arc::new(link.beside(Arc::new(MemorySource::new(&url, bytes))))
    });
    let files: Vec<_> = files.collect();
    files.iter().for_each(|file| serve(file.clone()));
    files
}

#[test]
fn a_merge_of_many_files_takes_few_round_trips() {
    const FILES: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    for (recluster, most) in [(false, 7), (true, 25)] {
        let inputs = files(&format!("many-{recluster}"), FILES);
        let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
        let output = folder.path().join(format!("{recluster}.root"));
        let open = OpenOptions::default();
        let mut options = MergeOptions { open: open.clone(), ..MergeOptions::default() };
        options.storage.cluster_size = recluster.then_some(DEFAULT_APPROX_ZIPPED_CLUSTER);
        let report = merge(&names, &output, &options, &context()).unwrap();
        assert_eq!(report.written.entries, (FILES * VALUES) as u64);
        let seen = inputs[0].observed();
        let size: u64 = inputs.iter().map(|input| input.size()).sum();
        assert!(seen.round_trips <= most, "{seen:?}");
        check_counts(&open, seen.requests, seen.bytes);
        // Pages that lie partly at an end come with the request for that end, and once more.
        assert!(seen.bytes <= size * 120 / 100, "{seen:?}, {size} bytes");
        for input in &inputs {
            assert_eq!(times_opened(input.name()), 1, "{}", input.name());
        }
        let merged = open_dataset(&RootFile::open(nyssa_io::open(&output).unwrap()).unwrap(), None);
        let column = merged.unwrap().read(&["c7"], 0..(FILES * VALUES) as u64, &context()).unwrap();
        let expected = (0..FILES).flat_map(|number| values(7, number % CLUSTERS));
        let expected: ArrayRef = Arc::new(Float32Array::from(expected.collect::<Vec<_>>()));
        assert!(column[0] == expected);
    }
}

#[test]
fn the_first_bad_file_of_a_merge_is_named() {
    let inputs = files("bad", 3);
    let mut names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
    names.insert(2, "test://bad-first.root".to_owned());
    names.push("test://bad-second.root".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let error = merge(&names, &output, &MergeOptions::default(), &context()).unwrap_err();
    assert!(error.to_string().contains("bad-first.root"), "{error}");
    assert!(!output.exists());
}

#[test]
fn a_chain_takes_few_round_trips() {
    let bytes = ntuple(0..CLUSTERS);
    let urls: Vec<String> = (0..3).map(|file| format!("test://chain-{file}.root")).collect();
    let sources: Vec<_> = urls.iter().map(|url| slow(url, bytes.clone(), far(1024))).collect();
    sources.iter().for_each(|source| serve(source.clone()));
    let open = OpenOptions::default();
    let links = urls.iter().map(|url| link(url, &open)).collect();
    let chain = Chain::new(links, &ChainOptions::default(), &context()).unwrap();
    let (mut requests, mut read) = (0, 0);
    assert_eq!(chain.num_entries(), (3 * CLUSTERS * VALUES) as u64);
    for source in &sources {
        let seen = source.observed();
        assert!(seen.requests <= 2, "opening a file: {seen:?}");
        assert!(seen.bytes < bytes.len() as u64 / 4, "opening a file: {seen:?}");
        (requests, read) = (requests + seen.requests, read + seen.bytes);
        source.reset();
    }
    let names = ["c3", "c50"];
    let arrays = chain.read(&names, 0..chain.num_entries(), &context()).unwrap();
    for (column, array) in [3, 50].into_iter().zip(arrays) {
        let column_values = (0..CLUSTERS).flat_map(|cluster| values(column, cluster));
        let expected: Vec<f32> = std::iter::repeat_n(column_values, 3).flatten().collect();
        let expected: ArrayRef = Arc::new(Float32Array::from(expected));
        assert!(array == expected, "column {column}");
    }
    for source in &sources {
        let seen = source.observed();
        // Two columns of all clusters, and nothing is opened again.
        assert!(seen.requests <= 2 && seen.round_trips <= 2, "{seen:?}");
        assert!(seen.bytes < bytes.len() as u64 / 4, "{seen:?}");
        (requests, read) = (requests + seen.requests, read + seen.bytes);
    }
    check_counts(&open, requests, read);
    assert_eq!(open.stats.counts().open_unique_files, 3);
    let [options] = &chain.open_options()[..] else { panic!("one for all files") };
    assert!(options.stats.is_same(&open.stats));
}

#[test]
fn a_chain_of_many_files_reads_what_it_needs() {
    const FILES: usize = 60;
    let bytes = ntuple(0..4);
    let urls: Vec<_> = (0..FILES).map(|file| format!("test://alike/{file}.root")).collect();
    let serve_one = |url: &String| {
        let source = slow(url, bytes.clone(), far(1024));
        serve(Arc::new(WithVersion::new(source.clone(), "one")));
        source
    };
    let sources: Vec<_> = urls.iter().map(serve_one).collect();
    let open = OpenOptions::default();
    let links = urls.iter().map(|url| link(url, &open)).collect();
    let chain = Chain::new(links, &ChainOptions::default(), &context()).unwrap();
    let names: Vec<String> = (0..COLUMNS).step_by(4).map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    chain.read(&names, 0..chain.num_entries(), &context()).unwrap();
    let all: Vec<Observed> = sources.iter().map(|source| source.observed()).collect();
    // The metadata by one request, also of files that are opened twice, and the columns by three that are made together.
    assert!(all.iter().all(|seen| seen.requests <= 4), "{all:?}");
    assert!(urls.iter().all(|url| times_opened(url) <= 2));
    assert!(urls.iter().any(|url| times_opened(url) == 2));
    let seen = all.iter().map(|seen| seen.bytes).sum::<u64>() as f64 / FILES as f64;
    let file = RootFile::open(Arc::new(MemorySource::new("a", bytes))).unwrap();
    let report = inspect_ntuple(&rntuple::Reader::open(&file, "Events").unwrap()).unwrap();
    let stored =
        report.columns.iter().step_by(4).map(|column| column.part.stored_bytes).sum::<u64>();
    let needed = (stored + report.metadata_bytes) as f64;
    assert!(seen <= 1.05 * needed, "{seen} of {needed} bytes");
}

/// Compares what was counted for files that were opened by `options` with what their sources saw.
fn check_counts(options: &OpenOptions, requests: usize, bytes: u64) {
    let counts = options.stats.counts();
    assert_eq!(counts.iops_read + counts.iops_readv, requests as u64);
    assert_eq!(counts.bytes(), bytes);
}

#[test]
fn copied_objects_take_few_round_trips() {
    const OBJECTS: usize = 300;
    let bytes = ntuple_behind(OBJECTS, 0..CLUSTERS);
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let source = slow("far.root", bytes.clone(), far(1024));
    let file = RootFile::open(source.clone()).unwrap();
    let options = RewriteOptions { include: vec!["c7".to_owned()], ..RewriteOptions::default() };
    let report = rewrite(&file, "Events", &output, &options, &context()).unwrap();
    assert_eq!(report.reencoded.carried.len(), OBJECTS, "{:?}", report.reencoded.left_out);
    let seen = source.observed();
    // Opened, looked at, one column and its samples, and all objects together.
    assert!(seen.requests <= 8 && seen.round_trips <= 6, "{seen:?}");
    assert!(seen.bytes > (OBJECTS * OBJECT_BYTES) as u64, "{seen:?}");
    assert!(seen.bytes < bytes.len() as u64 / 2, "{seen:?}");
    let written = RootFile::open(nyssa_io::open(&output).unwrap()).unwrap();
    let last = written.payload(&written.find("o299").unwrap()).unwrap();
    assert!(last == [(299 % 256) as u8; OBJECT_BYTES]);
}

/// Returns a file of the test data, far away.
fn far_file(name: &str, path: &str) -> Arc<SlowSource> {
    slow(name, std::fs::read(nyssa_testdata::data(path)).unwrap(), far(1024))
}

/// A file with 654 branches and 980 kB.
const NANO: &str = "agc/nano_tt_v12.root";

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_conversion_takes_few_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    // Encoding auto also looks at samples from other places, which have gaps between them.
    let encodings = [(Encodings::Default, 110), (Encodings::Auto, 115)];
    let sizes = [(50_000_000, 1), (100_000, 5)];
    let both = |size| encodings.map(|encoding| (size, encoding));
    for ((cluster_size, clusters), (encoding, percent)) in sizes.into_iter().flat_map(both) {
        let mut options = ToRNTuple::default();
        options.storage.encoding = Some(encoding);
        options.storage.cluster_size = Some(cluster_size);
        options.output.reproducible = true;
        // The name of the output is written into it.
        options.output.force = true;
        let convert = |source: Arc<dyn Source>| {
            let output = folder.path().join("out.root");
            let file = RootFile::open(source).unwrap();
            let report = convert(&file, "Events", &output, &options, &context()).unwrap();
            assert_eq!((report.written.clusters, report.fields.len()), (clusters, 654));
            std::fs::read(output).unwrap()
        };
        let source = far_file("nano.root", NANO);
        let written = convert(source.clone());
        let seen = source.observed();
        // Opened in 3, samples of all branches, and what the samples lack. The clusters share most baskets.
        assert!(seen.round_trips <= 6 && seen.requests <= 8, "{seen:?}");
        // Nothing comes twice, but gaps between the baskets of samples are read over.
        assert!(seen.bytes <= source.size() * percent / 100, "{seen:?}");
        let near =
            MemorySource::new("nano.root", std::fs::read(nyssa_testdata::data(NANO)).unwrap());
        assert!(written == convert(Arc::new(near)), "the bytes depend on the source");
    }
}

#[test]
fn verifying_an_rntuple_takes_few_round_trips() {
    let source = slow("far.root", ntuple(0..CLUSTERS), far(1024));
    let report = verify(source.clone(), None, &context()).unwrap();
    assert_eq!(report.sound, Some(true));
    let seen = source.observed();
    // Opened in one, and all clusters together.
    check(seen, (COLUMNS * CLUSTERS * VALUES * 3) as u64);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn verifying_a_ttree_takes_few_round_trips() {
    let source = far_file("far.root", NANO);
    let report = verify(source.clone(), None, &context()).unwrap();
    assert_eq!(report.sound, Some(true));
    let seen = source.observed();
    // Three trees.
    assert!(seen.round_trips <= 5 && seen.requests <= 6, "{seen:?}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn opening_and_reading_a_ttree_take_few_round_trips() {
    // A small file is read as a whole.
    for (path, opening) in [(NANO, 3), ("ttree/nanoAOD_2015_CMS_Open_Data_ttbar.root", 1)] {
        let source = far_file("far.root", path);
        let file = RootFile::open(source.clone()).unwrap();
        let tree = open_dataset(&file, Some("Events")).unwrap();
        let seen = source.observed();
        assert!(seen.requests <= opening, "{seen:?}");
        source.reset();
        let step = tree.columns().len() / 10;
        let names: Vec<_> = tree.columns().iter().step_by(step).map(|c| c.name.as_str()).collect();
        tree.read(&names, 0..tree.num_entries(), &context()).unwrap();
        let seen = source.observed();
        // The sizes of lists, and the lists.
        assert!(seen.requests <= 2, "{seen:?}");
    }
}

#[test]
fn what_is_opened_is_read_by_few_requests() {
    let source = slow("far.root", ntuple(0..CLUSTERS), far(1024));
    let file = RootFile::open(source.clone()).unwrap();
    let dataset = open_dataset(&file, None).unwrap();
    assert_eq!((dataset.columns().len(), dataset.clusters().len()), (COLUMNS, CLUSTERS));
    let seen = source.observed();
    assert!(seen.requests <= 2, "{seen:?}");
    // A file that fits into what is read at once takes one.
    let small = nyssa_testdata::testdata("ttree/baskets.root");
    let source = slow("small.root", std::fs::read(small).unwrap(), far(1024));
    let file = RootFile::open(source.clone()).unwrap();
    for key in nyssa_jobs::open::datasets(&file).unwrap() {
        let tree = open_dataset(&file, Some(&key.path)).unwrap();
        let names: Vec<_> = tree.columns().iter().filter(|c| c.field.is_ok()).collect();
        let names: Vec<_> = names.iter().map(|column| column.name.as_str()).collect();
        tree.read(&names, 0..tree.num_entries(), &context()).unwrap();
    }
    assert_eq!(source.observed().requests, 1);
}
