//! The bytes of a tree depend on its entries and options only.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{ArrayRef, Float32Array, Int32Array, LargeListArray};
use arrow_buffer::OffsetBuffer;
use nyssa_io::{MemorySink, Sink};
use nyssa_rntuple::write::SharedFile;
use nyssa_root::arrow::field;
use nyssa_root::compression::Compression;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::{Kind, Result};
use nyssa_ttree::write::{TreeWriteOptions, TreeWriter};

use crate::support::writing::{arrow_schema, context, file_options};

const ROWS: usize = 6000;

/// Returns numbers, which are noise from the middle on, and lists of 0 to 6 numbers.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let lengths = (0..ROWS).map(|row| row * row % 7);
    let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
    let items = offsets.last() as usize;
    let values = Float32Array::from_iter_values((0..items).map(|at| (at as f32).sqrt()));
    let item = Arc::new(field("item", arrow_schema::DataType::Float32));
    let lists = LargeListArray::new(item, offsets, Arc::new(values), None);
    let noise = |row: i32| row.wrapping_mul(-1_640_531_535) >> 8;
    let number = |row| if row < ROWS as i32 / 2 { row / 3 } else { noise(row) };
    let numbers = Int32Array::from_iter_values((0..ROWS as i32).map(number));
    vec![("x", Arc::new(numbers)), ("v", Arc::new(lists))]
}

/// Writes the columns in calls of `step` rows, and returns the file. With more than one thread, another one writes it.
fn written(options: &TreeWriteOptions, step: usize, threads: usize) -> Vec<u8> {
    let columns = columns();
    let (sink, handle) = MemorySink::new("memory.root");
    let file = shared(Box::new(sink), threads > 1);
    let schema = arrow_schema(&columns);
    let options = options.clone();
    let mut tree = TreeWriter::create(&file, "tree", &schema, options, &context(threads)).unwrap();
    for start in (0..ROWS).step_by(step) {
        let rows = step.min(ROWS - start);
        let slices = columns.iter().map(|(_, array)| array.slice(start, rows));
        tree.extend(&slices.collect::<Vec<_>>()).unwrap();
    }
    assert_eq!(tree.finish().unwrap().entries, ROWS as u64);
    file.finish().unwrap();
    handle.take()
}

#[test]
fn one_file_for_any_number_of_threads_and_calls() {
    // Large baskets have codecs that are chosen by samples.
    for (auto_flush, basket_size) in [
        (0, 700),
        (100, 700),
        (-2000, 700),
        (-30_000_000, 700),
        (0, 9000),
        (1500, 9000),
        (-20_000, 9000),
    ] {
        let options = TreeWriteOptions {
            basket_size,
            auto_flush: auto_flush.into(),
            ..TreeWriteOptions::default()
        };
        let expected = written(&options, ROWS, 1);
        for (step, threads) in [(ROWS, 3), (1000, 1), (17, 2), (2500, 8)] {
            let bytes = written(&options, step, threads);
            assert!(bytes == expected, "auto_flush {auto_flush}, step {step}, threads {threads}");
        }
    }
}

fn shared(sink: Box<dyn Sink>, write_behind: bool) -> SharedFile {
    let options = FileOptions { write_behind, ..file_options() };
    SharedFile::new(RootFileWriter::create(sink, options).unwrap())
}

/// Returns 256 kB of numbers.
fn noise(start: i32) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values((start..start + (1 << 16)).map(|at| at.wrapping_mul(7))))
}

/// Writes `calls` times 256 kB without compression, and returns the file.
fn numbers(file: &SharedFile, threads: usize, calls: i32) -> Result<u64> {
    let schema = arrow_schema(&[("x", noise(0))]);
    let options = TreeWriteOptions {
        compression: Compression::NONE,
        auto_flush: 100_000.into(),
        ..TreeWriteOptions::default()
    };
    let mut tree = TreeWriter::create(file, "tree", &schema, options, &context(threads))?;
    for call in 0..calls {
        tree.extend(&[noise(call << 16)])?;
    }
    tree.finish()?;
    file.finish()
}

#[test]
fn one_file_for_any_way_to_write_it() {
    let written = |threads, behind| {
        let (sink, handle) = MemorySink::new("memory.root");
        let size = numbers(&shared(Box::new(sink), behind), threads, 30).unwrap();
        let bytes = handle.take();
        assert!(bytes.len() as u64 == size && size > 30 << 18);
        bytes
    };
    let expected = written(1, false);
    for (threads, behind) in [(1, true), (2, true), (8, true), (2, false)] {
        assert!(written(threads, behind) == expected, "threads {threads}, behind {behind}");
    }
}

/// A disk that is full at some byte, or says so only when bytes become durable.
struct FullDisk {
    room: u64,
    syncs: bool,
    committed: Arc<AtomicBool>,
    dropped: Arc<AtomicBool>,
}

impl Sink for FullDisk {
    fn name(&self) -> &str {
        "full.root"
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> nyssa_io::Result<()> {
        if offset + data.len() as u64 > self.room { Err(full()) } else { Ok(()) }
    }

    fn sync_early(&mut self) -> nyssa_io::Result<()> {
        if self.syncs { Ok(()) } else { Err(full()) }
    }

    fn commit(self: Box<Self>) -> nyssa_io::Result<()> {
        self.committed.store(true, Ordering::SeqCst);
        Ok(())
    }
}

fn full() -> nyssa_io::Error {
    let full = io::Error::new(io::ErrorKind::StorageFull, "no space left");
    nyssa_io::Error::new("full.root", "write", full)
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::SeqCst);
    }
}

/// Tests that the error of the sink reaches the caller, when the file is larger than what may wait and when it is not.
#[test]
fn a_full_disk_ends_the_writing() {
    let cases = [
        (false, 20, 3 << 20, true),
        (true, 20, 3 << 20, true),
        (true, 400, 3 << 20, true),
        (true, 400, u64::MAX, false),
    ];
    for (behind, calls, room, syncs) in cases {
        let (committed, dropped) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let sink = FullDisk {
            room,
            syncs,
            committed: Arc::clone(&committed),
            dropped: Arc::clone(&dropped),
        };
        let file = shared(Box::new(sink), behind);
        let error = numbers(&file, 2, calls).unwrap_err();
        let case = format!("behind {behind}, calls {calls}, room {room}: {error}");
        assert_eq!(error.kind(), Kind::Io, "{case}");
        assert!(error.to_string().contains("no space left"), "{case}");
        // What was begun cannot be completed.
        assert!(file.finish().is_err(), "{case}");
        drop(file);
        assert!(!committed.load(Ordering::SeqCst), "{case}");
        assert!(dropped.load(Ordering::SeqCst), "{case}");
    }
}

/// Tests that a file that is given up waits for the thread that writes it, so that nothing is left behind.
#[test]
fn a_file_that_is_given_up_drops_its_sink() {
    let (committed, dropped) = (Arc::new(AtomicBool::new(false)), Arc::default());
    let sink = FullDisk {
        room: u64::MAX,
        syncs: true,
        committed: Arc::clone(&committed),
        dropped: Arc::clone(&dropped),
    };
    let file = shared(Box::new(sink), true);
    let schema = arrow_schema(&[("x", noise(0))]);
    let options = TreeWriteOptions::default();
    let mut tree = TreeWriter::create(&file, "tree", &schema, options, &context(2)).unwrap();
    (0..20).for_each(|call| tree.extend(&[noise(call << 16)]).unwrap());
    drop((tree, file));
    assert!(dropped.load(Ordering::SeqCst) && !committed.load(Ordering::SeqCst));
}
