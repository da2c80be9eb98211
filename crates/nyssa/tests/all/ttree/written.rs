//! The bytes of a tree depend on its entries and options only.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int32Array, LargeListArray};
use arrow_buffer::OffsetBuffer;
use nyssa::arrow::field;
use nyssa::ttree::write::{TreeWriteOptions, TreeWriter};

use crate::support::writing::{arrow_schema, context, file};

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

/// Writes the columns in calls of `step` rows, and returns the file.
fn written(options: &TreeWriteOptions, step: usize, threads: usize) -> Vec<u8> {
    let columns = columns();
    let (file, handle) = file();
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
        for (step, threads) in [(ROWS, 3), (1000, 1), (17, 2)] {
            let found = written(&options, step, threads);
            assert!(found == expected, "auto_flush {auto_flush}, step {step}, threads {threads}");
        }
    }
}
