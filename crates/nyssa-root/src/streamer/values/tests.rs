//! Tests the object reader on records that are made by hand from the layouts in ROOT's `TBufferFile`.

use crate::error::Kind;
use crate::streamer::info::known::class_info;
use crate::streamer::values::{ClassTable, Numbers, Object, Value};
use crate::streamer::wire::MEMBER_WISE;

const KEYLEN: u16 = 30;

/// Puts a byte count and a version before members.
fn versioned(version: u16, members: &[u8]) -> Vec<u8> {
    let count = 0x4000_0000 | u32::try_from(members.len() + 2).unwrap();
    let mut out = count.to_be_bytes().to_vec();
    out.extend(version.to_be_bytes());
    out.extend(members);
    out
}

/// Returns a pointer to a new object: byte count, class tag or name, object.
fn pointer(class: &[u8], object: &[u8]) -> Vec<u8> {
    let count = 0x4000_0000 | u32::try_from(class.len() + object.len()).unwrap();
    [&count.to_be_bytes()[..], class, object].concat()
}

fn new_class(name: &str) -> Vec<u8> {
    [&[0xFF; 4][..], name.as_bytes(), &[0]].concat()
}

/// Returns the table of the classes in these lines.
fn table(lines: &[&str]) -> ClassTable {
    let infos: Vec<_> = lines.iter().map(|line| class_info(line).unwrap()).collect();
    ClassTable::new().with(&infos)
}

/// A linked list.
const NODE: &str = "Node 1: int value; Node* next";

fn node_table() -> ClassTable {
    table(&[NODE])
}

fn node(value: i32, next: &[u8]) -> Vec<u8> {
    versioned(1, &[&value.to_be_bytes()[..], next].concat())
}

fn read(table: &ClassTable, class: &str, payload: &[u8]) -> crate::Result<Object> {
    Object::read(table, class, payload, KEYLEN).map(Option::unwrap)
}

fn values(object: &Object, count: usize) -> Vec<i64> {
    let mut view = Some(object.root());
    let mut out = Vec::new();
    while let Some(node) = view.filter(|_| out.len() < count) {
        out.push(node.i64("value").unwrap());
        view = node.view("next").unwrap();
    }
    out
}

#[test]
fn pointers_to_new_objects_and_classes_seen_before() {
    // The outer node takes 10 bytes before its pointer. The class tag is where the tag of the name is (4 bytes
    // after the start of the pointer), counted from the start of the key, plus 2.
    let tag = 0x8000_0000 | (u32::from(KEYLEN) + 10 + 4 + 2);
    let inner = pointer(&tag.to_be_bytes(), &node(3, &[0; 4]));
    let middle = pointer(&new_class("Node"), &node(2, &inner));
    let object = read(&node_table(), "Node", &node(1, &middle)).unwrap();
    assert_eq!(values(&object, 9), [1, 2, 3]);
}

#[test]
fn pointers_back_make_cycles() {
    // Tag 1 is the object of the record itself.
    let object = read(&node_table(), "Node", &node(1, &1_u32.to_be_bytes())).unwrap();
    assert_eq!(values(&object, 3), [1, 1, 1]);
    // The second node points to itself, which is at the start of its pointer.
    let own = u32::from(KEYLEN) + 10 + 2;
    let second = pointer(&new_class("Node"), &node(2, &own.to_be_bytes()));
    let object = read(&node_table(), "Node", &node(1, &second)).unwrap();
    assert_eq!(values(&object, 4), [1, 2, 2, 2]);
}

/// Tests records without byte counts. They number classes and objects from 2 on, in the order of their
/// appearance.
#[test]
fn numbered_tags_of_very_old_files() {
    let plain = |value: u8, next: &[u8]| [&[0, 1, 0, 0, 0, value][..], next].concat();
    let third = [&0x8000_0002_u32.to_be_bytes()[..], &plain(3, &[0, 0, 0, 3])].concat();
    let second = [new_class("Node"), plain(2, &third)].concat();
    let object = read(&node_table(), "Node", &plain(1, &second)).unwrap();
    assert_eq!(values(&object, 5), [1, 2, 3, 2, 3]);
}

/// The reason why a member of the tests cannot be read.
const OPAQUE: &str = "the container is streamed member by member";

#[test]
fn what_is_unknown_is_skipped_by_its_byte_count() {
    let table = table(&[NODE, "Holder 1: Node* pointer; vector<Node*> opaque; int after"]);
    let members = [
        pointer(&new_class("Unheard"), &versioned(7, b"whatever")),
        versioned(MEMBER_WISE | 1, b"anything"),
        vec![0, 0, 0, 5],
    ];
    let object = read(&table, "Holder", &versioned(1, &members.concat())).unwrap();
    let root = object.root();
    assert_eq!(root.i64("after").unwrap(), 5);
    assert_eq!(
        root.view("pointer").unwrap_err().to_string(),
        "Holder::pointer cannot be read: the file has no streamer info of class Unheard"
    );
    assert_eq!(root.get("opaque"), Some(&Value::Unknown(OPAQUE.into())));
}

