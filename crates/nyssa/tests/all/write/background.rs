//! Other threads compress and write: calls of `extend` go on while these threads are occupied, and errors of these threads
//! reach the next call.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::*;
use nyssa_data::Dataset;
use nyssa_io::{Sink, WriteAt};
use nyssa_rntuple::write::{
    AttributeSetWriter, Order, ParallelWriter, RNTupleWriteOptions, SharedFile, TableWriter,
};
use nyssa_root::rootfile::writer::RootFileWriter;
use nyssa_root::{Context, Kind};
use nyssa_ttree::write::{self as ttree, AutoFlush, TreeWriteOptions, TreeWriter};

use crate::support::writing::*;

/// Returns the rows `start..start + 100` of a number and a list of numbers.
fn rows(start: i64) -> Vec<ArrayRef> {
    let numbers = Int64Array::from_iter_values(start..start + 100);
    let lists = (start..start + 100).map(|i| Some((0..i % 4).map(move |k| Some(i + k))));
    let lists = LargeListArray::from_iter_primitive::<types::Int64Type, _, _>(lists);
    vec![Arc::new(numbers), Arc::new(lists)]
}

fn schema() -> arrow_schema::Schema {
    let arrays = rows(0);
    arrow_schema(&[("x", arrays[0].clone()), ("v", arrays[1].clone())])
}

fn small_clusters() -> RNTupleWriteOptions {
    RNTupleWriteOptions {
        approx_zipped_cluster: 3000,
        contexts: Some(2),
        ..RNTupleWriteOptions::default()
    }
}

fn small_tree() -> TreeWriteOptions {
    TreeWriteOptions {
        auto_flush: AutoFlush::Entries(150),
        contexts: Some(2),
        ..TreeWriteOptions::default()
    }
}

/// Occupies all threads of a context until the sender is dropped.
fn occupied(context: &Context) -> Sender<()> {
    let (release, wait) = channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    for _ in 0..context.threads() {
        let wait = Arc::clone(&wait);
        context.pool().spawn(move || {
            let _ended = wait.lock().unwrap().recv();
        });
    }
    release
}

/// A sink with room for some bytes, which counts its writes.
struct SmallDisk {
    room: u64,
    writes: Arc<AtomicU64>,
}

impl Sink for SmallDisk {
    fn name(&self) -> &str {
        "small.root"
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> nyssa_io::Result<()> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        if offset + data.len() as u64 <= self.room {
            return Ok(());
        }
        let full = io::Error::new(io::ErrorKind::StorageFull, "no space left");
        Err(nyssa_io::Error::new("small.root", "write", full))
    }

    fn commit(self: Box<Self>) -> nyssa_io::Result<()> {
        Ok(())
    }
}

fn small_disk(room: u64) -> (SharedFile, Arc<AtomicU64>) {
    let writes = Arc::default();
    let sink = SmallDisk { room, writes: Arc::clone(&writes) };
    (SharedFile::new(RootFileWriter::create(Box::new(sink), file_options()).unwrap()), writes)
}

/// Returns half a megabyte that does not compress.
fn noise(seed: u64) -> ArrayRef {
    let mut state = seed + 1;
    let numbers = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        state ^ state >> 29
    });
    Arc::new(UInt64Array::from_iter_values(numbers.take(1 << 16)))
}

/// Extends while all other threads are occupied. Nobody waits, and no stage of the work after the check of the rows runs.
fn goes_on(context: &Context, mut extend: impl FnMut(&[ArrayRef]), stalled: impl Fn() -> Duration) {
    let release = occupied(context);
    let profiler = nyssa_observe::Profiler::start().unwrap();
    (0..40).for_each(|part| extend(&rows(100 * part)));
    // Other tests run in other threads.
    let own = std::thread::current().name().unwrap().to_owned();
    let threads = profiler.finish().threads;
    let threads = threads.iter().filter(|thread| thread.thread == own);
    let stages: BTreeSet<&str> = threads.flat_map(|thread| thread.stages.keys().copied()).collect();
    assert!(stages.contains("shred") || stages.contains("encode"), "{stages:?}");
    for stage in ["seal", "choose", "commit"] {
        assert!(!stages.contains(stage), "{stage} in the thread that fills");
    }
    assert_eq!(stalled(), Duration::ZERO);
    drop(release);
}

