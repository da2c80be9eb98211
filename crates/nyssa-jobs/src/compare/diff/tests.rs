use std::sync::Arc;

use arrow_array::builder::{LargeListBuilder, PrimitiveBuilder};
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{
    BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int8Array, Int32Array,
    LargeBinaryArray, LargeListArray, LargeStringArray, ListArray, StructArray, UInt32Array,
    UInt64Array,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use nyssa_data::dataset::Format;
use nyssa_data::view::Slice;
use nyssa_root::error::Kind;

use super::*;

/// The arrays in memory as a dataset.
struct Memory {
    items: Vec<ColumnInfo>,
    arrays: Vec<ArrayRef>,
    cluster: u64,
}

impl Memory {
    fn new(columns: Vec<(&str, ArrayRef)>) -> Self {
        let items = columns.iter().map(|(name, array)| ColumnInfo {
            name: (*name).to_owned(),
            type_name: array.data_type().to_string(),
            field: Ok(Field::new(*name, array.data_type().clone(), false)),
        });
        let items = items.collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        Self { items, arrays, cluster: 3 }
    }
}

impl Dataset for Memory {
    fn format(&self) -> Format {
        Format::TTree
    }
    fn name(&self) -> &str {
        "memory"
    }
    fn file(&self) -> &str {
        "memory"
    }
    fn num_entries(&self) -> u64 {
        self.arrays.first().map_or(0, |array| array.len() as u64)
    }
    fn columns(&self) -> &[ColumnInfo] {
        &self.items
    }
    fn clusters(&self) -> Vec<Range<u64>> {
        let starts = (0..self.num_entries()).step_by(self.cluster as usize);
        starts.map(|start| start..(start + self.cluster).min(self.num_entries())).collect()
    }
    fn read(&self, names: &[&str], entries: Range<u64>, _: &Context) -> Result<Vec<ArrayRef>> {
        let find = |name: &&str| self.items.iter().position(|item| item.name == **name).unwrap();
        let cut = |index: usize| {
            let length = (entries.end - entries.start) as usize;
            self.arrays[index].slice(entries.start as usize, length)
        };
        Ok(names.iter().map(find).map(cut).collect())
    }
}

fn context() -> Context {
    Context::new(Some(2)).unwrap()
}

fn run(a: Vec<(&str, ArrayRef)>, b: Vec<(&str, ArrayRef)>, options: &DiffOptions) -> DiffReport {
    diff(&Memory::new(a), &Memory::new(b), options, &context()).unwrap()
}

fn ints(values: &[i32]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

fn lists(values: &[&[f32]]) -> LargeListArray {
    let mut builder = LargeListBuilder::new(PrimitiveBuilder::<Float32Type>::new());
    for list in values {
        builder.values().append_slice(list);
        builder.append(true);
    }
    builder.finish()
}

#[test]
fn equal_datasets_are_equal() {
    let columns = || -> Vec<(&str, ArrayRef)> {
        vec![
            ("i", ints(&[1, 2, 3, 4, 5])),
            ("l", Arc::new(lists(&[&[1.0], &[], &[2.0, 3.0], &[4.0], &[]]))),
            ("b", Arc::new(BooleanArray::from(vec![true, false, true, true, false]))),
        ]
    };
    let report = run(columns(), columns(), &DiffOptions::default());
    assert!(report.equal);
    assert_eq!(report.compared_entries, 5);
    assert_eq!(report.compared.len(), 3);
}

#[test]
fn the_first_difference_is_told() {
    let a: ArrayRef = Arc::new(lists(&[&[1.0], &[], &[2.0, 3.0], &[4.0], &[5.0]]));
    let b: ArrayRef = Arc::new(lists(&[&[1.0], &[], &[2.0, 3.5], &[4.0, 4.0], &[5.0]]));
    let report = run(vec![("l", a)], vec![("l", b)], &DiffOptions::default());
    assert!(!report.equal);
    assert_eq!(report.compared[0].different_entries, 2);
    let expected =
        Difference { entry: 2, item: "[1]".to_owned(), a: "3.0".to_owned(), b: "3.5".to_owned() };
    assert_eq!(report.compared[0].first, Some(expected));
}

#[test]
fn lengths_of_lists_are_shown_whole() {
    let a: ArrayRef = Arc::new(lists(&[&[4.0]]));
    let b: ArrayRef = Arc::new(lists(&[&[4.0, 5.0]]));
    let report = run(vec![("l", a)], vec![("l", b)], &DiffOptions::default());
    let first = report.compared[0].first.clone().unwrap();
    assert_eq!(
        (first.item.as_str(), first.a.as_str(), first.b.as_str()),
        ("", "[4.0]", "[4.0, 5.0]")
    );
}

#[test]
fn a_list_that_has_lost_items_is_shown_whole() {
    let a: ArrayRef = Arc::new(lists(&[&[4.0, 5.0]]));
    let b: ArrayRef = Arc::new(lists(&[&[]]));
    let report = run(vec![("l", a)], vec![("l", b)], &DiffOptions::default());
    let first = report.compared[0].first.clone().unwrap();
    assert_eq!((first.a.as_str(), first.b.as_str()), ("[4.0, 5.0]", "[]"));
}

#[test]
fn names_types_and_entries_are_compared() {
    let a = vec![("x", ints(&[1, 2])), ("only_a", ints(&[1, 2])), ("t", ints(&[1, 2]))];
    let double: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
    let b = vec![("x", ints(&[1, 2, 3])), ("only_b", ints(&[1, 2, 3])), ("t", double)];
    let report = run(a, b, &DiffOptions::default());
    assert!(!report.equal);
    assert_eq!((report.entries_a, report.entries_b, report.compared_entries), (2, 3, 2));
    assert_eq!(report.only_in_a, ["only_a"]);
    assert_eq!(report.only_in_b, ["only_b"]);
    assert_eq!(report.incomparable[0].name, "t");
    assert_eq!(report.incomparable[0].reason, "a is Int32 (Int32), b is Float64 (Float64)");
    assert_eq!(report.different().count(), 0);
}

#[test]
fn columns_that_cannot_be_compared_are_no_difference() {
    let double = || -> ArrayRef { Arc::new(Float64Array::from(vec![1.0, 2.0])) };
    let a = || vec![("x", ints(&[1, 2])), ("t", ints(&[1, 2]))];
    let report = run(a(), vec![("x", ints(&[1, 2])), ("t", double())], &DiffOptions::default());
    let error = report.require_equal("the tree", "the RNTuple").unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert_eq!(
        error.message(),
        "the RNTuple was written, but these columns cannot be compared with the tree, since they read as \
         other types; no other value differs, and no output is left:\n  t: a is Int32 (Int32), b is Float64 \
         (Float64)"
    );
    let report = run(a(), vec![("x", ints(&[1, 3])), ("t", double())], &DiffOptions::default());
    let error = report.require_equal("the tree", "the RNTuple").unwrap_err();
    assert_eq!(error.kind(), Kind::OutOfSpecification);
    assert!(error.message().contains("does not hold the same values"), "{error}");
}

#[test]
fn dots_match_underscores() {
    let a = vec![("muons.pt", ints(&[1])), ("a_b", ints(&[2])), ("a.b", ints(&[3]))];
    let b = vec![("muons_pt", ints(&[1])), ("a_b", ints(&[2]))];
    let report = run(a, b, &DiffOptions::default());
    assert_eq!(report.compared.len(), 2);
    assert_eq!(report.different().count(), 0);
    assert_eq!(report.only_in_a, ["a.b"]);
}

#[test]
fn integers_of_other_widths_are_compared_by_value() {
    let a = || vec![("n", ints(&[1, -1]))];
    let b =
        || -> Vec<(&str, ArrayRef)> { vec![("n", Arc::new(UInt32Array::from(vec![1, u32::MAX])))] };
    let report = run(a(), b(), &DiffOptions::default());
    assert_eq!(report.compared[0].different_entries, 1, "-1 is not 4294967295");
    let strict = DiffOptions { integers_by_value: false, ..DiffOptions::default() };
    assert_eq!(run(a(), b(), &strict).incomparable.len(), 1);
    let wide: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2]));
    assert!(run(vec![("n", ints(&[1, 2]))], vec![("n", wide)], &DiffOptions::default()).equal);
}

