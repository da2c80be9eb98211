//! Tests a closed list of corrupt baskets and tables, each with its exact message.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::baskets::*;
use arrow_array::cast::AsArray;
use nyssa_root::arrow::Number;
use nyssa_root::streamer::{Layouts, StreamerInfos};
use nyssa_ttree::{Element, Shape, Streamed};

/// Returns one branch `x` of three 32-bit integers in one basket, changed by `change`.
fn file_with(change: impl FnOnce(&mut Spec)) -> File {
    let mut spec = Spec::new(3, be_i32(&[1, 2, 3]));
    change(&mut spec);
    File::new(3).branch("x", flat(Number::Int32), &[spec], false)
}

const PLACE: &str = " (file test.root, object t, field x, basket 0, byte 100)";

fn expect(file: File, message: &str) {
    assert_eq!(file.error("x"), format!("{message}{PLACE}"));
}

#[test]
fn sound_before_it_is_broken() {
    file_with(|_| ()).read("x").unwrap();
}

#[test]
fn key_that_disagrees_with_the_table() {
    expect(
        file_with(|spec| spec.nbytes = 1),
        "the basket's key says 77 bytes, but its branch says 76",
    );
    expect(
        file_with(|spec| spec.seek = 5),
        "the basket's key says that the basket is at byte 105, but its branch says at byte 100",
    );
    let mut file = file_with(|_| ());
    file.tree.branches[0].baskets[0].entries = 4;
    file.tree.branches[0].entries = 4;
    expect(file, "the basket's key says 3 entries, but its branch says 4");
}

#[test]
fn another_object_where_a_basket_should_be() {
    let error = file_with(|spec| spec.class = "TH1F").error("x");
    assert!(error.starts_with("the key holds a \"TH1F\", not a basket (file test.root"), "{error}");
}

#[test]
fn sizes_that_cannot_be() {
    expect(
        file_with(|spec| spec.keylen = -59),
        "the basket's key says that it has 5 bytes, but it has 64",
    );
    expect(
        file_with(|spec| spec.last = -13),
        "the basket's data end at byte 63 of it, inside its key of 64 bytes",
    );
    expect(
        file_with(|spec| spec.last = 1),
        "the basket's data end at byte 13 of a payload of 12 bytes",
    );
    expect(
        file_with(|spec| spec.objlen = 100_000_000),
        "compressed chunk at byte 0 of its block starts with \"\\x00\\x00\", which is not a compression \
         ROOT knows (ZL, CS, XZ, L4, ZS)",
    );
    let mut file = file_with(|spec| spec.entries = -3);
    file.tree.branches[0].baskets[0].entries = 3;
    file.tree.branches[0].entries = 3;
    let error = file.error("x");
    assert!(error.starts_with("basket has a negative number of entries, -3 (file"), "{error}");
}

#[test]
fn wrong_number_of_bytes() {
    expect(
        file_with(|spec| spec.data.truncate(11)),
        "the basket holds 11 bytes, not 3 entries of 4 bytes",
    );
}

#[test]
fn unknown_features() {
    let file = file_with(|spec| spec.io_bits = 4);
    let error = file.read("x").unwrap_err();
    assert_eq!(error.kind(), nyssa_root::Kind::Unsupported);
    assert_eq!(
        error.message(),
        "basket uses I/O features 0x04 that this version of nyssa does not know"
    );
}

#[test]
fn file_that_ends_early() {
    let mut file = file_with(|_| ());
    file.bytes.truncate(150);
    assert_eq!(
        file.error("x"),
        "76 bytes are stored at byte 100 of a file of 150 bytes (file test.root, object t, field x, byte 100)"
    );
    let mut file = file_with(|_| ());
    file.tree.branches[0].baskets[0].bytes = 20;
    let error = file.error("x");
    assert!(error.starts_with("needs 4 bytes where 2 are left (file test.root"), "{error}");
}

