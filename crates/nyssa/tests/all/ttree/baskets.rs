//! Tests hand-built baskets of every layout, read whole and in part.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use crate::support::baskets::*;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int16Type, Int32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use nyssa_data::Dataset;
use nyssa_root::arrow::Number;
use nyssa_ttree::{Element, Reader, Shape};
use proptest::prelude::*;

fn lists(array: &ArrayRef) -> Vec<Vec<f32>> {
    let list = array.as_list::<i64>();
    (0..list.len())
        .map(|row| list.value(row).as_primitive::<Float32Type>().values().to_vec())
        .collect()
}

fn texts(array: &ArrayRef) -> Vec<Vec<u8>> {
    array.as_binary::<i64>().iter().map(|value| value.unwrap().to_vec()).collect()
}

#[test]
fn numbers_of_every_width() {
    let file = File::new(3)
        .branch(
            "f8",
            flat(Number::Float64),
            &[
                Spec::new(2, [1.5_f64.to_be_bytes(), (-2.0_f64).to_be_bytes()].concat()),
                Spec::new(1, 0.25_f64.to_be_bytes()),
            ],
            false,
        )
        .branch("i2", flat(Number::Int16), &[Spec::new(3, [0, 1, 0xFF, 0xFE, 0x12, 0x34])], false)
        .branch(
            "u8",
            flat(Number::UInt64),
            &[Spec::new(3, [7_u64, u64::MAX, 1 << 40].map(u64::to_be_bytes).concat())],
            false,
        )
        .branch("b", flat(Number::Bool), &[Spec::new(3, [0, 1, 255])], false);
    let reader = file.reader();
    let get = |name| read(&reader, name, 0..3).unwrap();
    assert_eq!(get("f8").as_primitive::<Float64Type>().values()[..], [1.5, -2.0, 0.25]);
    assert_eq!(get("i2").as_primitive::<Int16Type>().values()[..], [1, -2, 0x1234]);
    assert_eq!(get("u8").as_primitive::<UInt64Type>().values()[..], [7, u64::MAX, 1 << 40]);
    let bools: Vec<_> = get("b").as_boolean().values().iter().collect();
    assert_eq!(bools, [false, true, true]);
}

#[test]
fn large_keys_and_embedded_baskets() {
    let mut large = Spec::new(2, be_i32(&[1, -2]));
    large.large = true;
    let file = File::new(4).branch(
        "x",
        flat(Number::Int32),
        &[large, Spec::new(1, be_i32(&[3])), Spec::new(1, be_i32(&[4]))],
        true,
    );
    let array = file.read("x").unwrap();
    assert_eq!(array.as_primitive::<Int32Type>().values()[..], [1, -2, 3, 4]);
}

#[test]
fn compressed_payload() {
    // zlib by hand: a stored deflate block between ROOT's 9-byte header and the Adler-32.
    let payload = be_i32(&[5, 6, 7]);
    let mut zlib = vec![0x78, 0x01, 0x01, 12, 0, !12, !0];
    zlib.extend(&payload);
    let (mut a, mut b) = (1_u32, 0_u32);
    for &byte in &payload {
        a += u32::from(byte);
        b += a;
    }
    zlib.extend(((b << 16) | a).to_be_bytes());
    let mut spec = Spec::new(3, payload);
    spec.stored = Some([b"ZL\x08".as_slice(), &[zlib.len() as u8, 0, 0, 12, 0, 0], &zlib].concat());
    let array = File::new(3).branch("x", flat(Number::Int32), &[spec], false).read("x").unwrap();
    assert_eq!(array.as_primitive::<Int32Type>().values()[..], [5, 6, 7]);
}

#[test]
fn fixed_arrays_of_two_dimensions() {
    let values: Vec<f32> = (0..12_u8).map(f32::from).collect();
    let file = File::new(2).branch(
        "x",
        array(Number::Float32, &[3, 2]),
        &[Spec::new(1, be_f32(&values[..6])), Spec::new(1, be_f32(&values[6..]))],
        false,
    );
    let reader = file.reader();
    assert_eq!(reader.columns()[0].type_name, "float[3][2]");
    let array = read(&reader, "x", 1..2).unwrap();
    assert_eq!(array.data_type(), reader.columns()[0].field.as_ref().unwrap().data_type());
    let rows = array.as_fixed_size_list();
    let last = rows.value(0).as_fixed_size_list().value(2);
    assert_eq!(last.as_primitive::<Float32Type>().values()[..], [10.0, 11.0]);
}

