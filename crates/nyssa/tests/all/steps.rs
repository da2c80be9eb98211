//! Steps of a dataset: their values, their sizes, and that nothing is read twice.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::support::baskets::*;
use arrow_array::{Array, ArrayRef, BooleanArray, Float32Array, LargeListArray, UInt32Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef, Schema};
use nyssa_data::dataset::AnyDataset;
use nyssa_data::dataset::steps::{InputPart, StepSize, Steps};
use nyssa_io::testing::{RecordingSource, SlowSource};
use nyssa_io::{Cost, Limits, MemorySink, MemorySource};
use nyssa_jobs::open::open_dataset;
use nyssa_rntuple::write::{RNTupleWriteOptions, SharedFile, TableWriter};
use nyssa_root::Context;
use nyssa_root::arrow::Number;
use nyssa_root::arrow::{field, memory};
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_ttree::{Reader, Tree};

const ENTRIES: u64 = 1000;

fn recorded(bytes: Vec<u8>) -> Arc<RecordingSource> {
    Arc::new(RecordingSource::new(Arc::new(MemorySource::new("test.root", bytes))))
}

fn counts() -> Vec<i32> {
    (0..ENTRIES).map(|entry| (entry * 7 % 5) as i32).collect()
}

/// Returns a tree whose branches have baskets that end at entries of their own.
fn tree_file() -> File {
    let starts = |each: usize| (0..ENTRIES as usize).step_by(each);
    let end = |start: usize, each: usize| (start + each).min(ENTRIES as usize);
    let counts = &counts();
    let counters = starts(170).map(|start| {
        let values = &counts[start..end(start, 170)];
        Spec::new(values.len(), be_i32(values))
    });
    let value =
        |entry: usize| (0..counts[entry]).map(move |item| (entry * 10) as f32 + item as f32);
    let value = &value;
    let jagged_spec = |with_offsets: bool| {
        move |start: usize| {
            let entries = start..end(start, 130);
            let values = entries.clone().flat_map(value).collect::<Vec<f32>>();
            let spec = Spec::new(entries.len(), be_f32(&values));
            let mut at = 0;
            let offsets = entries.map(|entry| {
                let next = at + 4 * counts[entry];
                std::mem::replace(&mut at, next)
            });
            if with_offsets { spec.with_offsets(&offsets.collect::<Vec<_>>()) } else { spec }
        }
    };
    let flags = starts(333).map(|start| {
        let values = (start..end(start, 333)).map(|entry| u8::from(entry % 3 == 0));
        Spec::new(end(start, 333) - start, values.collect::<Vec<_>>())
    });
    File::new(ENTRIES)
        .branch("n", flat(Number::Int32), &counters.collect::<Vec<_>>(), false)
        .branch(
            "x",
            jagged(Number::Float32, &[]),
            &starts(130).map(jagged_spec(true)).collect::<Vec<_>>(),
            false,
        )
        .branch(
            "y",
            jagged(Number::Float32, &[]),
            &starts(130).map(jagged_spec(false)).collect::<Vec<_>>(),
            false,
        )
        .branch("flag", flat(Number::Bool), &flags.collect::<Vec<_>>(), false)
}

fn tree() -> (Arc<RecordingSource>, AnyDataset) {
    tree_of(tree_file())
}

fn tree_of(file: File) -> (Arc<RecordingSource>, AnyDataset) {
    tree_in(recorded(file.bytes), file.tree)
}

/// The same bytes behind a network. Requests have no bytes that are not needed.
fn far(bytes: Vec<u8>) -> Arc<RecordingSource> {
    let cost =
        Cost { latency: Duration::from_micros(200), range: Duration::ZERO, bandwidth: u64::MAX };
    let limits = Limits { concurrency: 4, cost, gap: Some(0), ..Limits::NONE };
    let source = MemorySource::new("far.root", bytes);
    Arc::new(RecordingSource::new(Arc::new(SlowSource::new(Arc::new(source), limits))))
}

fn tree_in(source: Arc<RecordingSource>, tree: Tree) -> (Arc<RecordingSource>, AnyDataset) {
    let reader = Reader::from_tree(source.clone(), "t", tree);
    (source, Arc::new(reader))
}

/// Returns an RNTuple of several clusters, with pages that end at entries of their own.
fn ntuple() -> (Arc<RecordingSource>, AnyDataset) {
    ntuple_in(recorded)
}