#[test]
fn other_shapes_are_compared_by_value() {
    let floats = |values: &[f32]| -> ArrayRef { Arc::new(Float32Array::from(values.to_vec())) };
    let fixed = |size: i32, items: ArrayRef| -> ArrayRef {
        let field = Arc::new(Field::new("item", items.data_type().clone(), false));
        Arc::new(FixedSizeListArray::new(field, size, items, None))
    };
    let list = |lengths: &[usize], items: ArrayRef| -> ArrayRef {
        let field = Arc::new(Field::new("item", items.data_type().clone(), false));
        let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
        Arc::new(LargeListArray::new(field, offsets, items, None))
    };
    let text = |values: Vec<&[u8]>| -> ArrayRef { Arc::new(LargeBinaryArray::from(values)) };
    let characters: ArrayRef = Arc::new(Int8Array::from(vec![97, -61, 98]));
    let numbers = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let other = &[1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 7.0, 8.0];
    let square = |values| fixed(2, fixed(2, floats(values)));
    let utf: &[u8] = &[97, 195];
    for (a, same, different) in [
        (square(numbers), fixed(4, floats(numbers)), fixed(4, floats(other))),
        (square(numbers), list(&[4, 4], floats(numbers)), list(&[5, 3], floats(numbers))),
        (list(&[4, 4], floats(numbers)), square(numbers), square(other)),
        (text(vec![utf, b"b"]), list(&[2, 1], Arc::clone(&characters)), list(&[1, 2], characters)),
    ] {
        let options = DiffOptions::default();
        let compare = |b: &ArrayRef, options: &DiffOptions| {
            run(vec![("x", Arc::clone(&a))], vec![("x", Arc::clone(b))], options)
        };
        assert!(compare(&same, &options).equal);
        let report = compare(&different, &options);
        assert!(report.compared[0].different_entries > 0 && report.incomparable.is_empty());
        let strict = DiffOptions { shapes_by_value: false, ..DiffOptions::default() };
        assert_eq!(compare(&same, &strict).incomparable.len(), 1);
    }
    // Other sizes and other items stay incomparable.
    for b in [fixed(2, floats(numbers)), list(&[8], ints(&[1; 8])), ints(&[1])] {
        let report = run(vec![("x", square(numbers))], vec![("x", b)], &DiffOptions::default());
        assert_eq!(report.incomparable.len(), 1);
    }
}