#[test]
fn damaged_compression() {
    let file =
        file_with(|spec| spec.stored = Some(b"ZL\x08\x02\x00\x00\x0c\x00\x00\x78\x01".to_vec()));
    let error = file.read("x").unwrap_err();
    assert_eq!(error.kind(), nyssa_root::Kind::OutOfSpecification);
    assert_eq!(error.place().field.as_deref(), Some("x"));
    assert_eq!(error.place().basket, Some(0));
}

#[test]
fn tables_with_holes() {
    let two = |change: fn(&mut Vec<nyssa_ttree::Basket>)| {
        let specs = [Spec::new(1, be_i32(&[1])), Spec::new(2, be_i32(&[2, 3]))];
        let mut file = File::new(3).branch("x", flat(Number::Int32), &specs, false);
        change(&mut file.tree.branches[0].baskets);
        file.error("x")
    };
    assert_eq!(
        two(|baskets| baskets[1].first_entry = 2),
        "no basket holds entry 1: the next one starts at entry 2 (file test.root, object t, field x, basket 1)"
    );
    assert_eq!(
        two(|baskets| {
            baskets.pop();
        }),
        "no basket holds entry 1, the last one ends before it (file test.root, object t, field x)"
    );
    assert_eq!(
        two(|baskets| baskets[1].entries = u64::MAX),
        "no basket holds entry 1: the next one starts at entry 1 (file test.root, object t, field x, basket 1)"
    );
}

#[test]
fn branch_shorter_than_its_tree() {
    let mut file = file_with(|_| ());
    file.tree.entries = 9;
    assert_eq!(
        file.error("x"),
        "the branch has 3 entries, but entry 8 was requested (file test.root, object t, field x)"
    );
}

/// `x[n]` with counts 2, 0, 1 in one basket, and what the basket holds.
fn counted(counts: &[i32], spec: Spec) -> File {
    File::new(3).branch("n", flat(Number::Int32), &[Spec::new(3, be_i32(counts))], false).branch(
        "x",
        jagged(Number::Float32, &[]),
        &[spec],
        false,
    )
}

const COUNTED: &str = " (file test.root, object t, field x, basket 0, byte 176)";

#[test]
fn counter_that_disagrees() {
    let spec = Spec::new(3, be_f32(&[1.0, 2.0, 3.0, 4.0]));
    assert_eq!(
        counted(&[2, 0, 1], spec).error("x"),
        format!("branch x has 4 elements in the basket, but its counter n says 3{COUNTED}")
    );
    let spec = Spec::new(3, be_f32(&[1.0, 2.0]));
    assert_eq!(
        counted(&[2, 0, 1], spec.clone()).error("x"),
        format!("branch x has 2 elements in the basket, but its counter n says 3{COUNTED}")
    );
    let reader = counted(&[2, 0, 1], spec).reader();
    assert_eq!(
        read(&reader, "x", 1..3).unwrap_err().to_string(),
        format!("branch x has 2 elements in the basket, but its counter n says 3 or more{COUNTED}")
    );
    assert_eq!(
        counted(&[2, 0, 1], Spec::new(3, [0; 13])).error("x"),
        format!(
            "branch x has 13 bytes in a basket, not a whole number of elements of 4 bytes{COUNTED}"
        )
    );
}

#[test]
fn counter_that_cannot_be() {
    let spec = Spec::new(3, be_f32(&[1.0, 2.0, 3.0]));
    assert_eq!(
        counted(&[2, -1, 1], spec.clone()).error("x"),
        "a counter says -1 elements (file test.root, object t, field n, entry 1)"
    );
    // More than the bytes of the basket can hold by any compression; a basket could.
    assert_eq!(
        counted(&[100_000_000, 0, 1], spec.clone()).error("x"),
        "100000001 elements of 4 bytes do not fit in 1 baskets (file test.root, object t, field x)"
    );
    assert_eq!(
        counted(&[i32::MAX, 0, 1], spec).error("x"),
        "2147483648 elements of 4 bytes do not fit in 1 baskets (file test.root, object t, field x)"
    );
}