/// Returns the entries 0..5 with 2, 0, 1 | 3, 1 elements, in two baskets.
fn jagged_file(first: Spec, second: Spec, embed: bool) -> Reader {
    File::new(5)
        .branch("n", flat(Number::Int32), &[Spec::new(5, be_i32(&[2, 0, 1, 3, 1]))], false)
        .branch("x", jagged(Number::Float32, &[]), &[first, second], embed)
        .reader()
}

fn expect_jagged(reader: &Reader) {
    assert_eq!(reader.columns()[1].type_name, "float[n]");
    let all = [vec![1.0, 2.0], vec![], vec![3.0], vec![4.0, 5.0, 6.0], vec![7.0]];
    for start in 0..=5 {
        for end in start..=5 {
            let array = read(reader, "x", start as u64..end as u64).unwrap();
            assert_eq!(lists(&array), all[start..end], "entries {start}..{end}");
        }
    }
}

#[test]
fn jagged_with_offsets() {
    let first = Spec::new(3, be_f32(&[1.0, 2.0, 3.0])).with_offsets(&[0, 8, 8]);
    let second = Spec::new(2, be_f32(&[4.0, 5.0, 6.0, 7.0])).with_offsets(&[0, 12]);
    expect_jagged(&jagged_file(first.clone(), second.clone(), false));
    expect_jagged(&jagged_file(first, second, true));
}

#[test]
fn jagged_with_generated_offsets() {
    let mut first = Spec::new(3, be_f32(&[1.0, 2.0, 3.0]));
    let mut second = Spec::new(2, be_f32(&[4.0, 5.0, 6.0, 7.0]));
    for spec in [&mut first, &mut second] {
        spec.io_bits = 1;
        spec.flag = 80;
    }
    expect_jagged(&jagged_file(first, second, false));
}

#[test]
fn jagged_with_sizes_for_offsets() {
    let mut first = Spec::new(3, be_f32(&[1.0, 2.0, 3.0])).with_offsets(&[0, 8, 0]);
    let mut second = Spec::new(2, be_f32(&[4.0, 5.0, 6.0, 7.0])).with_offsets(&[0, 12]);
    (first.io_bits, second.io_bits) = (1, 1);
    expect_jagged(&jagged_file(first, second, false));
}

#[test]
fn jagged_without_its_counter_uses_offsets() {
    let spec = Spec::new(3, be_f32(&[1.0, 2.0, 3.0])).with_offsets(&[0, 8, 8]);
    let file =
        File::new(3).branch("x", jagged(Number::Float32, &[]), std::slice::from_ref(&spec), false);
    assert_eq!(lists(&file.read("x").unwrap()), [vec![1.0, 2.0], vec![], vec![3.0]]);
    let file =
        File::new(3).branch("x", jagged(Number::Float32, &[]), &[Spec::new(3, spec.data)], false);
    assert_eq!(
        file.error("x"),
        "branch x is counted by n, which cannot be read, and its baskets do not store where their \
         entries lie (file test.root, object t, field x, basket 0, byte 100)"
    );
}

#[test]
fn jagged_rows_of_fixed_arrays() {
    let file = File::new(2)
        .branch("n", flat(Number::Int32), &[Spec::new(2, be_i32(&[2, 1]))], false)
        .branch(
            "x",
            jagged(Number::Float32, &[2]),
            &[Spec::new(2, be_f32(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))],
            false,
        );
    let array = file.read("x").unwrap();
    let list = array.as_list::<i64>();
    assert_eq!(list.offsets()[..], [0, 2, 3]);
    let rows = list.values().as_fixed_size_list();
    assert_eq!(rows.value(2).as_primitive::<Float32Type>().values()[..], [5.0, 6.0]);
}

#[test]
fn lists_of_one_counter_share_their_offsets() {
    let x = Spec::new(2, be_f32(&[1.0, 2.0, 3.0]));
    let reader = File::new(2)
        .branch("n", flat(Number::UInt8), &[Spec::new(2, [2, 1])], false)
        .branch("x", jagged(Number::Float32, &[]), std::slice::from_ref(&x), false)
        .branch("y", jagged(Number::Float32, &[]), &[x], false)
        .reader();
    let context = nyssa_root::Context::new(Some(2)).unwrap();
    let arrays = reader.read(&["y", "n", "x"], 0..2, &context).unwrap();
    let offsets = |array: &ArrayRef| array.as_list::<i64>().offsets().inner().inner().as_ptr();
    assert_eq!(offsets(&arrays[0]), offsets(&arrays[2]));
    assert_eq!(arrays[1].len(), 2);
}