#[test]
fn floats_are_compared_as_bits() {
    let bits = |bits: u32| -> ArrayRef { Arc::new(Float32Array::from(vec![f32::from_bits(bits)])) };
    assert!(same(&bits(0x7FC0_0001), &bits(0x7FC0_0001)), "the same NaN");
    let report = run(
        vec![("x", bits(0x7FC0_0001))],
        vec![("x", bits(0x7FC0_0002))],
        &DiffOptions::default(),
    );
    let first = report.compared[0].first.clone().unwrap();
    assert_eq!((first.a.as_str(), first.b.as_str()), ("NaN (0x7fc00001)", "NaN (0x7fc00002)"));
    assert!(!same(&bits(0), &bits(0x8000_0000)), "zero and minus zero");
}

#[test]
fn containers_are_equal_when_lengths_and_items_are() {
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![2_i64, 3, 5]));
    let item = Arc::new(Field::new("element", DataType::Int32, true));
    let values = ints(&[9, 9, 1, 2, 3]);
    let shifted = LargeListArray::new(item.clone(), offsets, values, None);
    let narrow = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1)]),
        Some(vec![Some(2), Some(3)]),
    ]);
    assert_eq!(relation(shifted.data_type(), narrow.data_type()), Relation::Same);
    let narrow = ListArray::new(
        Arc::new(Field::new("item", DataType::Int32, false)),
        narrow.offsets().clone(),
        ints(&[1, 2, 3]),
        None,
    );
    assert!(same(&shifted, &narrow));
    assert!(same(&shifted.slice(1, 1), &narrow.slice(1, 1)));
    assert!(!same(&shifted.slice(0, 1), &narrow.slice(1, 1)));

    let text = LargeStringArray::from(vec!["a", "bc"]);
    let bytes = LargeBinaryArray::from(vec![b"a".as_slice(), b"bc"]);
    assert!(same(&text, &bytes));

    let fixed = |values: &[i32]| FixedSizeListArray::new(item.clone(), 2, ints(values), None);
    assert!(same(&fixed(&[1, 2, 3, 4]).slice(1, 1), &fixed(&[3, 4])));
    assert!(!same(&fixed(&[1, 2]), &fixed(&[1, 3])));

    let record = |names: [&str; 2], values: [i32; 2]| {
        StructArray::from(vec![
            (Arc::new(Field::new(names[0], DataType::Int32, false)), ints(&[values[0]])),
            (Arc::new(Field::new(names[1], DataType::Int32, false)), ints(&[values[1]])),
        ])
    };
    assert!(same(&record(["x", "y"], [1, 2]), &record(["y", "x"], [2, 1])));
    assert!(!same(&record(["x", "y"], [1, 2]), &record(["x", "y"], [2, 1])));
}

