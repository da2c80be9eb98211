//! The memory budget of writing is kept, whatever the rows and however many contexts: measured at the
//! allocator. In a crate of its own, since it counts the allocations of the whole process.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::*;
use arrow_schema::{DataType, Schema};
use nyssa_rntuple::schema;
use nyssa_rntuple::write::{
    FillContext, Order, ParallelWriter, RNTupleWriteOptions, SharedFile, TableWriter, estimate,
};
use nyssa_root::arrow::field;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::{Context, Kind};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(size: usize) {
    let now = NOW.fetch_add(size, Ordering::Relaxed) + size;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    // Not overridden, `realloc` allocates, copies and frees: the worst that a system's own can do.
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A sink that forgets the bytes that are written to it.
struct Nowhere;

impl nyssa_io::Sink for Nowhere {
    fn name(&self) -> &str {
        "nowhere"
    }

    fn write_at(&mut self, _: u64, _: &[u8]) -> nyssa_io::Result<()> {
        Ok(())
    }

    fn beside(&self) -> Option<Arc<dyn nyssa_io::WriteAt>> {
        Some(Arc::new(Self))
    }

    fn commit(self: Box<Self>) -> nyssa_io::Result<()> {
        Ok(())
    }
}

impl nyssa_io::WriteAt for Nowhere {
    fn write_at(&self, _: u64, _: &[u8]) -> nyssa_io::Result<()> {
        Ok(())
    }
}

fn file() -> SharedFile {
    SharedFile::new(RootFileWriter::create(Box::new(Nowhere), FileOptions::default()).unwrap())
}

/// Returns numbers that do not compress.
fn noise(count: usize, seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    })
    .take(count)
}

fn numbers(rows: usize, seed: u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(noise(rows, seed)))
}

/// Makes `rows` lists of `items` numbers each.
fn lists(rows: usize, items: usize, compressible: bool) -> ArrayRef {
    let offsets = (0..=rows).map(|row| (row * items) as i64).collect::<Vec<_>>();
    let values: ArrayRef = match compressible {
        true => Arc::new(UInt64Array::from_iter_values((0..rows * items).map(|i| i as u64 / 9))),
        false => numbers(rows * items, 5),
    };
    let item = Arc::new(field("item", DataType::UInt64));
    Arc::new(LargeListArray::new(
        item,
        arrow_buffer::OffsetBuffer::new(offsets.into()),
        values,
        None,
    ))
}

fn schema_of(arrays: &[ArrayRef]) -> Schema {
    let fields = arrays.iter().enumerate();
    let fields = fields.map(|(i, array)| field(&format!("c{i}"), array.data_type().clone()));
    Schema::new(fields.collect::<Vec<_>>())
}

/// Returns the peak of the memory that `write` allocates in addition to the memory before.
fn peak(write: impl FnOnce()) -> u64 {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    write();
    (PEAK.load(Ordering::Relaxed) - before) as u64
}

/// Writes `arrays` so many times from so many contexts, 0 for none; checks the peak and the estimate.
fn check(
    what: &str,
    arrays: &[ArrayRef],
    times: usize,
    options: &RNTupleWriteOptions,
    contexts: usize,
) {
    let threads = Context::new(Some(2)).unwrap();
    let arrow = schema_of(arrays);
    let rows = arrays[0].len() as u64;
    let options = RNTupleWriteOptions { contexts: Some(contexts.max(1)), ..options.clone() };
    let schema = schema::Schema::from_arrow(&arrow, options.compression).unwrap();
    let said = estimate(&schema, &options, Some(contexts).filter(|&n| n > 0), 2).unwrap();
    let peak = peak(|| {
        let file = file();
        let entries = if contexts == 0 {
            let mut writer =
                TableWriter::create(&file, "Events", &arrow, options.clone(), &threads).unwrap();
            (0..times).for_each(|_| writer.extend(arrays).unwrap());
            writer.finish().unwrap().entries
        } else {
            let order = if what.contains("order") { Order::RoundRobin } else { Order::Completion };
            let writer =
                ParallelWriter::create(&file, "Events", &arrow, options.clone(), order, &threads)
                    .unwrap();
            let fillers = (0..contexts).map(|_| writer.context().unwrap()).collect::<Vec<_>>();
            let fill = |mut context: FillContext| {
                (0..times).for_each(|_| context.extend(arrays).unwrap());
                context.finish().unwrap();
            };
            if order == Order::RoundRobin {
                // The worst: the last one first, so that all its clusters wait.
                fillers.into_iter().rev().for_each(fill);
            } else {
                std::thread::scope(|scope| {
                    fillers.into_iter().for_each(|context| drop(scope.spawn(|| fill(context))));
                });
            }
            writer.finish().unwrap().entries
        };
        assert_eq!(entries, rows * (times * contexts.max(1)) as u64);
        file.finish().unwrap();
    });
    println!("{what}: {peak} of {} ({said:?})", options.memory);
    assert!(peak <= options.memory, "{what}: {peak} bytes of {}", options.memory);
    assert!(peak <= said.total, "{what}: {peak} bytes, estimated {said:?}");
    // The estimate keeps the budget, too.
    assert!(said.total <= options.memory, "{what}");
}