#[test]
fn extend_neither_compresses_nor_writes() {
    let context = context(2);
    // There is one profiler, so these run one after the other.
    let (file, handle) = file();
    let options = small_clusters();
    let writer = TableWriter::create(&file, "Events", &schema(), options.clone(), &context);
    let writer = RefCell::new(writer.unwrap());
    goes_on(
        &context,
        |arrays| writer.borrow_mut().extend(arrays).unwrap(),
        || writer.borrow().stalled(),
    );
    assert!(writer.into_inner().finish().unwrap().clusters > 1);
    let order = Order::Completion;
    let many = ParallelWriter::create(&file, "Many", &schema(), options, order, &context).unwrap();
    let rows_of = RefCell::new(many.context().unwrap());
    goes_on(
        &context,
        |arrays| rows_of.borrow_mut().extend(arrays).unwrap(),
        || rows_of.borrow().stalled(),
    );
    rows_of.into_inner().finish().unwrap();
    assert!(many.finish().unwrap().clusters > 1);
    // By bytes, the first cluster ends where its compressed baskets have enough bytes.
    for (kind, auto_flush) in
        [("entries", AutoFlush::Entries(150)), ("bytes", AutoFlush::Bytes(3000))]
    {
        let options = TreeWriteOptions { auto_flush, basket_size: 1000, ..small_tree() };
        // Names of the same length make baskets of the same size.
        let [one, many] = ["one", "all"].map(|name| format!("{name} {kind}"));
        let tree = TreeWriter::create(&file, &one, &schema(), options.clone(), &context).unwrap();
        let tree = RefCell::new(tree);
        goes_on(
            &context,
            |arrays| tree.borrow_mut().extend(arrays).unwrap(),
            || tree.borrow().stalled(),
        );
        let clusters = tree.into_inner().finish().unwrap().clusters;
        let many = ttree::ParallelWriter::create(&file, &many, &schema(), options, order, &context);
        let many = many.unwrap();
        let rows_of = RefCell::new(many.context().unwrap());
        goes_on(
            &context,
            |arrays| rows_of.borrow_mut().extend(arrays).unwrap(),
            || rows_of.borrow().stalled(),
        );
        rows_of.into_inner().finish().unwrap();
        assert_eq!(many.finish().unwrap().clusters, clusters);
        assert!(if kind == "entries" { clusters == 27 } else { clusters > 2 }, "{clusters} {kind}");
    }
    file.finish().unwrap();
    let bytes = handle.take();
    for name in ["Events", "Many"] {
        let arrays = read(&reader(bytes.clone(), name));
        let all: Vec<i64> = arrays[0].as_primitive::<types::Int64Type>().values().to_vec();
        assert_eq!(all, (0..4000).collect::<Vec<_>>());
    }
}

/// The file has the same bytes whoever does the work: also two RNTuples and a tree of one file that are filled in turn, and
/// an attribute set.
#[test]
fn the_bytes_do_not_depend_on_the_threads() {
    let bytes = |threads: usize| {
        let (file, handle) = file();
        let context = context(threads);
        let options = small_clusters();
        let table = |name: &str| {
            TableWriter::create(&file, name, &schema(), options.clone(), &context).unwrap()
        };
        let (mut first, mut second) = (table("First"), table("Second"));
        let mut tree =
            TreeWriter::create(&file, "tree", &schema(), small_tree(), &context).unwrap();
        let attributes =
            arrow_schema(&rows(0)[..1].iter().map(|a| ("n", a.clone())).collect::<Vec<_>>());
        let mut set = first
            .with_writer(|main| {
                AttributeSetWriter::create(main, "set", &attributes, options.clone(), &context)
            })
            .unwrap();
        for part in 0..30 {
            first.extend(&rows(100 * part)).unwrap();
            tree.extend(&rows(100 * part)).unwrap();
            second.extend(&rows(-100 * part)).unwrap();
            let starts: UInt64Array = (0..100).collect::<Vec<u64>>().into();
            set.extend(starts, vec![1; 100].into(), &rows(part)[..1]).unwrap();
        }
        second.finish().unwrap();
        first.with_writer(|main| main.link(set.finish()?)).unwrap();
        first.finish().unwrap();
        tree.finish().unwrap();
        file.finish().unwrap();
        handle.take()
    };
    for _ in 0..3 {
        assert!(bytes(1) == bytes(3));
    }
}

