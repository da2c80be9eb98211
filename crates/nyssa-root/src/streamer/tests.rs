//! Tests objects that are made by hand from the layouts in ROOT's `TBufferFile` and `TStreamerInfo`. Objects
//! that ROOT itself writes are read in `tests/read/streamed.rs` and from Python.

mod odd;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{Array, ArrayRef};

use super::{Counts, Layouts, Member, ObjectLayout, Origin};
use crate::error::Kind;
use crate::streamer::info::{ClassInfo, Element, StreamerInfos};

fn basic(name: &str, type_name: &str, code: i32) -> Element {
    Element::of("TStreamerBasicType", name, type_name, code)
}

fn info(name: &str, version: i32, checksum: u32, elements: Vec<Element>) -> ClassInfo {
    ClassInfo { name: name.to_owned(), version, checksum, elements }
}

/// Puts a byte count and a version before members.
fn versioned(version: u16, members: &[u8]) -> Vec<u8> {
    let count = 0x4000_0000 | u32::try_from(members.len() + 2).unwrap();
    [&count.to_be_bytes()[..], &version.to_be_bytes(), members].concat()
}

/// Returns a pointer to a new object of a class that was not seen before.
fn new_object(class: &str, object: &[u8]) -> Vec<u8> {
    let size = 4 + class.len() + 1 + object.len();
    let count = 0x4000_0000 | u32::try_from(size).unwrap();
    [&count.to_be_bytes()[..], &[0xFF; 4], class.as_bytes(), &[0], object].concat()
}

fn decode(classes: Vec<ClassInfo>, class: &str, objects: &[&[u8]]) -> crate::Result<ArrayRef> {
    let layout = ObjectLayout::compile(&StreamerInfos::new(classes), &[class])?;
    let mut offsets = vec![0];
    for object in objects {
        offsets.push(offsets.last().unwrap() + i64::try_from(object.len()).unwrap());
    }
    layout.decode(&objects.concat(), &offsets)
}

/// Returns `A { int i; }` as version 1 and `A { int i; float x; }` as version 2.
fn two_versions() -> Vec<ClassInfo> {
    let i = || basic("i", "int", 3);
    vec![info("A", 1, 7, vec![i()]), info("A", 2, 8, vec![i(), basic("x", "float", 5)])]
}

#[test]
fn versions_of_a_class_read_as_the_newest() {
    let x = 1.5_f32.to_be_bytes();
    let old = versioned(1, &[0, 0, 0, 5]);
    let new = versioned(2, &[&[0, 0, 0, 6], &x[..]].concat());
    let by_checksum = versioned(0, &[0, 0, 0, 7, 0, 0, 0, 9]);
    let array = decode(two_versions(), "A", &[&old, &new, &by_checksum]).unwrap();
    let array = array.as_struct();
    assert_eq!(array.column(0).as_primitive::<Int32Type>().values(), &[5, 6, 9]);
    assert_eq!(array.column(1).as_primitive::<Float32Type>().values(), &[0.0, 1.5, 0.0]);
}

#[test]
fn numbers_of_two_versions_have_the_wider_type() {
    let classes = vec![
        info("A", 1, 7, vec![basic("i", "short", 2)]),
        info("A", 2, 8, vec![basic("i", "int", 3)]),
    ];
    let objects = [&versioned(2, &[0, 1, 0, 6])[..], &versioned(1, &[0xFF, 0xFA])];
    let array = decode(classes, "A", &objects).unwrap();
    let numbers = array.as_struct().column(0).as_primitive::<Int32Type>();
    assert_eq!(numbers.values(), &[65_542, -6]);
}

#[test]
fn a_member_of_another_type_is_refused_in_the_version_that_has_it() {
    let text = Element::of("TStreamerString", "i", "TString", 65);
    let classes =
        || vec![info("A", 1, 7, vec![text.clone()]), info("A", 2, 8, vec![basic("i", "int", 3)])];
    assert!(decode(classes(), "A", &[&versioned(2, &[0, 0, 0, 6])]).is_ok());
    let error = decode(classes(), "A", &[&versioned(1, &[1, b'a'])]).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert_eq!(error.message(), "A::i has another type in version 1 of A than in the others");
}

