//! Fills one RNTuple from many contexts: it has the same rows in the order that was promised, and nothing is lost in
//! silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::*;
use arrow_schema::DataType;
use nyssa_data::Dataset;
use nyssa_io::MemoryHandle;
use nyssa_rntuple::write::{FillContext, Order, ParallelWriter, RNTupleWriteOptions, SharedFile};
use nyssa_root::Kind;

use crate::support::writing::*;

/// Returns the rows `start..start + count` of two columns: a number, and a list of so many times that number.
fn rows(start: i64, count: i64) -> Vec<ArrayRef> {
    let numbers = Int64Array::from_iter_values(start..start + count);
    let lists = (start..start + count)
        .map(|i| Some((0..i % 4).map(|_| Some(i)).collect::<Vec<_>>()))
        .collect::<Vec<_>>();
    vec![Arc::new(numbers), Arc::new(LargeListArray::from_iter_primitive::<Int64Type, _, _>(lists))]
}

/// Writes 16 bytes of number and offset and about 12 of items for each row: clusters have some 20 rows.
fn small_clusters() -> RNTupleWriteOptions {
    RNTupleWriteOptions {
        approx_zipped_cluster: 600,
        contexts: Some(8),
        ..RNTupleWriteOptions::default()
    }
}

fn begin(options: RNTupleWriteOptions, order: Order) -> (SharedFile, MemoryHandle, ParallelWriter) {
    let (file, handle) = file();
    let columns = [("x", DataType::Int64), ("v", list_type(DataType::Int64))];
    let fields = columns.map(|(name, data_type)| nyssa_root::arrow::field(name, data_type));
    let schema = arrow_schema::Schema::new(fields.to_vec());
    let writer =
        ParallelWriter::create(&file, "Events", &schema, options, order, &context(2)).unwrap();
    (file, handle, writer)
}

/// Returns the numbers in the order of the file, after checking the lists.
fn numbers(bytes: Vec<u8>) -> Vec<i64> {
    let reader = reader(bytes, "Events");
    let arrays = read(&reader);
    let numbers = arrays[0].as_primitive::<Int64Type>().values().to_vec();
    let lists = arrays[1].as_list::<i64>();
    for (row, &number) in numbers.iter().enumerate() {
        let list = lists.value(row);
        assert_eq!(list.len() as i64, number % 4);
        assert!(list.as_primitive::<Int64Type>().values().iter().all(|&item| item == number));
    }
    numbers
}

/// Each of `contexts` threads fills its part of 1000 rows in batches of 7, at its own pace.
fn fill(contexts: i64, order: Order, pause: impl Fn(i64) -> u64 + Sync) -> Vec<u8> {
    let (file, handle, writer) = begin(small_clusters(), order);
    let all = (0..contexts).map(|_| writer.context().unwrap()).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        for (index, mut context) in (0..).zip(all) {
            let pause = &pause;
            scope.spawn(move || {
                let (mut start, end) = (index * 1000 / contexts, (index + 1) * 1000 / contexts);
                while start < end {
                    let count = 7.min(end - start);
                    context.extend(&rows(start, count)).unwrap();
                    std::thread::sleep(Duration::from_micros(pause(index)));
                    start += count;
                }
                context.finish().unwrap();
            });
        }
    });
    assert_eq!(writer.finish().unwrap().entries, 1000);
    file.finish().unwrap();
    handle.take()
}

#[test]
fn rows_are_the_same_whatever_the_number_of_contexts() {
    for contexts in [1, 2, 3, 8] {
        let mut numbers = numbers(fill(contexts, Order::Completion, |_| 0));
        if contexts > 1 {
            numbers.sort_unstable();
        }
        assert_eq!(numbers, (0..1000).collect::<Vec<_>>(), "{contexts}");
    }
}

/// The bytes do not depend on who is fast; the clusters of the contexts take turns.
#[test]
fn a_fixed_order_gives_the_same_file() {
    let even = fill(3, Order::RoundRobin, |_| 0);
    assert_eq!(even, fill(3, Order::RoundRobin, |index| 300 * index as u64));
    assert_eq!(even, fill(3, Order::RoundRobin, |index| 600 - 300 * index as u64));
    let reader = reader(even.clone(), "Events");
    let numbers = numbers(even);
    let owners =
        reader.clusters().into_iter().map(|range| (numbers[range.start as usize] * 3 + 2) / 1000);
    let owners = owners.collect::<Vec<_>>();
    assert!(owners.len() > 10);
    assert_eq!(&owners[..6], [0, 1, 2, 0, 1, 2]);
}

/// Two contexts in one thread, one of them far ahead: nobody waits for anybody.
#[test]
fn uneven_contexts_do_not_block() {
    let (file, handle, writer) = begin(small_clusters(), Order::RoundRobin);
    let mut first = writer.context().unwrap();
    let mut second = writer.context().unwrap();
    second.extend(&rows(500, 300)).unwrap();
    assert_eq!(writer.entries(), 0);
    assert_eq!(writer.context().err().unwrap().kind(), Kind::InvalidArgument);
    first.extend(&rows(0, 40)).unwrap();
    first.finish().unwrap();
    second.finish().unwrap();
    writer.finish().unwrap();
    file.finish().unwrap();
    let numbers = numbers(handle.take());
    assert_eq!(numbers.len(), 340);
    assert_eq!(numbers[0], 0);
    // Each context's own order is kept.
    let second = numbers.iter().copied().filter(|&n| n >= 500).collect::<Vec<_>>();
    assert_eq!(second, (500..800).collect::<Vec<_>>());
}