#[test]
fn the_budget_is_kept() {
    let memory = 16 << 20;
    let none = "none".parse().unwrap();
    let small = RNTupleWriteOptions { memory, ..RNTupleWriteOptions::default() };
    let few = (0..4).map(|seed| numbers(100_000, seed)).collect::<Vec<_>>();
    let many = (0..500).map(|seed| numbers(1000, seed)).collect::<Vec<_>>();
    let jagged = vec![lists(20_000, 9, false), lists(20_000, 5, true), few[0].slice(0, 20_000)];
    let giant = vec![lists(1, 3_000_000, false)];
    for contexts in [0, 1, 2] {
        check("few columns", &few, 20, &small, contexts);
        check("many columns", &many, 20, &small, contexts);
        check("jagged columns", &jagged, 20, &small, contexts);
        check("one giant row", &giant, 2, &small, contexts);
        let options = RNTupleWriteOptions { compression: none, ..small.clone() };
        check("uncompressed", &jagged, 20, &options, contexts);
        let options = RNTupleWriteOptions { buffered: false, ..small.clone() };
        check("unbuffered", &many, 20, &options, contexts);
    }
    let options = RNTupleWriteOptions { memory: 64 << 20, ..RNTupleWriteOptions::default() };
    check("many contexts", &many, 10, &options, 8);
    check("fixed order", &few, 20, &options, 2);
    check("more memory", &few, 60, &options, 0);
    let slices = many.iter().map(|array| array.slice(0, 10)).collect::<Vec<_>>();
    check("many small calls", &slices, 300, &small, 1);
    rows_that_wait_keep_the_budget();
}

/// Rows that wait for threads that have other work are in the budget, too. Then the caller does the work.
fn rows_that_wait_keep_the_budget() {
    let options = RNTupleWriteOptions { memory: 16 << 20, ..RNTupleWriteOptions::default() };
    let few = (0..4).map(|seed| numbers(20_000, seed)).collect::<Vec<_>>();
    let arrow = schema_of(&few);
    let threads = Context::new(Some(2)).unwrap();
    let peak = peak(|| {
        let file = file();
        let mut writer =
            TableWriter::create(&file, "Events", &arrow, options.clone(), &threads).unwrap();
        let (release, occupied) = std::sync::mpsc::channel::<()>();
        let occupied = Arc::new(std::sync::Mutex::new(occupied));
        for _ in 0..2 {
            let occupied = Arc::clone(&occupied);
            threads.pool().spawn(move || {
                let _ended = occupied.lock().unwrap().recv();
            });
        }
        (0..5).for_each(|_| writer.extend(&few).unwrap());
        assert!(writer.stalled().is_zero());
        drop(release);
        (0..60).for_each(|_| writer.extend(&few).unwrap());
        writer.finish().unwrap();
        file.finish().unwrap();
    });
    assert!(peak <= options.memory, "{peak} bytes of {}", options.memory);
}

#[test]
fn too_little_memory_is_refused_with_advice() {
    let columns = (0..1000).map(|seed| numbers(1, seed)).collect::<Vec<_>>();
    let options = RNTupleWriteOptions {
        memory: 4 << 20,
        contexts: Some(16),
        ..RNTupleWriteOptions::default()
    };
    let schema = schema::Schema::from_arrow(&schema_of(&columns), options.compression).unwrap();
    let error = estimate(&schema, &options, Some(16), 1).unwrap_err();
    assert_eq!(error.kind(), Kind::LimitExceeded);
    let advice = "give at least";
    assert!(error.to_string().contains(advice), "{error}");
    let needed = error.to_string();
    let needed = needed.split(advice).nth(1).unwrap().split_whitespace().next().unwrap();
    let memory = needed.trim_end_matches(',').parse().unwrap();
    let enough = RNTupleWriteOptions { memory, ..options };
    let said = estimate(&schema, &enough, Some(16), 1).unwrap();
    assert!(said.total <= memory, "{said:?}");
}
