//! Tests that random nested data are the same after writing and reading.

use std::sync::Arc;

use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use nyssa_rntuple::write::RNTupleWriteOptions;
use nyssa_root::arrow::field;
use proptest::prelude::*;

use crate::support::writing::*;

/// Returns the types that RNTuple has; records only where nothing typed is above them.
fn types() -> impl Strategy<Value = DataType> {
    let leaf = prop_oneof![
        Just(DataType::Boolean),
        Just(DataType::Int8),
        Just(DataType::UInt8),
        Just(DataType::Int16),
        Just(DataType::UInt16),
        Just(DataType::Int32),
        Just(DataType::UInt32),
        Just(DataType::Int64),
        Just(DataType::UInt64),
        Just(DataType::Float32),
        Just(DataType::Float64),
        Just(DataType::LargeBinary),
    ];
    let typed = leaf.prop_recursive(3, 8, 1, |inner| {
        prop_oneof![
            inner.clone().prop_map(list_type),
            (inner, 1..4i32).prop_map(|(inner, size)| fixed_type(inner, size)),
        ]
    });
    typed.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(list_type),
            prop::collection::vec(inner, 1..4).prop_map(|members| {
                let members = members.into_iter().enumerate();
                DataType::Struct(members.map(|(i, t)| field(&format!("m{i}"), t)).collect())
            }),
        ]
    })
}

/// xorshift64*: the data is a function of the seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn offsets(&mut self, len: usize) -> OffsetBuffer<i64> {
        OffsetBuffer::from_lengths((0..len).map(|_| (self.next() % 5) as usize))
    }

    fn array(&mut self, data_type: &DataType, len: usize) -> ArrayRef {
        let builder = ArrayData::builder(data_type.clone()).len(len);
        let builder = match data_type {
            DataType::Boolean => {
                let bits = BooleanBuffer::collect_bool(len, |_| self.next().is_multiple_of(2));
                builder.add_buffer(bits.into_inner())
            }
            DataType::LargeBinary => {
                let offsets = self.offsets(len);
                let bytes = (0..offsets[len]).map(|_| self.next() as u8).collect::<Vec<_>>();
                builder
                    .add_buffer(offsets.into_inner().into_inner())
                    .add_buffer(Buffer::from_vec(bytes))
            }
            DataType::LargeList(item) => {
                let offsets = self.offsets(len);
                let items = self.array(item.data_type(), offsets[len] as usize);
                builder
                    .add_buffer(offsets.into_inner().into_inner())
                    .add_child_data(items.to_data())
            }
            DataType::FixedSizeList(item, size) => {
                builder.add_child_data(self.array(item.data_type(), len * *size as usize).to_data())
            }
            DataType::Struct(members) => members.iter().fold(builder, |builder, member| {
                builder.add_child_data(self.array(member.data_type(), len).to_data())
            }),
            leaf => {
                let bytes = len * leaf.primitive_width().unwrap();
                let words = (0..bytes.div_ceil(8)).map(|_| self.next()).collect::<Vec<_>>();
                builder.add_buffer(Buffer::from_vec(words))
            }
        };
        make_array(builder.build().unwrap())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn random_tables_come_back(
        types in prop::collection::vec(types(), 1..4),
        batches in prop::collection::vec(0..60usize, 0..5),
        seed in 1..u64::MAX,
        compression in prop_oneof![Just("none"), Just("zlib:1"), Just("lz4:1"), Just("zstd:1")],
        cluster in prop_oneof![Just(300u64), Just(5_000), Just(1 << 20)],
        checksums in any::<bool>(),
        same_page_merging in any::<bool>(),
    ) {
        let mut random = Random(seed);
        let rows = batches.iter().sum();
        let names = ["a", "b", "c"];
        let columns = names
            .into_iter()
            .zip(types.iter().map(|data_type| random.array(data_type, rows)))
            .collect::<Vec<_>>();
        let options = RNTupleWriteOptions {
            compression: compression.parse().unwrap(),
            approx_zipped_cluster: cluster,
            max_unzipped_page: 256,
            clusters_per_group: 3,
            checksums,
            same_page_merging,
            ..RNTupleWriteOptions::default()
        };
        let (bytes, report) = write(&columns, &batches, options.clone(), 1);
        let (parallel, _) = write(&columns, &batches, options, 3);
        prop_assert_eq!(&bytes, &parallel, "bytes depend on the number of threads");
        prop_assert_eq!(report.entries, rows as u64);
        let reader = reader(bytes, "Events");
        for (array, (name, expected)) in read(&reader).iter().zip(&columns) {
            prop_assert_eq!(array.data_type(), expected.data_type(), "{}", name);
            prop_assert_eq!(array.to_data(), expected.to_data(), "{}", name);
        }
    }
}