fn ntuple_in(source: fn(Vec<u8>) -> Arc<RecordingSource>) -> (Arc<RecordingSource>, AnyDataset) {
    let lengths = counts().into_iter().map(|count| count as usize);
    let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
    let items = (0..offsets.last()).map(|item| item as f32).collect::<Vec<_>>();
    let list = |values: Vec<f32>| -> ArrayRef {
        let item = Arc::new(field("item", DataType::Float32));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets.to_vec()));
        Arc::new(LargeListArray::new(item, offsets, Arc::new(Float32Array::from(values)), None))
    };
    let columns: [(&str, ArrayRef); 4] = [
        ("number", Arc::new(UInt32Array::from_iter_values(0..ENTRIES as u32))),
        ("x", list(items.clone())),
        ("y", list(items.iter().map(|item| -item).collect())),
        ("flag", Arc::new(BooleanArray::from_iter((0..ENTRIES).map(|entry| Some(entry % 3 == 0))))),
    ];
    let (sink, handle) = MemorySink::new("memory.root");
    let file = RootFileWriter::create(Box::new(sink), FileOptions::default()).unwrap();
    let file = SharedFile::new(file);
    let fields = columns.iter().map(|(name, array)| field(name, array.data_type().clone()));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let options = RNTupleWriteOptions {
        approx_zipped_cluster: 5_000,
        max_unzipped_cluster: 10_000,
        initial_unzipped_page: 64,
        max_unzipped_page: 700,
        same_page_merging: false,
        ..RNTupleWriteOptions::default()
    };
    let context = Context::new(Some(1)).unwrap();
    let mut writer = TableWriter::create(&file, "Events", &schema, options, &context).unwrap();
    for start in (0..ENTRIES as usize).step_by(50) {
        let batch = columns.iter().map(|(_, array)| array.slice(start, 50));
        writer.extend(&batch.collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap();
    file.finish().unwrap();
    let source = source(handle.take());
    let dataset = open_dataset(&RootFile::open(source.clone()).unwrap(), None).unwrap();
    assert!(dataset.clusters().len() > 2);
    (source, dataset)
}

fn names(dataset: &AnyDataset) -> Vec<String> {
    dataset.columns().iter().map(|item| item.name.clone()).collect()
}

fn steps(dataset: &AnyDataset, entries: Range<u64>, size: StepSize) -> Steps<Vec<ArrayRef>> {
    let parts = InputPart::new(dataset, entries).alone();
    let finish = |_: &[FieldRef], arrays: Vec<ArrayRef>, _: u64, _: &Context| Ok((arrays, 0));
    Steps::new(parts, names(dataset), false, size, Arc::new(finish), Arc::default())
}

/// All steps, each but the first read ahead.
fn all(
    dataset: &AnyDataset,
    entries: Range<u64>,
    size: StepSize,
    context: &Context,
) -> Vec<(Range<u64>, Vec<ArrayRef>)> {
    let mut steps = steps(dataset, entries, size);
    let mut all = Vec::new();
    while let Some(step) = steps.next(context).unwrap() {
        steps.prepare(context).unwrap();
        assert_eq!(step.first, step.entries.start);
        all.push((step.entries, step.data));
    }
    assert!(steps.next(context).unwrap().is_none());
    all
}

/// Checks that steps follow each other and hold what one read of everything gives.
fn check(dataset: &AnyDataset, entries: &Range<u64>, steps: &[(Range<u64>, Vec<ArrayRef>)]) {
    let names = names(dataset);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let context = Context::new(Some(1)).unwrap();
    let whole = dataset.read(&names, entries.clone(), &context).unwrap();
    let mut at = entries.start;
    for (step, arrays) in steps {
        assert_eq!(step.start, at);
        at = step.end;
        for (whole, array) in whole.iter().zip(arrays) {
            let (start, length) = (step.start - entries.start, step.end - step.start);
            assert_eq!(&whole.slice(start as usize, length as usize), array, "{step:?}");
            if let Some(list) = array.as_any().downcast_ref::<LargeListArray>() {
                let first = list.value_offsets().first().copied().unwrap();
                assert_eq!(
                    (first, list.values().len() as i64),
                    (0, *list.value_offsets().last().unwrap())
                );
            }
        }
    }
    assert_eq!(at, entries.end);
}

#[test]
fn nothing_is_read_twice() {
    // Baskets that do not store where their entries lie need the counter of earlier entries, too.
    let mut file = tree_file();
    file.tree.branches.retain(|branch| branch.name != "y");
    for (source, dataset) in [tree_of(file), ntuple()] {
        for threads in [1, 3] {
            let context = Context::new(Some(threads)).unwrap();
            for size in [
                StepSize::Entries(1),
                StepSize::Entries(7),
                StepSize::Entries(64),
                StepSize::Entries(299),
                StepSize::Entries(5000),
                StepSize::Cluster,
                StepSize::Memory(60_000),
                StepSize::Memory(1 << 30),
            ] {
                source.reset();
                let steps = all(&dataset, 0..ENTRIES, size, &context);
                let mut ranges = source.trace().concat();
                check(&dataset, &(0..ENTRIES), &steps);
                ranges.sort_by_key(|range| range.start);
                let again = ranges.windows(2).find(|pair| pair[1].start < pair[0].end);
                assert_eq!(again, None, "{:?} {size:?}", dataset.format());
                if let StepSize::Entries(each) = size {
                    assert_eq!(steps.len() as u64, ENTRIES.div_ceil(each));
                }
            }
        }
    }
}

/// Returns the ranges of all requests that have bytes of an earlier one.
fn read_again(source: &RecordingSource) -> usize {
    let mut ranges = source.trace().concat();
    ranges.sort_by_key(|range| range.start);
    ranges.windows(2).filter(|pair| pair[1].start < pair[0].end).count()
}

/// Where memory has no room for a page until the next step, a file on the local disk has it.
#[test]
fn nothing_is_fetched_twice_whatever_the_memory() {
    let mut file = tree_file();
    file.tree.branches.retain(|branch| branch.name != "y");
    for is_far in [false, true] {
        let (bytes, tree) = (file.bytes.clone(), file.tree.clone());
        let source = if is_far { far } else { recorded };
        for (source, dataset) in [tree_in(source(bytes), tree), ntuple_in(source)] {
            for memory in [2_000, 10_000] {
                let context = Context::new(Some(2)).unwrap();
                source.reset();
                let steps = all(&dataset, 0..ENTRIES, StepSize::Memory(memory), &context);
                let again = read_again(&source);
                check(&dataset, &(0..ENTRIES), &steps);
                // The bytes of a near file are in memory anyway.
                assert_eq!(again == 0, is_far, "{:?} {memory}: {again}", dataset.format());
            }
        }
    }
}

#[test]
fn any_range_in_steps_of_any_size() {
    let context = Context::new(Some(2)).unwrap();
    let mut random = 7u64;
    let mut below = |limit: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % limit
    };
    for (_, dataset) in [tree(), ntuple()] {
        for _ in 0..40 {
            let start = below(ENTRIES);
            let entries = start..start + below(ENTRIES - start + 1);
            let size = match below(3) {
                0 => StepSize::Entries(1 + below(400)),
                1 => StepSize::Memory(1 + below(100_000)),
                _ => StepSize::Cluster,
            };
            let steps = all(&dataset, entries.clone(), size, &context);
            check(&dataset, &entries, &steps);
        }
    }
}