/// Tests `L { L* next; int i; }`. A type of a column cannot contain itself, and null reads as null.
#[test]
fn an_object_of_a_class_in_itself_is_refused() {
    let classes = vec![info(
        "L",
        1,
        7,
        vec![Element::of("TStreamerObjectAnyPointer", "next", "L*", 69), basic("i", "int", 3)],
    )];
    let inner = versioned(1, &[0, 0, 0, 0, 0, 0, 0, 2]);
    let pointer = new_object("L", &inner);
    let outer = versioned(1, &[&pointer[..], &[0, 0, 0, 1]].concat());
    let array = decode(classes.clone(), "L", &[&inner]).unwrap();
    assert!(array.as_struct().column(0).is_null(0));
    let error = decode(classes, "L", &[&outer]).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().starts_with("an object of class L behind a pointer to L has no place"));
}

/// Returns `P { A* first; A* second; }`
fn two_pointers() -> Vec<ClassInfo> {
    let pointer = |name: &str| Element::of("TStreamerObjectAnyPointer", name, "A*", 69);
    vec![
        info("A", 1, 7, vec![basic("i", "int", 3)]),
        info("P", 1, 9, vec![pointer("first"), pointer("second")]),
    ]
}

#[test]
fn an_object_that_two_pointers_share_is_repeated() {
    let first = new_object("A", &versioned(1, &[0, 0, 0, 5]));
    // The first pointer is after 6 bytes of version header, and tags add 2.
    let object = versioned(1, &[&first[..], &[0, 0, 0, 8]].concat());
    let array = decode(two_pointers(), "P", &[&object]).unwrap();
    let second = array.as_struct().column(1).as_struct();
    assert_eq!(second.column(0).as_primitive::<Int32Type>().values(), &[5]);
}

#[test]
fn damage_is_named_with_class_member_entry_and_byte() {
    let good =
        versioned(1, &[&new_object("A", &versioned(1, &[0, 0, 0, 5]))[..], &[0; 4]].concat());
    let with = |second: &[u8]| {
        versioned(1, &[&new_object("A", &versioned(1, &[0, 0, 0, 5]))[..], second].concat())
    };
    let unknown_class = with(&new_object("B", &versioned(1, &[0, 0, 0, 5])));
    let unknown_version = with(&new_object("A", &versioned(3, &[0, 0, 0, 5])));
    let unknown_checksum = with(&new_object("A", &versioned(0, &[0, 0, 0, 1, 0, 0, 0, 5])));
    let too_long = with(&new_object("A", &versioned(1, &[0, 0, 0, 5, 6])));
    let nowhere = with(&[0, 0, 0, 77]);
    let no_object = with(&[0, 0, 0, 9]);
    let beyond = with(&[0x40, 0, 1, 0]);
    let truncated = &good[..good.len() - 2];
    let behind = [&good[..], &[0]].concat();
    for (object, message) in [
        (
            &unknown_class[..],
            "a pointer to A leads to an object of class B, whose streamer info does not \
             say that it is derived from it, in P::second (entry 1)",
        ),
        (
            &unknown_version,
            "no streamer info of version 3 of class A, only of version 1; or A has a streamer of its own \
             in its library, so that the streamer info does not describe its bytes: streamer=\"raw\" \
             where the file is opened gives them as they are, in P::second (entry 1)",
        ),
        (
            &unknown_checksum,
            "no streamer info of checksum 0x00000001 of class A, only of version 1; or A has a streamer \
             of its own in its library, so that the streamer info does not describe its bytes: \
             streamer=\"raw\" where the file is opened gives them as they are, in P::second (entry 1)",
        ),
        (
            &too_long,
            "A says that it ends at byte 47, its members end at byte 46, in P::second, at byte 36 of the \
             object (entry 1)",
        ),
        (
            &nowhere,
            "tag 0x4d refers to no object before it, in P::second, at byte 26 of the \
             object (entry 1)",
        ),
        (
            &no_object,
            "tag 0x10ff refers to no object before it, in P::second, at byte 7 of the \
             object (entry 1)",
        ),
        (
            &beyond,
            "byte count of 256 where 0 bytes are left, in P::second, at byte 30 of the \
             object (entry 1)",
        ),
        (truncated, "byte count of 26 where 24 bytes are left, at byte 4 of the object (entry 1)"),
        (&behind, "1 bytes after the object, at byte 30 of the object (entry 1)"),
    ] {
        let error = decode(two_pointers(), "P", &[&good, object]).unwrap_err();
        let hint = "; or P, or a class in it, has a streamer of its own in its library, so that the \
                    streamer info does not describe its bytes: streamer=\"raw\" where the file is opened \
                    gives them as they are";
        assert_eq!(error.to_string().replace(hint, ""), message);
        assert_eq!(error.message().ends_with(hint), error.kind() == Kind::OutOfSpecification);
    }
}