/// The exact error of the sink comes with the next call, and later calls have its reason.
#[test]
fn an_error_of_another_thread_comes_with_the_next_call() {
    const FULL: &str = "cannot write small.root: no space left (file small.root)";
    const FULL_AT_X: &str = "cannot write small.root: no space left (file small.root, field x)";
    let context = context(2);
    let schema = arrow_schema(&[("x", noise(0))]);
    let is = |message: &str, error: nyssa_root::Error| {
        assert_eq!((error.kind(), error.to_string().as_str()), (Kind::Io, message));
    };
    let options = RNTupleWriteOptions {
        approx_zipped_cluster: 1 << 20,
        contexts: Some(2),
        ..RNTupleWriteOptions::default()
    };
    let trees = [AutoFlush::Entries(1 << 17), AutoFlush::Bytes(1 << 20)]
        .map(|auto_flush| TreeWriteOptions { auto_flush, contexts: Some(2), ..Default::default() });

    let (file, _) = small_disk(4 << 20);
    let mut writer =
        TableWriter::create(&file, "Events", &schema, options.clone(), &context).unwrap();
    let release = occupied(&context);
    (0..12).for_each(|part| writer.extend(&[noise(part)]).unwrap());
    drop(release);
    file.line().settle();
    is(FULL, writer.extend(&[noise(0)]).unwrap_err());
    let ended = format!("the RNTuple cannot be completed: {FULL}");
    is(&ended, writer.extend(&[noise(0)]).unwrap_err());
    is(&ended, writer.extend(&[noise(0)]).unwrap_err());
    is(&ended, writer.finish().unwrap_err());
    // Whatever else is in the file cannot be completed, either.
    is(&format!("the file cannot be completed: {FULL}"), file.finish().unwrap_err());

    for options in &trees {
        let (file, _) = small_disk(4 << 20);
        let mut tree =
            TreeWriter::create(&file, "tree", &schema, options.clone(), &context).unwrap();
        let release = occupied(&context);
        (0..12).for_each(|part| tree.extend(&[noise(part)]).unwrap());
        drop(release);
        file.line().settle();
        is(FULL_AT_X, tree.flush().unwrap_err());
        let ended = format!("the TTree cannot be completed: {FULL_AT_X}");
        is(&ended, tree.extend(&[noise(0)]).unwrap_err());
        is(&ended, tree.flush().unwrap_err());
        is(&ended, tree.finish().unwrap_err());
        is(&format!("the file cannot be completed: {FULL}"), file.finish().unwrap_err());
    }

    let (file, _) = small_disk(4 << 20);
    let order = Order::Completion;
    let many = ParallelWriter::create(&file, "Events", &schema, options, order, &context).unwrap();
    let (mut first, mut second) = (many.context().unwrap(), many.context().unwrap());
    let release = occupied(&context);
    (0..12).for_each(|part| first.extend(&[noise(part)]).unwrap());
    drop(release);
    is(FULL, first.finish().unwrap_err());
    let others = format!("the RNTuple cannot be completed: {FULL}");
    is(&others, second.extend(&[noise(0)]).unwrap_err());
    is(&others, second.extend(&[noise(0)]).unwrap_err());
    is(&others, many.context().err().unwrap());
    drop(second);
    is(&others, many.finish().unwrap_err());

    for options in trees {
        let (file, _) = small_disk(4 << 20);
        let many = ttree::ParallelWriter::create(&file, "tree", &schema, options, order, &context);
        let many = many.unwrap();
        let (mut first, mut second) = (many.context().unwrap(), many.context().unwrap());
        let release = occupied(&context);
        (0..12).for_each(|part| first.extend(&[noise(part)]).unwrap());
        drop(release);
        is(FULL_AT_X, first.finish().unwrap_err());
        let others = format!("the TTree cannot be completed: {FULL_AT_X}");
        is(&others, second.extend(&[noise(0)]).unwrap_err());
        is(&others, second.flush().unwrap_err());
        drop(second);
        is(&others, many.finish().unwrap_err());
    }
}

