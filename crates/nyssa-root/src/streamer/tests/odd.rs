//! Tests data that only some versions of ROOT write, or only some classes have.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;

use super::{basic, decode, info, new_object, versioned};
use crate::streamer::info::Element;

/// `TObject`: version, number, bits.
const T_OBJECT: [u8; 10] = [0, 1, 0, 0, 0, 7, 3, 0, 0, 0];

#[test]
fn a_class_that_is_a_collection_has_the_items_of_its_title() {
    let this = |items: &str| {
        let mut this = Element::of("TStreamerSTL", "This", "Vector<Item>", 300);
        this.title = format!("<{items}> Used to call the proper TStreamerInfo case");
        this.item_code = 61;
        info("Vector<Item>", 1, 5, vec![this])
    };
    let base = Element::of("TStreamerBase", "Empty", "BASE", 0);
    let empty = vec![this("Item"), info("Item", 1, 9, vec![base]), info("Empty", 1, 8, Vec::new())];
    // Three items without members, member by member: the checksum of their class, and their number.
    let three = versioned(0x4009, &[0, 0, 0, 0, 0, 9, 0, 0, 0, 3]);
    let array = decode(empty, "Vector<Item>", &[&three]).unwrap();
    assert_eq!(array.as_list::<i64>().value(0).len(), 3);

    let full = vec![this("Item"), info("Item", 1, 9, vec![basic("i", "int", 3)])];
    let two = versioned(0x4009, &[0, 0, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 6]);
    let array = decode(full, "Vector<Item>", &[&two]).unwrap();
    let items = array.as_list::<i64>().value(0);
    assert_eq!(items.as_struct().column(0).as_primitive::<Int32Type>().values(), &[5, 6]);
}

#[test]
fn so_many_items_without_members_are_taken_for_damage() {
    let mut this = Element::of("TStreamerSTL", "This", "Vector<Item>", 300);
    this.title = "<Item> Used to call the proper TStreamerInfo case".to_owned();
    let classes = vec![info("Vector<Item>", 1, 5, vec![this]), info("Item", 1, 9, Vec::new())];
    let many = versioned(0x4009, &[0, 0, 0, 0, 0, 9, 0x7F, 0xFF, 0xFF, 0xFF]);
    let error = decode(classes, "Vector<Item>", &[&many]).unwrap_err();
    assert!(error.message().contains("2147483647 items in 0 bytes"), "{error}");
}

#[test]
fn items_of_a_type_that_no_one_knows_are_numbers_of_an_enum() {
    let member = Element::of("TStreamerSTL", "v", "vector<Status>", 300);
    let classes = || vec![info("A", 1, 5, vec![member.clone()])];
    let items = [0, 0, 0, 2, 0, 0, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF];
    let object = versioned(1, &versioned(4, &items));
    let array = decode(classes(), "A", &[&object]).unwrap();
    let items = array.as_struct().column(0).as_list::<i64>().value(0);
    assert_eq!(items.as_primitive::<Int32Type>().values(), &[4, -1]);
    // The bytes of objects of a class would end elsewhere, so this is an error.
    let object = versioned(1, &versioned(4, &[0, 0, 0, 1, 0, 0, 0, 4, 0, 0]));
    let error = decode(classes(), "A", &[&object]).unwrap_err();
    assert!(error.message().contains("its members end at byte"), "{error}");
}

#[test]
fn pointers_in_a_counted_array_may_be_objects_without_tags() {
    let mut table = Element::of("TStreamerLoop", "p", "B**", 501);
    table.count_name = "n".to_owned();
    let b = info("B", 1, 6, vec![basic("i", "int", 3)]);
    let classes = || vec![info("A", 1, 5, vec![basic("n", "int", 6), table.clone()]), b.clone()];
    let item = |i: u8| versioned(1, &[0, 0, 0, i]);
    let bare = [item(5), item(6)].concat();
    let tagged = [new_object("B", &item(5)), vec![0; 4]].concat();
    for (items, expected) in [(bare, [Some(5), Some(6)]), (tagged, [Some(5), None])] {
        let members = [vec![0, 0, 0, 2], versioned(5, &items)].concat();
        let array = decode(classes(), "A", &[&versioned(1, &members)]).unwrap();
        let items = array.as_struct().column(1).as_list::<i64>().value(0);
        let items = items.as_struct();
        let numbers = items.column(0).as_primitive::<Int32Type>();
        let values = [0, 1].map(|row| items.is_valid(row).then(|| numbers.value(row)));
        assert_eq!(values, expected);
    }
}

#[test]
fn objects_without_byte_count_may_lack_their_version() {
    let base = || Element::of("TStreamerBase", "TObject", "BASE", 66);
    let classes = vec![info("A", 1, 5, vec![base(), basic("i", "int", 3)])];
    let members = [&T_OBJECT[..], &[0, 0, 0, 9]].concat();
    let with_version = [&[0, 1][..], &members].concat();
    let array = decode(classes, "A", &[&members, &with_version, &versioned(1, &members)]).unwrap();
    let i = array.as_struct().column(1);
    assert_eq!(i.as_primitive::<Int32Type>().values(), &[9, 9, 9]);
}

#[test]
fn a_base_class_without_members_may_take_no_bytes() {
    let empty = Element::of("TStreamerBase", "Empty", "BASE", 0);
    let classes = || {
        vec![
            info("A", 1, 5, vec![empty.clone(), basic("i", "int", 3)]),
            info("Empty", 1, 8, vec![]),
        ]
    };
    let without = versioned(1, &[0, 0, 0, 9]);
    let with = versioned(1, &[&versioned(1, &[])[..], &[0, 0, 0, 9]].concat());
    let array = decode(classes(), "A", &[&without, &with]).unwrap();
    assert_eq!(array.as_struct().column(1).as_primitive::<Int32Type>().values(), &[9, 9]);
}