#[test]
fn sizes_that_no_object_can_have_cost_nothing() {
    let mut counted = Element::of("TStreamerBasicPointer", "p", "int*", 43);
    counted.count_name = "n".to_owned();
    let class = |member: Element| {
        vec![
            info("A", 1, 7, vec![basic("i", "int", 3)]),
            info("C", 1, 9, vec![basic("n", "int", 6), member]),
        ]
    };
    let stl = |name: &str| Element::of("TStreamerSTL", "v", name, 300);
    let huge = [0x7F, 0xFF, 0xFF, 0xFF];
    let mut array = basic("a", "int", 23);
    array.array_length = i32::MAX;
    for (member, members) in [
        (counted, [&huge[..], &[1, 0, 0]].concat()),
        (stl("vector<int>"), [&[0; 4], &versioned(9, &huge)[..]].concat()),
        (stl("vector<string>"), [&[0; 4], &versioned(9, &huge)[..]].concat()),
        (stl("map<int,A>"), [&[0; 4], &versioned(9, &huge)[..]].concat()),
        (
            stl("vector<A>"),
            [&[0; 4], &versioned(9 | 1 << 14, &[&[0, 1], &huge[..]].concat())[..]].concat(),
        ),
        (stl("bitset<2000000000>"), [&[0; 4], &versioned(9, &huge)[..]].concat()),
        (array, vec![0; 4]),
    ] {
        let what = format!("{member:?}");
        let error = decode(class(member), "C", &[&versioned(1, &members)]).unwrap_err();
        assert_ne!(error.kind(), Kind::LimitExceeded, "{what}: {error}");
    }
}

#[test]
fn classes_that_cannot_be_compiled_name_class_and_member() {
    let object = |name: &str| Element::of("TStreamerObjectAny", "member", name, 62);
    let refused = |classes: Vec<ClassInfo>| {
        let error = ObjectLayout::compile(&StreamerInfos::new(classes), &["C"]).unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported);
        error.to_string()
    };
    assert_eq!(refused(vec![]), "the file has no streamer info of class C");
    assert_eq!(
        refused(vec![info("C", 1, 9, vec![object("Lost")])]),
        "the file has no streamer info of class Lost (field C::member)"
    );
    assert_eq!(
        refused(vec![info("C", 1, 9, vec![object("C")])]),
        "class C contains itself (field C::member)"
    );
    assert_eq!(
        refused(vec![info("C", 1, 9, vec![Element::of("TStreamerObjectAny", "member", "C", 500)])]),
        "nyssa does not decode its type C (streamer type 500) (field C::member)"
    );
    // Each class has the next class twice, so that a tree of them would be much too large.
    let chain = (0..99).map(|i| {
        let next = || object(&format!("C{}", i + 1));
        let name = if i == 0 { "C".to_owned() } else { format!("C{i}") };
        info(&name, 1, i, vec![next(), next()])
    });
    assert!(refused(chain.collect()).starts_with("class C is nested too deep or has too many"));
}