/// A sink of which other threads write parts.
struct InParts {
    parts: Arc<Parts>,
}

/// What happens to each part.
enum Parts {
    /// It waits until another one comes.
    InPairs { now: Mutex<usize>, comes: Condvar },
    /// It fails.
    Full,
    /// It says that it comes, and waits until it may end.
    Slow { comes: Sender<()>, may_end: Mutex<Receiver<()>> },
}

impl Sink for InParts {
    fn name(&self) -> &str {
        "parts.root"
    }

    fn write_at(&mut self, _: u64, _: &[u8]) -> nyssa_io::Result<()> {
        Ok(())
    }

    fn beside(&self) -> Option<Arc<dyn WriteAt>> {
        Some(Arc::<Parts>::clone(&self.parts))
    }

    fn commit(self: Box<Self>) -> nyssa_io::Result<()> {
        Ok(())
    }
}

impl WriteAt for Parts {
    fn write_at(&self, _: u64, _: &[u8]) -> nyssa_io::Result<()> {
        // What waits ends in time, so that no test waits for ever.
        let time = Duration::from_secs(10);
        match self {
            Self::InPairs { now, comes } => {
                let mut now = now.lock().unwrap();
                *now += 1;
                comes.notify_all();
                let waited = comes.wait_timeout_while(now, time, |now| *now < 2).unwrap();
                assert!(!waited.1.timed_out(), "a cluster waits until another one is written");
            }
            Self::Full => {
                let full = io::Error::new(io::ErrorKind::StorageFull, "no space left");
                return Err(nyssa_io::Error::new("parts.root", "write", full));
            }
            Self::Slow { comes, may_end } => {
                comes.send(()).unwrap();
                may_end.lock().unwrap().recv_timeout(time).unwrap();
            }
        }
        Ok(())
    }
}

fn in_parts(parts: Parts) -> SharedFile {
    let sink = Box::new(InParts { parts: Arc::new(parts) });
    SharedFile::new(RootFileWriter::create(sink, file_options()).unwrap())
}

/// Begins an RNTuple that the threads of the callers compress.
fn many(file: &SharedFile, order: Order) -> ParallelWriter {
    let options = small_clusters();
    ParallelWriter::create(file, "Events", &schema(), options, order, &context(1)).unwrap()
}

/// Begins a tree that the threads of the callers compress.
fn many_in_tree(file: &SharedFile, order: Order) -> ttree::ParallelWriter {
    let (schema, context) = (schema(), context(1));
    ttree::ParallelWriter::create(file, "tree", &schema, small_tree(), order, &context).unwrap()
}

/// Two contexts write their clusters at the same time.
#[test]
fn clusters_are_written_beside_one_another() {
    let pairs = || in_parts(Parts::InPairs { now: Mutex::default(), comes: Condvar::new() });
    macro_rules! in_two_threads {
        ($writer:expr) => {{
            let contexts = [$writer.context().unwrap(), $writer.context().unwrap()];
            std::thread::scope(|scope| {
                // Equal pages would be written once.
                for (start, mut context) in [0, 1000].into_iter().zip(contexts) {
                    scope.spawn(move || {
                        context.extend(&rows(start)).unwrap();
                        context.finish().unwrap();
                    });
                }
            });
            assert_eq!($writer.finish().unwrap().clusters, 2);
        }};
    }
    let file = pairs();
    let writer = many(&file, Order::Completion);
    in_two_threads!(writer);
    file.finish().unwrap();
    let file = pairs();
    let tree = many_in_tree(&file, Order::Completion);
    in_two_threads!(tree);
    file.finish().unwrap();
}