/// Tests that arrays of 32-bit offsets and sliced arrays have the values of their whole, 64-bit twins.
#[test]
fn small_offsets_and_slices() {
    use arrow_array::*;
    let strings: ArrayRef = Arc::new(StringArray::from(vec!["x", "ab", "", "cde"]));
    let values = Int32Array::from(vec![9, 8, 7, 6, 5, 4]);
    let item = Arc::new(field("item", DataType::Int32));
    let offsets = OffsetBuffer::<i32>::from_lengths([1, 2, 0, 3]);
    let lists: ArrayRef = Arc::new(ListArray::new(item, offsets, Arc::new(values), None));
    let columns = [("s", strings.slice(1, 3)), ("v", lists.slice(1, 3))];
    let (bytes, _) = write(&columns, &[2, 1], RNTupleWriteOptions::default(), 1);
    let arrays = read(&reader(bytes, "Events"));
    let expected = LargeBinaryArray::from(vec![&b"ab"[..], b"", b"cde"]);
    assert_eq!(arrays[0].to_data(), expected.to_data());
    let expected = LargeListArray::from_iter_primitive::<types::Int32Type, _, _>([
        Some(vec![Some(8), Some(7)]),
        Some(vec![]),
        Some(vec![Some(6), Some(5), Some(4)]),
    ]);
    let got = arrow_array::cast::AsArray::as_list::<i64>(&arrays[1]);
    assert_eq!(got.offsets(), expected.offsets());
    assert_eq!(got.values().to_data(), expected.values().to_data());
}

/// Tests that half precision is stored unchanged and read as single precision, and that bytes stay bytes.
#[test]
fn half_precision_and_bytes() {
    use arrow_array::*;
    let bits = Buffer::from_vec(vec![0x3C00u16, 0xC000, 0x3555]);
    let half: ArrayRef =
        make_array(ArrayData::builder(DataType::Float16).len(3).add_buffer(bits).build().unwrap());
    let offsets = OffsetBuffer::<i64>::from_lengths([2, 0, 1]);
    let raw: ArrayRef =
        Arc::new(LargeBinaryArray::new(offsets, Buffer::from_vec(vec![1u8, 2, 255]), None));
    let plain = arrow_schema::Schema::new(vec![
        arrow_schema::Field::new("h", DataType::Float16, false),
        arrow_schema::Field::new("raw", DataType::LargeBinary, false),
    ]);
    let (file, handle) = file();
    let mut writer = nyssa_rntuple::write::TableWriter::create(
        &file,
        "Events",
        &plain,
        RNTupleWriteOptions::default(),
        &context(1),
    )
    .unwrap();
    writer.extend(&[half, raw]).unwrap();
    writer.finish().unwrap();
    file.finish().unwrap();
    let arrays = read(&reader(handle.take(), "Events"));
    // IEEE 754: 0x3555 is 1365/4096.
    let expected = Float32Array::from(vec![1.0, -2.0, 1365.0 / 4096.0]);
    assert_eq!(arrays[0].to_data(), expected.to_data());
    let bytes = arrow_array::cast::AsArray::as_list::<i64>(&arrays[1]);
    assert_eq!(bytes.offsets()[..], [0, 2, 2, 3]);
    let expected = UInt8Array::from(vec![1, 2, 255]);
    assert_eq!(bytes.values().to_data(), expected.to_data());
}