/// Tests that references in objects with a key count from its start: a class by its place, the object itself by
/// 1.
#[test]
fn references_count_from_the_origin() {
    let first = new_object("A", &versioned(1, &[0, 0, 0, 5]));
    let object = |place: u8| versioned(1, &[&first[..], &[0, 0, 0, place]].concat());
    let layout = ObjectLayout::compile(&StreamerInfos::new(two_pointers()), &["P"]).unwrap();
    let seconds = |bytes: &[u8], offsets: &[i64], origin| {
        let array = layout.decode_from(bytes, offsets, origin)?;
        let second = array.as_struct().column(1).as_struct();
        Ok::<_, crate::Error>(second.column(0).as_primitive::<Int32Type>().values().to_vec())
    };
    // The first pointer is at byte 6 of its object, and tags add 2.
    let size = i64::try_from(object(0).len()).unwrap();
    let both = [object(8 + 64), object(8 + 64)].concat();
    assert_eq!(seconds(&both, &[0, size, 2 * size], Origin::Object(64)).unwrap(), [5, 5]);
    let both = [object(8 + 64), object(8 + 64 + u8::try_from(size).unwrap())].concat();
    assert_eq!(seconds(&both, &[0, size, 2 * size], Origin::Buffer(64)).unwrap(), [5, 5]);
    let error = seconds(&object(8), &[0, size], Origin::Object(64)).unwrap_err();
    assert!(error.message().starts_with("tag 0x8 refers to no object before it"), "{error}");
    let error = seconds(&object(1), &[0, size], Origin::Object(64)).unwrap_err();
    assert!(error.message().starts_with("tag 0x1 refers to no object before it"), "{error}");
    // In an object that may contain itself, this number refers to it.
    let classes =
        vec![info("L", 1, 7, vec![Element::of("TStreamerObjectAnyPointer", "p", "L*", 69)])];
    let error = decode(classes, "L", &[&versioned(1, &[0, 0, 0, 1])]).unwrap_err();
    assert!(error.message().starts_with("a pointer to L leads to the object that it is in"));
}

/// Tests `C { int n; A* a; //[n] }`: all objects have one version header.
#[test]
fn counted_arrays_of_objects() {
    let mut counted = Element::of("TStreamerLoop", "a", "A*", 501);
    counted.count_name = "n".to_owned();
    let classes = || {
        let members = vec![basic("n", "int", 6), counted.clone()];
        vec![info("A", 1, 7, vec![basic("i", "int", 3)]), info("C", 1, 9, members)]
    };
    let object = |count: i32, items: &[i32]| {
        let items = items.iter().map(|item| versioned(1, &item.to_be_bytes()));
        let array = versioned(1, &items.collect::<Vec<_>>().concat());
        versioned(1, &[&count.to_be_bytes()[..], &array].concat())
    };
    let array = decode(classes(), "C", &[&object(2, &[5, 6]), &object(0, &[])]).unwrap();
    let lists = array.as_struct().column(1).as_list::<i64>();
    assert_eq!(lists.value(0).as_struct().column(0).as_primitive::<Int32Type>().values(), &[5, 6]);
    assert_eq!(lists.value(1).len(), 0);
    for (count, message) in [
        (1, "array says that it ends"),
        (3, "3 items, but no bytes are left"),
        (i32::MAX, "2147483647 items, but no bytes are left"),
        (-1, "the counter of an array is negative"),
    ] {
        let error = decode(classes(), "C", &[&object(count, &[5, 6])]).unwrap_err();
        assert!(error.message().starts_with(message), "{error}");
    }
}

#[test]
fn collections_with_absurd_counts_are_refused() {
    let huge = [0x7F, 0xFF, 0xFF, 0xFF];
    let object = versioned(1, &[&[0, 1][..], &[0; 8]].concat());
    // `TObject`: version, identifier, bits; then an empty name.
    let head = [&[0, 1][..], &[0; 8], &[0]].concat();
    assert_eq!(object.len(), 16);
    let members = ["fNrows", "fNcols"].map(|name| basic(name, "int", 3));
    let classes = || vec![info("TMatrixTBase<double>", 5, 7, members.to_vec())];
    let map = versioned(3, &[&head[..], &huge].concat());
    let references = versioned(1, &[&head[..], &huge, &[0; 6]].concat());
    let matrix = |rows: [u8; 4]| [&versioned(5, &[rows, rows].concat())[..], &[0; 8]].concat();
    for (class, object, message) in [
        ("TMap", &map, "2147483647 items in 0 bytes"),
        ("TRefArray", &references, "2147483647 items in 6 bytes"),
        ("TMatrixTSym<double>", &matrix(huge), "2147483647 rows of a matrix in 8 bytes"),
        ("TMatrixTSym<double>", &matrix([0xFF; 4]), "a matrix of a negative size"),
        ("TMatrixTSym<double>", &matrix([0, 0, 0, 2]), "needs 8 bytes where 0 are left"),
    ] {
        let error = decode(classes(), class, &[object]).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification, "{class}: {error}");
        assert!(error.message().starts_with(message), "{class}: {error}");
    }
    let matrices = decode(classes(), "TMatrixTSym<double>", &[&matrix([0, 0, 0, 1])]).unwrap();
    assert_eq!(matrices.as_struct().column(1).as_list::<i64>().value(0).len(), 1);
}