/// A cluster that has its place and cannot be written ends the object.
#[test]
fn a_cluster_that_is_not_written_is_an_error() {
    const FULL: &str = "cannot write parts.root: no space left (file parts.root)";
    macro_rules! fails {
        ($begin:ident, $object:literal, $path:literal) => {
            for order in [Order::Completion, Order::RoundRobin] {
                let file = in_parts(Parts::Full);
                let writer = $begin(&file, order);
                let (mut first, mut second) =
                    (writer.context().unwrap(), writer.context().unwrap());
                first.extend(&rows(0)).unwrap();
                let error = first.flush().unwrap_err();
                assert_eq!((error.kind(), error.to_string().as_str()), (Kind::Io, FULL));
                let others = format!("the {} cannot be completed: {FULL}", $object);
                assert_eq!(second.extend(&rows(0)).unwrap_err().to_string(), others);
                drop((first, second));
                assert_eq!(writer.finish().unwrap_err().to_string(), others);
                let error = file.finish().unwrap_err().to_string();
                assert!(error.contains(concat!($path, " is still being written")), "{error}");
            }
        };
    }
    fails!(many, "RNTuple", "Events");
    fails!(many_in_tree, "TTree", "tree");
}

/// A context that ends may write clusters of others. Until then it is not finished.
#[test]
fn a_context_is_finished_when_it_has_written() {
    let (comes, written) = channel();
    let (end, may_end) = channel();
    let file = in_parts(Parts::Slow { comes, may_end: Mutex::new(may_end) });
    let writer = many(&file, Order::RoundRobin);
    let (first, mut second) = (writer.context().unwrap(), writer.context().unwrap());
    second.extend(&rows(0)).unwrap();
    second.finish().unwrap();
    std::thread::scope(|scope| {
        let finish = scope.spawn(move || first.finish());
        written.recv().unwrap();
        let error = writer.finish().unwrap_err().to_string();
        assert!(error.ends_with("1 of 2 fill contexts were not finished"), "{error}");
        end.send(()).unwrap();
        finish.join().unwrap().unwrap();
    });
    assert!(file.finish().is_err());
}

/// A writer that is dropped writes nothing more, and leaves no work behind.
#[test]
fn dropping_a_writer_ends_its_work() {
    let context = context(2);
    let schema = arrow_schema(&[("x", noise(0))]);
    let (file, writes) = small_disk(u64::MAX);
    let options = RNTupleWriteOptions::default();
    let mut writer = TableWriter::create(&file, "Events", &schema, options, &context).unwrap();
    let options = TreeWriteOptions { auto_flush: AutoFlush::Never, ..Default::default() };
    let mut tree = TreeWriter::create(&file, "tree", &schema, options, &context).unwrap();
    let release = occupied(&context);
    let before = writes.load(Ordering::SeqCst);
    (0..4).for_each(|part| writer.extend(&[noise(part)]).unwrap());
    (0..4).for_each(|part| tree.extend(&[noise(part)]).unwrap());
    drop((writer, tree));
    assert_eq!(writes.load(Ordering::SeqCst), before);
    drop(release);
    // The answer of the pool comes after all that it had before.
    let (told, answer) = channel();
    (0..2).for_each(|_| {
        let told = told.clone();
        context.pool().spawn(move || told.send(()).unwrap());
    });
    (0..2).for_each(|_| answer.recv().unwrap());
    assert_eq!(writes.load(Ordering::SeqCst), before);
}

/// With threads of the pool as callers, no thread waits for another for ever.
#[test]
fn threads_of_the_pool_can_fill() {
    let context = context(2);
    let (file, handle) = file();
    let names = ["A", "B", "C", "D"];
    context.pool().scope(|scope| {
        for name in names {
            let (file, context) = (file.clone(), context.clone());
            scope.spawn(move |_| {
                let mut writer =
                    TableWriter::create(&file, name, &schema(), small_clusters(), &context)
                        .unwrap();
                (0..40).for_each(|part| writer.extend(&rows(100 * part)).unwrap());
                assert_eq!(writer.stalled(), Duration::ZERO);
                writer.finish().unwrap();
            });
        }
    });
    file.finish().unwrap();
    let bytes = handle.take();
    for name in names {
        assert_eq!(reader(bytes.clone(), name).num_entries(), 4000);
    }
}