/// Tests that an object in skipped bytes is read when a later pointer refers to it.
#[test]
fn references_into_what_was_skipped() {
    let table = table(&[NODE, "Holder 1: vector<Node*> opaque; Node* later"]);
    let hidden = pointer(&new_class("Node"), &node(9, &[0; 4]));
    // Before the hidden pointer are the 6 bytes of the header of Holder and the 6 bytes of the opaque member.
    let tag = u32::from(KEYLEN) + 12 + 2;
    let members = [versioned(MEMBER_WISE | 1, &hidden), tag.to_be_bytes().to_vec()].concat();
    let object = read(&table, "Holder", &versioned(1, &members)).unwrap();
    assert_eq!(object.root().view("later").unwrap().unwrap().i64("value").unwrap(), 9);
}

/// Tests arrays of pointers (`kStreamLoop`). ROOT up to 5.15/08 wrote objects without the tag of their class there.
#[test]
fn arrays_of_pointers_with_a_counter() {
    let table = table(&[NODE, "Holder 1: int n; Node** several[n]; Node* first"]);
    let tagged = pointer(&new_class("Node"), &node(7, &[0; 4]));
    // Before the first pointer are the header of Holder, the counter and the header of the array.
    let tag = (u32::from(KEYLEN) + 6 + 4 + 6 + 2).to_be_bytes();
    for (several, values) in [
        ([tagged.clone(), vec![0; 4]].concat(), [Some(7), None]),
        ([node(8, &[0; 4]), node(9, &[0; 4])].concat(), [Some(8), Some(9)]),
    ] {
        let first = if values[1].is_none() { tag } else { [0; 4] };
        let members = [vec![0, 0, 0, 2], versioned(1, &several), first.to_vec()].concat();
        let object = read(&table, "Holder", &versioned(1, &members)).unwrap();
        let items = object.root().list("several").unwrap();
        let numbers: Vec<_> =
            items.iter().map(|it| it.map(|it| it.i64("value").unwrap())).collect();
        assert_eq!(numbers, values);
        let first = object.root().view("first").unwrap();
        assert_eq!(first.map(|it| it.i64("value").unwrap()), (first.is_some()).then_some(7));
    }
}

#[test]
fn counted_arrays_and_containers() {
    let words = "vector<string> words; vector<vector<unsigned char> > rows";
    let table = table(&[&format!("Arrays 3: int n; unsigned short* counted[n]; {words}")]);
    let members = [
        vec![0, 0, 0, 2, 1, 0, 7, 0, 8],
        versioned(9, b"\0\0\0\x02\x01a\x02bc"),
        versioned(9, b"\0\0\0\x02\0\0\0\x01\x05\0\0\0\0"),
    ];
    let object = read(&table, "Arrays", &versioned(3, &members.concat())).unwrap();
    let root = object.root();
    assert_eq!(root.i64s("counted").unwrap(), [7, 8]);
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(root.get("words"), Some(&Value::List([text("a"), text("bc")].into())));
    let row = |row: &[u8]| Value::Numbers(Numbers::UInt8(row.into()));
    assert_eq!(root.get("rows"), Some(&Value::List([row(&[5]), row(&[])].into())));
}

#[test]
fn damage_is_named() {
    let table = node_table();
    for (class, payload, message) in [
        (
            "Node",
            versioned(1, &[0, 0, 0, 1, 0, 0, 0, 0, 9]),
            "Node version 1 has 15 bytes, reading its members took 14, at byte 0 of the \
             uncompressed object",
        ),
        (
            "Node",
            node(1, &77_u32.to_be_bytes()),
            "tag 77 refers to nothing before it, at byte 14 of the uncompressed object (field \
             Node::next)",
        ),
        (
            "Node",
            node(1, &[0x40, 0, 1, 0]),
            "byte count of 256 where 0 bytes are left, at byte 14 of the uncompressed object \
             (field Node::next)",
        ),
    ] {
        let error = read(&table, class, &payload).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification);
        assert_eq!(error.to_string(), message);
    }
    let loop_forever = ClassTable::new().with(&[class_info("Self 1: Self self").unwrap()]);
    let error = read(&loop_forever, "Self", &[0, 1].repeat(1000)).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    let message = "objects in objects that are more than 100 deep (field Self::self)";
    assert_eq!(error.to_string(), message);
    let error = read(&table, "Node", &versioned(4, &[0; 8])).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert_eq!(
        error.to_string(),
        "the file has no streamer info of version 4 of class Node, only of 1"
    );
}