/// Tests that a null pointer reads as a whole object under a null, but not if this object is far larger than
/// the bytes.
#[test]
fn null_pointers_to_huge_objects_are_refused() {
    let mut array = basic("a", "int", 23);
    array.array_length = 1 << 24;
    let classes = vec![
        info("A", 1, 7, vec![array]),
        info("P", 1, 9, vec![Element::of("TStreamerSTL", "v", "vector<A*>", 300)]),
    ];
    let object = versioned(1, &versioned(9, &[&[0, 0, 0, 9][..], &[0; 36]].concat()));
    let error = decode(classes, "P", &[&object]).unwrap_err();
    assert_eq!(error.kind(), Kind::LimitExceeded, "{error}");
}

/// Tests `C { int n; int* x[2^24]; //[n] }` with null pointers, and the same with fewer pointers.
#[test]
fn arrays_of_empty_lists_are_bounded_by_the_bytes() {
    let classes = |length: i32| {
        let mut counted = Element::of("TStreamerBasicPointer", "x", "int*", 43);
        counted.count_name = "n".to_owned();
        (counted.array_length, counted.dimensions) = (length, vec![length]);
        vec![info("C", 1, 9, vec![basic("n", "int", 6), counted])]
    };
    let object = versioned(1, &[0; 5]);
    let objects = vec![&*object; 100];
    let error = decode(classes(1 << 24), "C", &objects[..1]).unwrap_err();
    assert_eq!(error.kind(), Kind::LimitExceeded, "{error}");
    let few = decode(classes(32), "C", &objects).unwrap();
    let lists = few.as_struct().column(1).as_fixed_size_list().values().len();
    assert_eq!(lists, 3200);
}

#[test]
fn dimensions_that_do_not_multiply_to_the_length_are_refused() {
    let class = |length: i32, dimensions: &[i32]| {
        let mut array = basic("a", "int", 23);
        (array.array_length, array.dimensions) = (length, dimensions.to_vec());
        vec![info("A", 1, 7, vec![array])]
    };
    let object = versioned(1, &[0; 24]);
    for dimensions in [&[2, 3][..], &[6], &[], &[0, 0]] {
        assert!(decode(class(6, dimensions), "A", &[&object]).is_ok(), "{dimensions:?}");
    }
    for dimensions in [&[2, 2][..], &[6, 6], &[2, 0], &[5]] {
        let error = decode(class(6, dimensions), "A", &[&object]).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification, "{error}");
        assert!(error.message().contains("an array of 6 elements whose dimensions are"), "{error}");
    }
}

/// Tests `N { int i; vector<N> below; }`.
#[test]
fn a_container_of_the_class_itself_is_refused() {
    let below = Element::of("TStreamerSTL", "below", "vector<N>", 300);
    let classes = vec![info("N", 1, 7, vec![basic("i", "int", 3), below])];
    let container = versioned(9, &[0, 0, 0, 0]);
    let object = versioned(1, &[&[0, 0, 0, 5][..], &container].concat());
    let error = decode(classes, "N", &[&object]).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().starts_with("objects of N hold objects of their own class"), "{error}");
}