#[test]
fn strings_with_and_without_offsets() {
    let long = vec![b'x'; 300];
    let data = [&b"\x03abc\x00"[..], &[255, 0, 0, 1, 44], &long, b"\x02de"].concat();
    let expected: Vec<Vec<u8>> = vec![b"abc".into(), b"".into(), long, b"de".into()];
    let plain = Spec::new(4, data);
    for spec in [plain.clone(), plain.with_offsets(&[0, 4, 5, 310])] {
        let reader = File::new(4).branch("s", flat(Element::CString), &[spec], false).reader();
        assert_eq!(texts(&read(&reader, "s", 0..4).unwrap()), expected);
        assert_eq!(texts(&read(&reader, "s", 1..3).unwrap()), expected[1..3]);
    }
}

#[test]
fn empty_strings_of_no_bytes() {
    let spec = Spec::new(3, *b"\x01a\x01b").with_offsets(&[0, 2, 2]);
    let file = File::new(3).branch("s", flat(Element::CString), &[spec], false);
    assert_eq!(texts(&file.read("s").unwrap()), [&b"a"[..], b"", b"b"]);
}

#[test]
fn leaf_list_of_fixed_leaves_is_a_struct() {
    let entry = |x: f64, y: i32, z: [i16; 2]| {
        [&x.to_be_bytes()[..], &y.to_be_bytes(), &z[0].to_be_bytes(), &z[1].to_be_bytes()].concat()
    };
    let specs = [
        Spec::new(2, [entry(1.5, -1, [1, 2]), entry(2.5, -2, [3, 4])].concat()),
        Spec::new(1, entry(3.5, -3, [5, 6])),
    ];
    let mut file = File::new(3).branch("p", flat(Number::Int32), &specs, false);
    let branch = &mut file.tree.branches[0];
    branch.shape = Ok(Shape::LeafList);
    branch.leaves = vec![
        leaf("x", Number::Float64, &[]),
        leaf("y", Number::Int32, &[]),
        leaf("z", Number::Int16, &[2]),
    ];
    let reader = file.reader();
    let item = &reader.columns()[0];
    assert_eq!(item.type_name, "struct { double x; std::int32_t y; std::int16_t z[2]; }");
    for (start, end) in [(0, 3), (1, 3), (1, 2)] {
        let array = read(&reader, "p", start..end).unwrap();
        assert_eq!(item.field.as_ref().unwrap().data_type(), array.data_type());
        let row = array.as_struct();
        let range = start as usize..end as usize;
        let x = row.column(0).as_primitive::<Float64Type>();
        assert_eq!(x.values()[..], [1.5, 2.5, 3.5][range.clone()]);
        let y = row.column(1).as_primitive::<Int32Type>();
        assert_eq!(y.values()[..], [-1, -2, -3][range.clone()]);
        let z = row.column(2).as_fixed_size_list().values().as_primitive::<Int16Type>();
        assert_eq!(z.values()[..], [1, 2, 3, 4, 5, 6][2 * range.start..2 * range.end]);
    }
}

#[test]
fn counter_in_a_leaf_list() {
    let x = Spec::new(2, be_f32(&[1.0, 2.0, 3.0]));
    let mut file = File::new(2)
        .branch("n", flat(Number::Int32), &[Spec::new(2, be_i32(&[7, 1, 8, 2]))], false)
        .branch("x", jagged(Number::Float32, &[]), &[x], false);
    let branch = &mut file.tree.branches[0];
    branch.shape = Ok(Shape::LeafList);
    branch.leaves = vec![leaf("run", Number::Int32, &[]), leaf("n", Number::Int32, &[])];
    assert_eq!(lists(&file.read("x").unwrap()), [vec![1.0], vec![2.0, 3.0]]);
}