#[test]
fn offsets_that_do_not_rise() {
    let string = |offsets: &[i32]| {
        let spec = Spec::new(2, *b"\x01a\x01b").with_offsets(offsets);
        File::new(2).branch("x", flat(Element::CString), &[spec], false)
    };
    string(&[0, 2]).read("x").unwrap();
    expect(
        string(&[0, 5]),
        "entry 1 of the basket starts at byte 5 of 4, after one that starts at 0",
    );
    expect(
        string(&[0, -1]),
        "entry 1 of the basket starts at byte -1 of 4, after one that starts at 0",
    );
    expect(
        string(&[1, 2]),
        "entry 0 of the basket starts at byte 1 of 4, after one that starts at 0",
    );
    expect(string(&[0, 1]), "a string of 1 bytes is stored in 0 bytes");
}

#[test]
fn wrong_number_of_offsets() {
    let spec = Spec::new(2, *b"\x01a\x01b").with_offsets(&[0, 2, 4, 4]);
    let file = File::new(2).branch("x", flat(Element::CString), &[spec], false);
    expect(file, "the basket has 5 entry offsets for its 2 entries");
}

#[test]
fn strings_beyond_their_entry() {
    let file = |data: &[u8], offsets: Option<&[i32]>| {
        let spec = Spec::new(1, data);
        let spec = if let Some(offsets) = offsets { spec.with_offsets(offsets) } else { spec };
        File::new(1).branch("x", flat(Element::CString), &[spec], false)
    };
    expect(file(b"\x05ab", None), "a string of 5 bytes where 2 are left");
    expect(file(b"\x05ab", Some(&[0])), "a string of 5 bytes is stored in 2 bytes");
}

/// Returns `std::vector<float>` as the streamers write it, one for each entry.
fn vectors() -> Shape {
    let infos = StreamerInfos::parse_lists(&[], 0).unwrap();
    let layout = Layouts::new(&infos).whole("vector<float>", None).unwrap();
    Shape::Streamed(Streamed::new(layout, "vector<float>"))
}

/// Returns a vector of `said` numbers, of which `values` are there, behind a byte count of `bytes`.
fn vector(bytes: u32, said: i32, values: &[f32]) -> Vec<u8> {
    let header = [&(0x4000_0000 | bytes).to_be_bytes()[..], &[0, 9], &said.to_be_bytes()].concat();
    [header, be_f32(values)].concat()
}

#[test]
fn damaged_containers_are_named_with_branch_basket_entry_and_byte() {
    let good = vector(14, 2, &[1.0, 2.0]);
    let read = |damaged: &[u8]| {
        let specs = [
            Spec::new(1, good.clone()).with_offsets(&[0]),
            Spec::new(2, [&good, damaged].concat()).with_offsets(&[0, 18]),
        ];
        File::new(3).branch("v", vectors(), &specs, false)
    };
    assert_eq!(read(&good).read("v").unwrap().as_list::<i64>().value_offsets(), [0, 2, 4, 6]);
    let place = "(file test.root, object t, field v, basket 1, entry 2, byte ";
    for (damaged, message) in [
        (vector(15, 2, &[1.0, 2.0]), "byte count of 15 where 14 bytes are left, at byte 4"),
        (vector(14, 3, &[1.0, 2.0]), "3 items in 8 bytes, at byte 10"),
        (vector(14, -1, &[1.0, 2.0]), "-1 items in 8 bytes, at byte 10"),
        (vector(14, i32::MAX, &[1.0, 2.0]), "2147483647 items in 8 bytes, at byte 10"),
        (
            vector(10, 2, &[1.0, 2.0]),
            "container says that it ends at byte 14, its members end at byte 18, at byte 0",
        ),
        (vector(10, 1, &[1.0, 2.0]), "4 bytes after the object, at byte 14"),
    ] {
        let error = read(&damaged).error("v");
        let expected = format!("{message} of the object {place}");
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}
