//! Streamed objects of ROOT decoded and put together again: the same bytes, but for what arrays do
//! not tell.

use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, LargeListArray,
    NullArray, PrimitiveArray, StructArray, UnionArray, make_array, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use nyssa_data::dataset::Dataset;
use nyssa_rntuple::read::{RNTupleReadOptions, Reader, StreamerForm};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::ObjectLayout;
use nyssa_root::{Context, Kind};
use nyssa_testdata::testdata;
use proptest::prelude::*;

/// The bytes that ROOT streamed, and the values that they hold.
struct Streamed {
    layout: ObjectLayout,
    objects: Vec<Vec<u8>>,
    /// The checksums of the classes of version 1.
    checksums: Vec<[u8; 4]>,
}

fn file(name: &str) -> RootFile {
    let path = testdata(&format!("streamed/{name}.root"));
    RootFile::open(nyssa_io::open(path).unwrap()).unwrap()
}

fn open(class: &str) -> Streamed {
    let file = file(class);
    let options =
        RNTupleReadOptions { streamer: StreamerForm::Raw, ..RNTupleReadOptions::default() };
    let reader = Reader::open_with(&file, "ntpl", options).unwrap();
    let context = Context::new(Some(1)).unwrap();
    let raw = reader.read(&["f"], 0..4, &context).unwrap();
    let infos = file.streamer_infos().unwrap();
    let first = infos.classes().iter().filter(|info| info.version == 1);
    Streamed {
        layout: ObjectLayout::compile(&infos, &[class]).unwrap(),
        objects: raw[0].as_binary::<i64>().iter().map(|object| object.unwrap().to_vec()).collect(),
        checksums: first.map(|info| info.checksum.to_be_bytes()).collect(),
    }
}

impl Streamed {
    fn decode(&self, object: &[u8]) -> ArrayRef {
        self.layout.decode(object, &[0, object.len().try_into().unwrap()]).unwrap()
    }

    /// Returns the positions at which the bytes of nyssa and ROOT differ. That a class of version 1 is told by
    /// its checksum, and what is further back for it, is no difference.
    fn difference(&self, ours: &[u8], roots: &[u8]) -> Option<String> {
        let (mut i, mut j) = (0, 0);
        while i < ours.len() || j < roots.len() {
            let (our, theirs) = (&ours[i..], &roots[j..]);
            let checksum = |sum: &[u8; 4]| our.starts_with(&[0, 0]) && our[2..].starts_with(sum);
            // The file has no streamer info of some of the pairs.
            let by_member = |i: usize| ours[..i].ends_with(&[0x40, 0x0a]);
            // A byte count, or the place of a class.
            let counts = |bytes: &[u8]| matches!(bytes, [0x40 | 0x80, 0, _, _, ..]);
            if theirs.starts_with(&[0, 1]) && self.checksums.iter().any(checksum) {
                (i, j) = (i + 6, j + 2);
            } else if our.starts_with(&[0, 1]) && theirs.starts_with(&[0, 0]) && by_member(i) {
                (i, j) = (i + 2, j + 6);
            } else if counts(our)
                && counts(theirs)
                && our[0] == theirs[0]
                && our[..4] != theirs[..4]
            {
                (i, j) = (i + 4, j + 4);
            } else if our.first() == theirs.first() {
                (i, j) = (i + 1, j + 1);
            } else {
                let end = |bytes: &[u8]| bytes.len().min(24);
                let (our, theirs) = (&our[..end(our)], &theirs[..end(theirs)]);
                return Some(format!("byte {i}: {our:x?}, ROOT {j}: {theirs:x?}"));
            }
        }
        None
    }
}

#[test]
fn the_bytes_of_root_come_back() {
    for class in ["Numbers", "Pointers", "Stl", "Root", "Kinds", "Loops", "Nested"] {
        let streamed = open(class);
        for (entry, roots) in streamed.objects.iter().enumerate() {
            let array = streamed.decode(roots);
            let (ours, offsets) = streamed.layout.encode(&array).unwrap();
            assert_eq!(offsets, [0, ours.len().try_into().unwrap()], "{class} {entry}");
            // An object that two pointers share in ROOT is written twice.
            if class != "Pointers" || entry == 0 {
                assert_eq!(streamed.difference(&ours, roots), None, "{class} {entry}");
            }
            assert_eq!(streamed.decode(&ours).to_data(), array.to_data(), "{class} {entry}");
        }
    }
}