#[test]
fn rows_that_do_not_fit_leave_everything_usable() {
    let (file, handle, writer) = begin(small_clusters(), Order::Completion);
    let mut first = writer.context().unwrap();
    let mut second = writer.context().unwrap();
    first.extend(&rows(0, 10)).unwrap();
    let wrong: Vec<ArrayRef> = vec![Arc::new(Float32Array::from(vec![1.0])), rows(0, 1)[1].clone()];
    let error = first.extend(&wrong).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    first.extend(&rows(10, 10)).unwrap();
    second.extend(&rows(20, 10)).unwrap();
    first.finish().unwrap();
    second.finish().unwrap();
    writer.finish().unwrap();
    file.finish().unwrap();
    assert_eq!(numbers(handle.take()), (0..30).collect::<Vec<_>>());
}

#[test]
fn nothing_is_lost_in_silence() {
    let message = |end: fn(FillContext)| {
        let (_file, _, writer) = begin(small_clusters(), Order::Completion);
        let mut context = writer.context().unwrap();
        context.extend(&rows(0, 3)).unwrap();
        end(context);
        writer.finish().map_err(|error| error.to_string())
    };
    assert_eq!(
        message(drop).unwrap_err(),
        "the RNTuple cannot be completed: a fill context was dropped with 3 entries in it"
    );
    assert_eq!(
        message(std::mem::forget).unwrap_err(),
        "the RNTuple cannot be completed: 1 of 1 fill contexts were not finished"
    );
    let panicked = message(|context| {
        let thread = std::thread::spawn(move || {
            let _context = context;
            std::panic::resume_unwind(Box::new("expected"));
        });
        assert!(thread.join().is_err());
    });
    assert_eq!(panicked, message(drop));
    assert_eq!(message(|context| assert_eq!(context.discard().unwrap(), 3)).unwrap().entries, 0);
    assert_eq!(message(|context| context.finish().unwrap()).unwrap().entries, 3);
}

#[test]
fn contexts_after_the_end_are_refused() {
    let (file, _, writer) = begin(small_clusters(), Order::Completion);
    let mut context = writer.context().unwrap();
    context.extend(&rows(0, 3)).unwrap();
    assert!(writer.finish().is_err());
    drop(file);
    let error = context.extend(&rows(3, 3)).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
}

#[test]
fn more_contexts_than_the_memory_is_shared_among_are_refused() {
    let options = RNTupleWriteOptions { contexts: Some(2), ..RNTupleWriteOptions::default() };
    let (_file, _, writer) = begin(options, Order::Completion);
    let first = writer.context().unwrap();
    let _second = writer.context().unwrap();
    assert!(writer.context().is_err());
    first.finish().unwrap();
    writer.context().unwrap();
}

#[test]
fn cancelling_stops_all_contexts() {
    let (file, _handle) = file();
    let cancel = Arc::new(AtomicBool::new(false));
    let stoppable = context(2).with_cancel(Arc::clone(&cancel));
    let schema = arrow_schema(&[("x", rows(0, 1)[0].clone())]);
    let options = small_clusters();
    let writer =
        ParallelWriter::create(&file, "Events", &schema, options, Order::Completion, &stoppable)
            .unwrap();
    let mut first = writer.context().unwrap();
    let mut second = writer.context().unwrap();
    first.extend(&rows(0, 100)[..1]).unwrap();
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(first.extend(&rows(0, 1000)[..1]).unwrap_err().kind(), Kind::Cancelled);
    cancel.store(false, Ordering::Relaxed);
    assert_eq!(second.extend(&rows(0, 1000)[..1]).unwrap_err().kind(), Kind::InvalidArgument);
    assert!(writer.finish().is_err());
}

/// Pages of several contexts lie between each other; the values are the same.
#[test]
fn unbuffered_contexts_write_pages_at_once() {
    let options =
        RNTupleWriteOptions { buffered: false, max_unzipped_page: 256, ..small_clusters() };
    let fixed = {
        let (file, _) = file();
        let schema = arrow_schema(&[("x", rows(0, 1)[0].clone())]);
        let (order, options) = (Order::RoundRobin, options.clone());
        ParallelWriter::create(&file, "Events", &schema, options, order, &context(1)).err()
    };
    assert_eq!(fixed.unwrap().kind(), Kind::InvalidArgument);
    let options = RNTupleWriteOptions { approx_zipped_cluster: 20_000, ..options };
    let (file, handle, writer) = begin(options, Order::Completion);
    let mut first = writer.context().unwrap();
    let mut second = writer.context().unwrap();
    for start in (0..200).step_by(20) {
        first.extend(&rows(start, 20)).unwrap();
        second.extend(&rows(200 + start, 20)).unwrap();
    }
    first.finish().unwrap();
    second.finish().unwrap();
    assert_eq!(writer.finish().unwrap().clusters, 2);
    file.finish().unwrap();
    assert_eq!(numbers(handle.take()), (0..400).collect::<Vec<_>>());
}