#[test]
fn steps_take_the_memory_that_they_may() {
    let (_, dataset) = ntuple();
    let context = Context::new(Some(1)).unwrap();
    let ends: Vec<u64> = dataset.clusters().iter().map(|cluster| cluster.end).collect();
    let sizes = |memory_bytes| {
        let steps = all(&dataset, 0..ENTRIES, StepSize::Memory(memory_bytes), &context);
        let bytes = steps.iter().map(|(_, arrays)| memory(arrays)).max().unwrap();
        (steps.iter().map(|(step, _)| step.end).collect::<Vec<_>>(), bytes)
    };
    let (all_ends, all_bytes) = sizes(1 << 30);
    assert_eq!(all_ends, [ENTRIES]);
    // Two clusters fit, then a part of one.
    let cluster = all_bytes * ends[0] / ENTRIES;
    let (step_ends, bytes) = sizes(cluster * 4);
    assert!(step_ends.iter().all(|end| ends.contains(end)), "{step_ends:?} {ends:?}");
    assert!(bytes < cluster * 2, "{bytes} {cluster}");
    let (step_ends, bytes) = sizes(cluster);
    assert!(ends.iter().all(|end| step_ends.contains(end)), "{step_ends:?} {ends:?}");
    assert!(
        step_ends.len() > 2 * ends.len() && bytes < cluster / 2,
        "{step_ends:?} {bytes} {cluster}"
    );
}

#[test]
fn a_damaged_basket_is_an_error_of_its_step() {
    let mut file = tree_file();
    // The class in the key of the third basket of x, with entries 260 to 390.
    let place = file.tree.branches[1].baskets[2].seek as usize;
    file.bytes[place + 26..place + 60].fill(0xFF);
    let dataset: AnyDataset = Arc::new(Reader::from_tree(recorded(file.bytes), "t", file.tree));
    let context = Context::new(Some(2)).unwrap();
    let mut steps = steps(&dataset, 0..ENTRIES, StepSize::Cluster);
    assert!(steps.next(&context).is_err());
    assert!(steps.next(&context).unwrap().is_none());
    let mut good = 0;
    let mut steps = self::steps(&dataset, 0..ENTRIES, StepSize::Entries(100));
    let error = loop {
        match steps.next(&context) {
            Ok(Some(step)) => good = step.entries.end,
            Ok(None) => panic!("no error"),
            Err(error) => break error,
        }
        steps.prepare(&context).unwrap();
    };
    assert_eq!(good, 200);
    assert_eq!(error.place().basket, Some(2));
    assert!(steps.next(&context).unwrap().is_none());
}

#[test]
fn dropped_steps_leave_no_thread_behind() {
    let (source, dataset) = ntuple();
    let context = Context::new(Some(2)).unwrap();
    for taken in 0..3 {
        let before = Arc::strong_count(&dataset);
        let mut steps = steps(&dataset, 0..ENTRIES, StepSize::Entries(10));
        for _ in 0..taken {
            steps.next(&context).unwrap().unwrap();
            steps.prepare(&context).unwrap();
        }
        drop(steps);
        assert_eq!(Arc::strong_count(&dataset), before);
    }
    drop(source);
}