/// A member of `Stl2` is of a class with a container of the class itself.
#[test]
fn objects_of_a_class_in_itself_have_no_place() {
    let streamed = open("Stl2");
    for object in &streamed.objects {
        let offsets = [0, object.len().try_into().unwrap()];
        let error = streamed.layout.decode(object, &offsets).unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(error.message().starts_with("objects of Branching hold objects of their own"));
    }
}

#[test]
fn objects_of_many_entries_are_written_each_from_its_start() {
    for class in ["Pointers", "Nested"] {
        let streamed = open(class);
        let mut offsets = vec![0];
        for object in &streamed.objects {
            offsets.push(offsets.last().unwrap() + i64::try_from(object.len()).unwrap());
        }
        let array = streamed.layout.decode(&streamed.objects.concat(), &offsets).unwrap();
        let (all, ends) = streamed.layout.encode(&array).unwrap();
        for (entry, range) in ends.windows(2).enumerate() {
            let encoded =
                streamed.layout.encode(&streamed.decode(&streamed.objects[entry])).unwrap().0;
            let range = range[0].try_into().unwrap()..range[1].try_into().unwrap();
            assert_eq!(all[range], encoded, "{class} {entry}");
            let slice = streamed.layout.encode(&array.slice(entry, 1)).unwrap().0;
            assert_eq!(slice, encoded, "{class} {entry}");
        }
    }
}

fn refused(class: &str, array: &ArrayRef) -> String {
    let error = open(class).layout.encode(array).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    error.to_string()
}

/// Returns `array`, a record, with another member.
fn with(array: &ArrayRef, member: &str, values: ArrayRef) -> ArrayRef {
    let record = array.as_struct();
    let mut columns = record.columns().to_vec();
    columns[record.fields().iter().position(|field| field.name() == member).unwrap()] = values;
    Arc::new(StructArray::new(record.fields().clone(), columns, None))
}