#[test]
fn one_branch_without_a_context() {
    let reader = jagged_file(
        Spec::new(3, be_f32(&[1.0, 2.0, 3.0])),
        Spec::new(2, be_f32(&[4.0, 5.0, 6.0, 7.0])),
        false,
    );
    let branch = reader.branch("x").unwrap();
    let counter = branch.shape.as_ref().unwrap().counter().cloned().unwrap();
    let offsets = reader.offsets(&counter, 2..4).unwrap();
    assert_eq!(offsets[..], [0, 1, 4]);
    let array = reader.read_branch(branch, 2..4, Some(&offsets)).unwrap();
    assert_eq!(lists(&array), [vec![3.0], vec![4.0, 5.0, 6.0]]);
    let error = reader.read_branch(branch, 2..5, Some(&offsets)).unwrap_err();
    assert_eq!(error.message(), "3 offsets were given for 3 entries");
}

#[test]
fn unknown_names_and_ranges() {
    let reader =
        File::new(1).branch("muon_pt", flat(Number::UInt8), &[Spec::new(1, [1])], false).reader();
    let error = read(&reader, "muon_pt", 0..2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "entries 0 to 2 were requested, but there are 1 (file test.root, object t)"
    );
    let error = read(&reader, "muon_pz", 0..1).unwrap_err();
    assert_eq!(error.kind(), nyssa_root::Kind::NotFound);
    assert_eq!(error.message(), "there is no branch \"muon_pz\"");
    assert_eq!(error.suggestions(), ["muon_pt"]);
}

#[test]
fn clusters_cover_all_entries() {
    let mut file = File::new(5).branch(
        "x",
        flat(Number::UInt8),
        &[Spec::new(3, [1, 2, 3]), Spec::new(2, [4, 5])],
        false,
    );
    file.tree.cluster_starts = vec![0, 2, 4];
    assert_eq!(file.reader().clusters(), [0..2, 2..4, 4..5]);
    let file = File::new(5).branch(
        "x",
        flat(Number::UInt8),
        &[Spec::new(3, [1, 2, 3]), Spec::new(2, [4, 5])],
        false,
    );
    assert_eq!(file.reader().clusters().first(), Some(&(0..5)));
    assert!(File::new(0).reader().clusters().is_empty());
}

prop_compose! {
    /// Counts of entries cut into baskets, each with or without entry offsets, the last one embedded
    /// or not.
    fn layouts()(
        baskets in prop::collection::vec((prop::collection::vec(0_usize..5, 1..6), any::<bool>()), 1..6),
        counter_cut in 1_usize..8,
        embed in any::<bool>(),
    ) -> (Vec<(Vec<usize>, bool)>, usize, bool) {
        (baskets, counter_cut, embed)
    }
}

fn build(
    (baskets, counter_cut, embed): &(Vec<(Vec<usize>, bool)>, usize, bool),
) -> (Reader, Vec<Vec<f32>>) {
    let mut next = 0_u16;
    let mut all = Vec::new();
    let mut specs = Vec::new();
    for (counts, with_offsets) in baskets {
        let (mut data, mut offsets) = (Vec::new(), Vec::new());
        for &count in counts {
            offsets.push(data.len() as i32);
            let entry: Vec<f32> = (0..count).map(|i| f32::from(next + i as u16)).collect();
            next += count as u16;
            data.extend(be_f32(&entry));
            all.push(entry);
        }
        let spec = Spec::new(counts.len(), data);
        specs.push(if *with_offsets { spec.with_offsets(&offsets) } else { spec });
    }
    let counts: Vec<i32> = all.iter().map(|entry| entry.len() as i32).collect();
    let counters: Vec<_> =
        counts.chunks(*counter_cut).map(|part| Spec::new(part.len(), be_i32(part))).collect();
    let reader = File::new(all.len() as u64)
        .branch("n", flat(Number::Int32), &counters, false)
        .branch("x", jagged(Number::Float32, &[]), &specs, *embed)
        .reader()
        .with_options(nyssa_ttree::TTreeReadOptions { fetch_bytes: 100 });
    (reader, all)
}

proptest! {
    #[test]
    fn any_part_equals_the_same_part_of_the_whole(
        layout in layouts(), start in 0.0..1.0_f64, end in 0.0..1.0_f64
    ) {
        let (reader, all) = build(&layout);
        let at = |share: f64| (share * (all.len() + 1) as f64) as usize;
        let (start, end) = (at(start.min(end)), at(start.max(end)));
        let array = read(&reader, "x", start as u64..end as u64).unwrap();
        prop_assert_eq!(lists(&array), &all[start..end]);
        let whole = read(&reader, "x", 0..all.len() as u64).unwrap();
        prop_assert_eq!(lists(&whole.slice(start, end - start)), lists(&Arc::clone(&array)));
    }
}
