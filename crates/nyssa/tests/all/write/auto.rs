//! Tests encodings that are chosen by samples.

use std::sync::Arc;

use arrow_array::*;
use nyssa_rntuple::encoding::ColumnType;
use nyssa_rntuple::write::{Encodings, Order, ParallelWriter, RNTupleWriteOptions, TableWriter};

use crate::support::writing::*;

fn noise() -> impl Iterator<Item = u32> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u32
    })
}

/// Returns the whole words that come again in a random order: best unsplit.
fn repeated() -> ArrayRef {
    let table: Vec<u32> = noise().take(64).collect();
    let order = noise().skip(64).take(1000).map(|bits| bits as usize);
    let words = order.flat_map(|start| (0..8).map(move |i| (start + i) % 64));
    Arc::new(UInt32Array::from_iter_values(words.map(|index| table[index])))
}

/// Returns the small numbers without order: best split.
fn small() -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(noise().take(8000).map(|bits| bits % 300)))
}

fn auto() -> RNTupleWriteOptions {
    RNTupleWriteOptions { encodings: Encodings::Auto, ..RNTupleWriteOptions::default() }
}

#[test]
fn a_field_follows_its_data() {
    let (file, handle) = file();
    let schema = arrow_schema(&[("x", repeated()), ("y", small())]);
    let mut writer = TableWriter::create(&file, "Events", &schema, auto(), &context(2)).unwrap();
    let clusters = [[repeated(), small()], [small(), small()], [repeated(), repeated()]];
    for rows in &clusters {
        writer.extend(rows).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    file.finish().unwrap();
    let reader = reader(handle.take(), "Events");
    // The first cluster decides in place; what comes later is another representation.
    let types = |columns: &[nyssa_rntuple::schema::Column]| {
        columns.iter().map(|c| (c.field.0, c.column_type.unwrap())).collect::<Vec<_>>()
    };
    let header = types(&reader.header().records.columns);
    assert_eq!(header, [(0, ColumnType::UInt32), (1, ColumnType::SplitUInt32)]);
    let late = types(&reader.footer().extension.columns);
    assert_eq!(late, [(0, ColumnType::SplitUInt32), (1, ColumnType::UInt32)]);
    let suppressed =
        reader.clusters_info().unwrap().iter().map(|cluster| {
            cluster.columns.iter().map(|column| column.suppressed).collect::<Vec<_>>()
        });
    let expected =
        [[false, false, true, true], [true, false, false, true], [false, true, true, false]];
    assert_eq!(suppressed.collect::<Vec<_>>(), expected);
    for (index, array) in read(&reader).iter().enumerate() {
        for (cluster, rows) in clusters.iter().enumerate() {
            assert_eq!(array.slice(8000 * cluster, 8000).to_data(), rows[index].to_data());
        }
    }
}

/// The choice depends on the data alone.
#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let columns = [("x", repeated()), ("y", small())];
    let (by_one, _) = write(&columns, &[8000], auto(), 1);
    let (three, _) = write(&columns, &[8000], auto(), 3);
    assert!(by_one == three);
    let (default, _) = write(&columns, &[8000], RNTupleWriteOptions::default(), 1);
    assert!(by_one.len() < default.len());
}

/// Tests two contexts with different data: in a fixed order, the file depends only on the data.
#[test]
fn fill_contexts_choose_for_themselves() {
    let fill = |first: usize| {
        let (file, handle) = file();
        let schema = arrow_schema(&[("x", repeated())]);
        let order = Order::RoundRobin;
        let writer =
            ParallelWriter::create(&file, "Events", &schema, auto(), order, &context(2)).unwrap();
        let mut contexts = [writer.context().unwrap(), writer.context().unwrap()];
        for index in [first, 1 - first] {
            for rows in [[small(), repeated()], [repeated(), small()]] {
                contexts[index].extend(&rows[index..=index]).unwrap();
                contexts[index].flush().unwrap();
            }
        }
        contexts.into_iter().for_each(|context| context.finish().unwrap());
        writer.finish().unwrap();
        file.finish().unwrap();
        handle.take()
    };
    let bytes = fill(0);
    assert!(bytes == fill(1));
    let reader = reader(bytes, "Events");
    let types = reader.header().records.columns.iter().map(|c| c.column_type.unwrap());
    assert_eq!(types.collect::<Vec<_>>(), [ColumnType::SplitUInt32]);
    let expected = [small(), repeated(), repeated(), small()];
    for (cluster, rows) in expected.iter().enumerate() {
        assert_eq!(read(&reader)[0].slice(8000 * cluster, 8000).to_data(), rows.to_data());
    }
    assert_eq!(reader.footer().extension.columns.len(), 1);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    /// Tests that all values are read back, whatever the byte planes hold and whatever is chosen for them.
    #[test]
    fn every_value_comes_back(
        masks in proptest::collection::vec(proptest::prelude::any::<u64>(), 1..4),
        repeat in 1_usize..200,
        count in 1_usize..40_000,
    ) {
        let words = || noise().zip(noise().skip(7)).map(|(a, b)| u64::from(a) << 33 ^ u64::from(b));
        let value = |index: usize, word: u64| word & masks[index / 5000 % masks.len()];
        let table: Vec<u64> = words().take(count.div_ceil(repeat)).collect();
        let values = (0..count).map(|index| value(index, table[index / repeat]));
        let longs: ArrayRef = Arc::new(UInt64Array::from_iter_values(values.clone()));
        let doubles = values.clone().map(|bits| f64::from(bits as u32 as f32));
        let doubles: ArrayRef = Arc::new(Float64Array::from_iter_values(doubles));
        let ints: ArrayRef = Arc::new(Int32Array::from_iter_values(values.map(|bits| bits as i32)));
        let columns = [("longs", longs), ("doubles", doubles), ("ints", ints)];
        let (bytes, _) = write(&columns, &[count], auto(), 1);
        for ((name, expected), array) in columns.iter().zip(read(&reader(bytes, "Events"))) {
            assert_eq!(array.to_data(), expected.to_data(), "{name}");
        }
    }
}