#[test]
fn arrays_that_are_no_objects_are_refused() {
    let streamed = open("Loops");
    let array = streamed.decode(&streamed.objects[2]);
    let counter = with(&array, "n", Arc::new(PrimitiveArray::<Int32Type>::from(vec![3])));
    assert_eq!(
        refused("Loops", &counter),
        "an array of 2 items, of which the counter n says that they are 3, in Loops::cells (entry 0)"
    );
    let negative = with(&array, "n", Arc::new(PrimitiveArray::<Int32Type>::from(vec![-1])));
    assert!(refused("Loops", &negative).starts_with("the counter n is negative, in Loops::cells"));
    let message = refused("Numbers", &array);
    assert!(message.starts_with("an array of Struct("), "{message}");
    let nulls = array.to_data().into_builder().nulls(Some(NullBuffer::new_null(1))).build();
    let message = refused("Loops", &make_array(nulls.unwrap()));
    assert_eq!(message, "null, where an object has no place for it");
    assert!(!refused("Loops", &new_null_array(array.data_type(), 2)).is_empty());
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn numbers<T: ArrowPrimitiveType>(&mut self, len: usize, of: fn(u64) -> T::Native) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter_values((0..len).map(|_| of(self.below(256)))))
    }

    /// Returns any array of a type.
    fn array(&mut self, data_type: &DataType, len: usize) -> ArrayRef {
        match data_type {
            DataType::Boolean => {
                Arc::new((0..len).map(|_| Some(self.below(2) > 0)).collect::<BooleanArray>())
            }
            DataType::Float64 => self.numbers::<Float64Type>(len, |value| value as f64 / 4.0),
            DataType::Float32 => self.numbers::<Float32Type>(len, |value| value as f32 / 4.0),
            DataType::Int8 => self.numbers::<Int8Type>(len, |value| value as i8),
            DataType::UInt8 => self.numbers::<UInt8Type>(len, |value| value as u8),
            DataType::Int16 => self.numbers::<Int16Type>(len, |value| -(value as i16)),
            DataType::UInt16 => self.numbers::<UInt16Type>(len, |value| value as u16),
            DataType::Int32 => self.numbers::<Int32Type>(len, |value| -(value as i32)),
            DataType::UInt32 => self.numbers::<UInt32Type>(len, |value| value as u32),
            DataType::Int64 => self.numbers::<Int64Type>(len, |value| -(value as i64)),
            DataType::UInt64 => self.numbers::<UInt64Type>(len, |value| value),
            DataType::LargeBinary => {
                let mut bytes = LargeBinaryBuilder::new();
                (0..len).for_each(|_| bytes.append_value(vec![b'x'; self.below(300) as usize]));
                Arc::new(bytes.finish())
            }
            DataType::LargeList(item) => {
                let lengths: Vec<usize> = (0..len).map(|_| self.below(4) as usize).collect();
                let items = self.array(item.data_type(), lengths.iter().sum());
                let offsets = OffsetBuffer::from_lengths(lengths);
                Arc::new(LargeListArray::new(
                    item.clone(),
                    offsets,
                    self.nulls(items, item.is_nullable()),
                    None,
                ))
            }
            DataType::FixedSizeList(item, size) => {
                let items = self.array(item.data_type(), len * *size as usize);
                Arc::new(FixedSizeListArray::new(item.clone(), *size, items, None))
            }
            DataType::Struct(fields) => {
                let columns = fields.iter().map(|field| {
                    let values = self.array(field.data_type(), len);
                    self.nulls(values, field.is_nullable())
                });
                let columns = columns.collect();
                Arc::new(StructArray::new(fields.clone(), columns, None))
            }
            DataType::Union(fields, _) => {
                let names: Vec<&str> =
                    fields.iter().map(|(_, field)| field.name().as_str()).collect();
                let kinds =
                    if names.last() == Some(&"other") { names.len() - 1 } else { names.len() };
                let ids: Vec<i8> = (0..len).map(|_| self.below(kinds as u64) as i8).collect();
                let mut lengths = vec![0; names.len()];
                let offsets = ids.iter().map(|&id| {
                    lengths[id as usize] += 1;
                    lengths[id as usize] - 1
                });
                let offsets: Vec<i32> = offsets.collect();
                let children =
                    fields.iter().zip(lengths).map(|((_, field), len)| match field.data_type() {
                        DataType::Null => Arc::new(NullArray::new(len as usize)) as ArrayRef,
                        of => self.array(of, len as usize),
                    });
                let children = children.collect();
                let union =
                    UnionArray::try_new(fields.clone(), ids.into(), Some(offsets.into()), children);
                Arc::new(union.unwrap())
            }
            other => panic!("{other}"),
        }
    }

    /// Makes some values of `array` null.
    fn nulls(&mut self, array: ArrayRef, nullable: bool) -> ArrayRef {
        if !nullable || matches!(array.data_type(), DataType::Union(..)) {
            return array;
        }
        let valid: Vec<bool> = (0..array.len()).map(|_| self.below(3) > 0).collect();
        let data = array.to_data().into_builder().nulls(Some(NullBuffer::from(valid)));
        make_array(data.build().unwrap())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Random objects of a class with all kinds of containers, and of one with bases and arrays.
    #[test]
    fn any_objects_come_back(seed in any::<u64>(), len in 0_usize..5) {
        let infos = file("Stl").streamer_infos().unwrap();
        for class in ["Stl", "Derived"] {
            let layout = ObjectLayout::compile(&infos, &[class]).unwrap();
            let array = Random(seed).array(&layout.data_type(), len);
            let (bytes, offsets) = layout.encode(&array).unwrap();
            prop_assert_eq!(layout.decode(&bytes, &offsets).unwrap().to_data(), array.to_data());
        }
    }
}