/// Tests what ROOT 6.40 writes for `class Nam : public TNamed { int i; }` in a `std::vector`, and for arrays of
/// `TString` and `TNamed`.
#[test]
fn named_objects_keep_their_headers_in_arrays_and_member_by_member() {
    let array = |class: &str, name: &str, type_name: &str, code: i32, size: i32| Element {
        array_length: size,
        dimensions: vec![size],
        ..Element::of(class, name, type_name, code)
    };
    let classes = vec![
        info(
            "Nam",
            2,
            7,
            vec![Element::of("TStreamerBase", "TNamed", "BASE", 67), basic("i", "int", 3)],
        ),
        info(
            "Q",
            2,
            9,
            vec![
                array("TStreamerString", "ts", "TString", 85, 3),
                array("TStreamerObject", "tn", "TNamed", 87, 2),
                Element::of("TStreamerSTL", "vn", "vector<Nam>", 500),
                basic("end", "int", 3),
            ],
        ),
    ];
    let named = |name: &[u8]| {
        let object =
            [&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0][..], &[u8::try_from(name.len()).unwrap()], name, &[0]];
        versioned(1, &object.concat())
    };
    let members = [
        versioned(10, &[2, b'a', b'2', 0, 1, b'c']),
        versioned(10, &[named(b""), named(b"n")].concat()),
        versioned(
            0x4000 | 10,
            &[&[0, 2, 0, 0, 0, 2][..], &named(b"x0"), &named(b"x1"), &[0, 0, 0, 0, 0, 0, 0, 1]]
                .concat(),
        ),
        vec![0, 0, 0, 77],
    ];
    let object = versioned(2, &members.concat());
    let layout = ObjectLayout::compile(&StreamerInfos::new(classes), &["Q"]).unwrap();
    let array = layout.decode(&object, &[0, i64::try_from(object.len()).unwrap()]).unwrap();
    let record = array.as_struct();
    let strings = record.column(0).as_fixed_size_list().values().as_binary::<i64>().clone();
    assert_eq!(strings.iter().flatten().collect::<Vec<_>>(), [&b"a2"[..], b"", b"c"]);
    let items = record.column(2).as_list::<i64>().values().as_struct().clone();
    let names = items.column(0).as_struct().column(1).as_binary::<i64>().clone();
    assert_eq!(names.iter().flatten().collect::<Vec<_>>(), [b"x0", b"x1"]);
    assert_eq!(items.column(1).as_primitive::<Int32Type>().values(), &[0, 1]);
    assert_eq!(layout.encode(&array).unwrap().0, object);
}

/// Returns the entries of a branch that holds member `index` of class `A`.
fn member(
    elements: Vec<Element>,
    index: usize,
    entries: &[&[u8]],
    counts: Counts<'_>,
) -> crate::Result<ArrayRef> {
    let infos = StreamerInfos::new(vec![info("A", 1, 7, elements)]);
    let member = Member { class: "A", version: 1, checksum: 7, index };
    let layout = Layouts::new(&infos).member(member)?;
    let mut end = 0;
    let ranges: Vec<_> = entries
        .iter()
        .map(|entry| {
            end += entry.len();
            end - entry.len()..end
        })
        .collect();
    let (bytes, mut values) = (entries.concat(), layout.values());
    layout.decode_entries(&bytes, &ranges, counts, None, &|_| Origin::Buffer(0), 0, &mut values)?;
    layout.finish(values)
}

#[test]
fn a_member_of_all_items_has_one_header_for_its_containers() {
    let floats = |values: &[f32]| {
        let count = u32::try_from(values.len()).unwrap().to_be_bytes();
        count.into_iter().chain(values.iter().flat_map(|x| x.to_be_bytes())).collect::<Vec<u8>>()
    };
    let elements = || vec![Element::of("TStreamerSTL", "v", "vector<float>", 500)];
    let two = versioned(9, &[floats(&[1.0]), floats(&[2.0, 3.0])].concat());
    let none = versioned(9, &[]);
    // An entry without items has a header or nothing.
    let entries: [&[u8]; 3] = [&two, &[], &none];
    let array = member(elements(), 0, &entries, Counts::Items(&[2, 0, 0])).unwrap();
    let lists = array.as_list::<i64>();
    assert_eq!(lists.value_offsets(), [0, 1, 3]);
    assert_eq!(lists.values().as_primitive::<Float32Type>().values(), &[1.0, 2.0, 3.0]);
    let error = member(elements(), 0, &[&two], Counts::Items(&[1])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "container says that it ends at byte 26, its members end at byte 14, at byte 0 of the object \
         (entry 0)"
    );
}

#[test]
fn members_that_are_not_there_are_refused_by_name() {
    let error = member(vec![basic("i", "int", 3)], 4, &[], Counts::One).unwrap_err();
    assert_eq!(error.to_string(), "class A has no member 4, only 1");
    let member = Member { class: "B", version: 1, checksum: 0, index: 0 };
    let error = Layouts::new(&StreamerInfos::new(Vec::new())).member(member).unwrap_err();
    assert_eq!(error.to_string(), "the file has no streamer info of class B");
    let infos = StreamerInfos::new(vec![info("B", 1, 7, Vec::new())]);
    let member = Member { class: "B", version: 3, checksum: 9, index: 0 };
    let error = Layouts::new(&infos).member(member).unwrap_err();
    assert_eq!(error.to_string(), "the file has no streamer info of version 3 of B");
}