#[test]
fn a_small_budget_gives_the_same_answer() {
    let values: Vec<i32> = (0..5000).collect();
    let mut other = values.clone();
    other[4321] = 0;
    let memory = |values: &[i32]| Memory {
        cluster: 2000,
        ..Memory::new(vec![("x", ints(values)), ("y", ints(values))])
    };
    let options = DiffOptions::of_job(100);
    let report = diff(&memory(&values), &memory(&other), &options, &context()).unwrap();
    for compared in &report.compared {
        assert_eq!(compared.different_entries, 1);
        assert_eq!(compared.first.as_ref().unwrap().entry, 4321);
    }
}

#[test]
fn a_slice_counts_from_zero() {
    let whole = Memory::new(vec![("x", ints(&[0, 1, 2, 3, 4, 5, 6]))]);
    let slice = Slice::new(&whole, 2..6).unwrap();
    assert_eq!(slice.clusters(), [0..1, 1..4]);
    let part = Memory::new(vec![("x", ints(&[2, 3, 4, 5]))]);
    assert!(diff(&slice, &part, &DiffOptions::default(), &context()).unwrap().equal);
    assert!(Slice::new(&whole, 2..8).is_err());
    assert!(slice.read(&["x"], 0..5, &context()).is_err());
}

#[test]
fn what_lies_behind_nulls_does_not_matter() {
    use arrow_buffer::NullBuffer;
    let record = |values: Vec<i32>, nulls: Vec<bool>| {
        let fields = vec![Field::new("x", DataType::Int32, false)].into();
        let values: ArrayRef = Arc::new(Int32Array::from(values));
        StructArray::new(fields, vec![values], Some(NullBuffer::from(nulls)))
    };
    let plain = record(vec![0, 1], vec![false, true]);
    assert!(same(&plain, &record(vec![7, 1], vec![false, true])));
    assert!(!same(&plain, &record(vec![0, 2], vec![false, true])));
    assert!(!same(&plain, &record(vec![0, 1], vec![true, false])));
    assert!(same(&plain.slice(1, 1), &record(vec![1], vec![true])));
}
