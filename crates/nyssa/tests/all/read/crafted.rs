//! Tests RNTuples put together by hand, with page bytes as the specification says: they show what no file at hand
//! shows.

use crate::support::reading::{context, memory, value};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use nyssa_data::Dataset;
use nyssa_jobs::rewrite::rewrite;
use nyssa_rntuple::encoding::ColumnType;
use nyssa_rntuple::format::{
    Anchor, ClusterGroup, DEFAULT_MAX_KEY_SIZE, EnvelopePosition, Footer, FormatVersion, Header,
    PageList, SchemaDescription,
};
use nyssa_rntuple::read::{RNTupleReadOptions, Reader, StreamerForm, verify};
use nyssa_rntuple::schema::{
    Cluster, Column, ColumnRange, Field, FieldId, PageInfo, Schema, Structure,
};
use nyssa_rntuple::schema::{EnvelopeLink, Locator};
use nyssa_rntuple::write::write_blob;
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::{Kind, Result};
use serde_json::{Value, json};

/// The pages of one column in one cluster: element counts and uncompressed bytes; `None` if suppressed.
type Pages = Option<Vec<(u32, Vec<u8>)>>;

fn field(name: &str, type_name: &str, structure: Structure, parent: Option<FieldId>) -> Field {
    Field::new(parent, name, type_name, structure)
}

/// Makes a schema of one leaf field with one column.
pub fn leaf(type_name: &str, column_type: ColumnType) -> Schema {
    let mut schema = Schema::default();
    let id = schema.add_field(field("x", type_name, Structure::Leaf, None));
    schema.add_column(Column::new(id, column_type));
    schema
}

/// Makes a schema of one collection of 32-bit integers.
fn vector(type_name: &str) -> Schema {
    let mut schema = Schema::default();
    let id = schema.add_field(field("x", type_name, Structure::Collection, None));
    let item = schema.add_field(field("_0", "std::int32_t", Structure::Leaf, Some(id)));
    schema.add_column(Column::new(id, ColumnType::Index32));
    schema.add_column(Column::new(item, ColumnType::Int32));
    schema
}

fn bytes32(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn page32(values: &[i32]) -> Pages {
    Some(vec![(values.len() as u32, bytes32(values))])
}

/// Writes the file: clusters of (entries, pages by column).
pub fn craft(schema: &Schema, clusters: Vec<(u64, Vec<Pages>)>) -> Reader {
    let file = file(schema, clusters);
    Reader::open(&file, "ntpl").unwrap()
}

fn file(schema: &Schema, clusters: Vec<(u64, Vec<Pages>)>) -> RootFile {
    let (sink, handle) = nyssa_io::MemorySink::new("crafted.root");
    let mut writer = RootFileWriter::create(Box::new(sink), FileOptions::default()).unwrap();
    let mut header = Header {
        name: "ntpl".to_owned(),
        records: SchemaDescription::of(schema, Vec::new()),
        ..Header::default()
    };
    let header_bytes = header.serialize().unwrap();
    let header_at = place(&mut writer, &header_bytes);
    let mut first_entry = 0;
    let mut first = vec![0; schema.columns.len()];
    let mut list = PageList { header_checksum: header.checksum, clusters: Vec::new() };
    for (entries, columns) in clusters {
        let range = |(index, pages): (usize, Pages)| range(&mut writer, &mut first[index], pages);
        let columns = columns.into_iter().enumerate().map(range).collect();
        list.clusters.push(Cluster { first_entry, entries, columns });
        first_entry += entries;
    }
    let list_bytes = list.serialize().unwrap();
    let list_at = place(&mut writer, &list_bytes);
    let group = ClusterGroup {
        min_entry: 0,
        entry_span: first_entry,
        clusters: list.clusters.len() as u32,
        page_list: EnvelopeLink {
            length: list_at.len,
            locator: Locator { offset: list_at.seek, size: list_at.nbytes },
        },
    };
    let footer = Footer {
        header_checksum: header.checksum,
        cluster_groups: vec![group],
        ..Footer::default()
    };
    let footer_at = place(&mut writer, &footer.serialize().unwrap());
    let anchor = Anchor {
        version: FormatVersion::WRITTEN,
        header: header_at,
        footer: footer_at,
        max_key_size: DEFAULT_MAX_KEY_SIZE,
    };
    writer
        .write_object(
            "",
            "ROOT::RNTuple",
            "ntpl",
            "",
            &anchor.serialize(),
            nyssa_root::compression::Compression::NONE,
        )
        .unwrap();
    writer.finish().unwrap();
    memory(handle.take()).unwrap()
}

fn place(writer: &mut RootFileWriter, bytes: &[u8]) -> EnvelopePosition {
    let seek = write_blob(writer, &[bytes], bytes.len() as u64, DEFAULT_MAX_KEY_SIZE).unwrap();
    EnvelopePosition { seek, nbytes: bytes.len() as u64, len: bytes.len() as u64 }
}

fn range(writer: &mut RootFileWriter, first: &mut u64, pages: Pages) -> ColumnRange {
    let Some(pages) = pages else {
        return ColumnRange { suppressed: true, ..ColumnRange::default() };
    };
    let elements = pages.iter().map(|(elements, _)| u64::from(*elements)).sum();
    let first_element = *first;
    *first += elements;
    let page = |(elements, bytes): (u32, Vec<u8>)| PageInfo {
        elements,
        checksummed: false,
        locator: Locator {
            offset: write_blob(writer, &[&bytes], bytes.len() as u64, DEFAULT_MAX_KEY_SIZE)
                .unwrap(),
            size: bytes.len() as u64,
        },
    };
    let pages = pages.into_iter().map(page).collect();
    ColumnRange { first_element, elements, compression: 0, suppressed: false, pages }
}

fn read(reader: &Reader) -> Result<ArrayRef> {
    Ok(reader.read(&["x"], 0..reader.num_entries(), &context())?.swap_remove(0))
}

fn values(reader: &Reader) -> Vec<Value> {
    let array = read(reader).unwrap();
    (0..array.len()).map(|row| value(array.as_ref(), row)).collect()
}

#[test]
fn the_active_representation_is_read_in_each_cluster() {
    let mut schema = leaf("float", ColumnType::Real32);
    let half = Column { representation: 1, ..Column::new(FieldId(0), ColumnType::Real16) };
    schema.add_column(half);
    let single = |value: f32| Some(vec![(1, value.to_le_bytes().to_vec())]);
    // 0x4200 is 3.0 in half precision.
    let reader = craft(
        &schema,
        vec![
            (1, vec![single(1.5), None]),
            (1, vec![None, Some(vec![(1, vec![0x00, 0x42])])]),
            (1, vec![single(-2.0), None]),
        ],
    );
    assert_eq!(values(&reader), [json!("0x1.8p+0"), json!("0x1.8p+1"), json!("-0x1p+1")]);
    let array = reader.read(&["x"], 1..3, &context()).unwrap();
    assert_eq!(value(array[0].as_ref(), 0), json!("0x1.8p+1"));

    let reader = craft(&schema, vec![(1, vec![None, None])]);
    let error = read(&reader).unwrap_err();
    assert_eq!(error.message(), "all representations of a field are suppressed");
    let reader = craft(&schema, vec![(1, vec![single(1.0), Some(vec![(1, vec![0, 0])])])]);
    assert_eq!(read(&reader).unwrap_err().kind(), Kind::OutOfSpecification);
}

#[test]
fn a_representation_added_late_is_absent_before() {
    let mut schema = leaf("float", ColumnType::Real32);
    schema.add_column(Column {
        representation: 1,
        // Deferred and suppressed.
        first_element: Some(-1),
        ..Column::new(FieldId(0), ColumnType::Real16)
    });
    let single = Some(vec![(1, 1.5f32.to_le_bytes().to_vec())]);
    let reader =
        craft(&schema, vec![(1, vec![single]), (1, vec![None, Some(vec![(1, vec![0x00, 0x42])])])]);
    assert_eq!(values(&reader), [json!("0x1.8p+0"), json!("0x1.8p+1")]);
}

#[test]
fn columns_of_other_types_are_cast() {
    let page = |bytes: &[u8], count| Some(vec![(count, bytes.to_vec())]);
    for (type_name, column_type, bytes, count, expected) in [
        ("std::int32_t", ColumnType::UInt8, &[0, 255][..], 2, json!([0, 255])),
        ("std::int64_t", ColumnType::Int8, &[0, 255], 2, json!([0, -1])),
        ("std::int8_t", ColumnType::Bit, &[0b101], 3, json!([1, 0, 1])),
        ("bool", ColumnType::Int16, &[0, 0, 2, 0, 0, 1], 3, json!([0, 1, 1])),
        ("std::uint8_t", ColumnType::Int16, &[200, 0], 1, json!([200])),
        ("double", ColumnType::Real16, &[0x00, 0x42], 1, json!(["0x1.8p+1"])),
        ("float", ColumnType::Real64, &3f64.to_le_bytes(), 1, json!(["0x1.8p+1"])),
        ("std::byte", ColumnType::Byte, &[255], 1, json!([255])),
        ("char", ColumnType::Char, &[255], 1, json!([-1])),
    ] {
        let reader = craft(
            &leaf(type_name, column_type),
            vec![(u64::from(count), vec![page(bytes, count)])],
        );
        assert_eq!(json!(values(&reader)), expected, "{type_name} {column_type:?}");
    }
}

#[test]
fn values_that_do_not_fit_name_their_place() {
    let reader = craft(
        &leaf("std::uint8_t", ColumnType::Int16),
        vec![(1, vec![Some(vec![(1, vec![1, 0])])]), (1, vec![Some(vec![(1, vec![255, 255])])])],
    );
    let error = read(&reader).unwrap_err();
    assert_eq!(error.kind(), Kind::OutOfSpecification);
    assert_eq!(error.message(), "stored value -1 does not fit the field's type");
    let place = error.place();
    assert_eq!(
        (place.field.as_deref(), place.column, place.cluster, place.page),
        (Some("x"), Some(0), Some(1), Some(0))
    );
}

#[test]
fn quantised_reals_keep_double_precision_in_doubles() {
    for (type_name, scale) in [("float", 0.1f32.into()), ("double", 0.1f64)] {
        let mut schema = leaf(type_name, ColumnType::Real32Quant);
        schema.columns[0].bits = 3;
        schema.columns[0].value_range = Some((0.0, 0.7));
        // 1, 2, 7 in three bits each, least significant first.
        let bits = 1u16 | 2 << 3 | 7 << 6;
        let page = Some(vec![(3, bits.to_le_bytes().to_vec())]);
        let reader = craft(&schema, vec![(3, vec![page])]);
        let array = read(&reader).unwrap();
        // 0.0 + 1 * ((0.7 - 0.0) / 7), cast to float for float fields.
        let number = value(array.as_ref(), 0);
        let narrow = (0.7f64 / 7.0) as f32;
        let wide = 0.7f64 / 7.0;
        let expected = if type_name == "float" { f64::from(narrow) } else { wide };
        assert!((expected - scale).abs() < 1e-7);
        assert_eq!(number, crate::support::reading::hex(expected), "{type_name}");
    }
}

#[test]
fn bits_of_uneven_pages_join() {
    let schema = leaf("bool", ColumnType::Bit);
    // 3 + 5 + 9 bits in one cluster, 4 in the next.
    let pages = vec![(3, vec![0b101]), (5, vec![0b10010]), (9, vec![0b1111_0000, 1])];
    let reader =
        craft(&schema, vec![(17, vec![Some(pages)]), (4, vec![Some(vec![(4, vec![0b0110])])])]);
    let expected = [1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 0];
    assert_eq!(values(&reader), expected.map(|bit| json!(bit)));
    for start in 0..expected.len() {
        for end in start..=expected.len() {
            let array = reader.read(&["x"], start as u64..end as u64, &context()).unwrap();
            let bits = (0..end - start).map(|row| value(array[0].as_ref(), row));
            assert!(bits.eq(expected[start..end].iter().map(|bit| json!(bit))), "{start}..{end}");
        }
    }
}

#[test]
fn offsets_that_descend_are_refused() {
    let schema = vector("std::vector<std::int32_t>");
    let reader = craft(
        &schema,
        vec![(2, vec![page32(&[1, 2]), page32(&[7, 8])]), (2, vec![page32(&[2, 1]), page32(&[9])])],
    );
    let error = read(&reader).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the offsets of a collection descend (file memory.root, object ntpl, field x, column 0, \
         cluster 1)"
    );
    let report = verify(&reader, &context()).unwrap();
    assert_eq!(report.problems.len(), 1);
    assert_eq!(report.problems[0].cluster, Some(1));
}

#[test]
fn offsets_and_items_must_agree() {
    let schema = vector("std::vector<std::int32_t>");
    // One item too many in the first cluster, one too few in the second: the sums agree.
    let reader = craft(
        &schema,
        vec![
            (2, vec![page32(&[1, 2]), page32(&[7, 8, 9])]),
            (2, vec![page32(&[1, 3]), page32(&[9, 9])]),
        ],
    );
    let error = read(&reader).unwrap_err();
    assert_eq!(error.message(), "the last offset is 2, but the cluster has 3 items");
    assert_eq!(error.place().cluster, Some(0));
    assert_eq!(error.place().field.as_deref(), Some("x"));
    // A range in the first cluster alone.
    assert!(reader.read(&["x"], 0..2, &context()).is_err());
    let report = verify(&reader, &context()).unwrap();
    let clusters = report.problems.iter().map(|problem| problem.cluster).collect::<Vec<_>>();
    assert_eq!(clusters, [Some(0), Some(1)]);
}

#[test]
fn a_leaf_must_have_an_element_per_entry() {
    let reader = craft(&leaf("std::int32_t", ColumnType::Int32), vec![(3, vec![page32(&[1, 2])])]);
    let error = read(&reader).unwrap_err();
    assert_eq!(error.message(), "the column has 2 elements where the field has 3");
    assert_eq!(verify(&reader, &context()).unwrap().problems.len(), 1);
}

#[test]
fn optional_values_are_nullable() {
    for type_name in ["std::optional<std::int32_t>", "std::unique_ptr<std::int32_t>"] {
        let schema = vector(type_name);
        let reader = craft(
            &schema,
            vec![
                (3, vec![page32(&[1, 1, 2]), page32(&[7, 8])]),
                (1, vec![page32(&[0]), Some(vec![])]),
            ],
        );
        assert!(reader.columns()[0].field.as_ref().unwrap().is_nullable());
        assert_eq!(values(&reader), [json!(7), json!(null), json!(8), json!(null)]);
        let array = reader.read(&["x"], 1..3, &context()).unwrap();
        assert_eq!(value(array[0].as_ref(), 1), json!(8));
    }
    let schema = vector("std::optional<std::int32_t>");
    let reader = craft(&schema, vec![(1, vec![page32(&[2]), page32(&[7, 8])])]);
    assert_eq!(read(&reader).unwrap_err().message(), "an optional field has 2 values");
}

/// Makes a schema of `std::variant<std::int32_t,std::vector<std::int32_t>>`: columns 0 switch, 1 value, 2
/// offsets, 3 items.
fn variant() -> Schema {
    let mut schema = Schema::default();
    let type_name = "std::variant<std::int32_t,std::vector<std::int32_t>>";
    let id = schema.add_field(field("x", type_name, Structure::Variant, None));
    let value = schema.add_field(field("_0", "std::int32_t", Structure::Leaf, Some(id)));
    let name = "std::vector<std::int32_t>";
    let list = schema.add_field(field("_1", name, Structure::Collection, Some(id)));
    let item = schema.add_field(field("_0", "std::int32_t", Structure::Leaf, Some(list)));
    schema.add_column(Column::new(id, ColumnType::Switch));
    schema.add_column(Column::new(value, ColumnType::Int32));
    schema.add_column(Column::new(list, ColumnType::Index32));
    schema.add_column(Column::new(item, ColumnType::Int32));
    schema
}

/// Returns index (64 bits) and tag (32 bits) of each element.
fn switches(elements: &[(u64, u32)]) -> Pages {
    let bytes = elements.iter().flat_map(|(index, tag)| {
        index.to_le_bytes().into_iter().chain(tag.to_le_bytes()).collect::<Vec<_>>()
    });
    Some(vec![(elements.len() as u32, bytes.collect())])
}

#[test]
fn variants_hold_their_alternative_or_nothing() {
    let reader = craft(
        &variant(),
        vec![
            (
                5,
                vec![
                    switches(&[(0, 1), (0, 2), (0, 0), (1, 2), (1, 1)]),
                    page32(&[10, 11]),
                    page32(&[2, 3]),
                    page32(&[7, 8, 9]),
                ],
            ),
            // Counting starts again in each cluster.
            (2, vec![switches(&[(0, 1), (0, 0)]), page32(&[12]), Some(vec![]), Some(vec![])]),
            (1, vec![switches(&[(0, 2)]), Some(vec![]), page32(&[1]), page32(&[6])]),
        ],
    );
    let expected =
        [json!(10), json!([7, 8]), json!(null), json!([9]), json!(11), json!(12), json!(null)];
    let expected = expected.into_iter().chain([json!([6])]).collect::<Vec<_>>();
    assert_eq!(values(&reader), expected);
    for start in 0..=expected.len() {
        for end in start..=expected.len() {
            let array = reader.read(&["x"], start as u64..end as u64, &context()).unwrap();
            let values = (0..end - start).map(|row| value(array[0].as_ref(), row));
            assert!(values.eq(expected[start..end].iter().cloned()), "{start}..{end}");
        }
    }
    assert_eq!(verify(&reader, &context()).unwrap().problems, []);
    let array = read(&reader).unwrap();
    let union = array.as_union();
    assert_eq!(union.type_ids().as_ref(), [1, 2, 0, 2, 1, 1, 0, 2]);
    assert_eq!([0, 1, 2].map(|id| union.child(id).len()), [2, 3, 3]);
}

/// The index of a switch may be any in the column of its alternative (specification, "Variants").
#[test]
fn variants_point_to_values_in_any_order() {
    // Out of order; twice the same; some that nothing points to, at each end and between.
    let first = [(2, 1), (0, 1), (1, 2), (2, 1), (0, 0), (0, 2), (4, 1)];
    let second = [(1, 1), (1, 2), (1, 2)];
    let reader = craft(
        &variant(),
        vec![
            (
                7,
                vec![
                    switches(&first),
                    page32(&[10, 11, 12, 13, 14, 15]),
                    page32(&[2, 3]),
                    page32(&[7, 8, 9]),
                ],
            ),
            (
                3,
                vec![
                    switches(&second),
                    page32(&[20, 21]),
                    page32(&[1, 1, 4]),
                    page32(&[30, 31, 32, 33]),
                ],
            ),
            // Nothing points to any.
            (1, vec![switches(&[(0, 0)]), page32(&[40]), page32(&[1]), page32(&[41])]),
        ],
    );
    let expected = [
        json!(12),
        json!(10),
        json!([9]),
        json!(12),
        json!(null),
        json!([7, 8]),
        json!(14),
        json!(21),
        json!([]),
        json!([]),
        json!(null),
    ];
    assert_eq!(values(&reader), expected);
    for start in 0..=expected.len() {
        for end in start..=expected.len() {
            let array = reader.read(&["x"], start as u64..end as u64, &context()).unwrap();
            let values = (0..end - start).map(|row| value(array[0].as_ref(), row));
            assert!(values.eq(expected[start..end].iter().cloned()), "{start}..{end}");
            // Arrow wants offsets that do not descend.
            array[0].to_data().validate_full().unwrap();
        }
    }
    assert_eq!(verify(&reader, &context()).unwrap().problems, []);
    let array = read(&reader).unwrap();
    let union = array.as_union();
    assert_eq!(union.offsets().unwrap().as_ref(), [0, 1, 0, 2, 0, 1, 3, 4, 2, 3, 1]);
    assert_eq!([0, 1, 2].map(|id| union.child(id).len()), [2, 5, 4]);
}

#[test]
fn switches_must_agree_with_the_alternatives() {
    for (elements, message) in [
        (
            &[(0, 1), (2, 1)][..],
            "a variant points to value 2 of alternative 1, which has 2 in this cluster",
        ),
        (&[(0, 2)], "a variant points to value 0 of alternative 2, which has 0 in this cluster"),
        (&[(u64::MAX, 1)], "index of 2^64"),
        (&[(0, 1), (1, 1), (0, 3)], "a variant of 2 alternatives holds number 3"),
        (&[(0, 300), (0, 1)], "a variant holds alternative 300"),
    ] {
        let columns = vec![switches(elements), page32(&[1, 2]), Some(vec![]), Some(vec![])];
        let reader = craft(&variant(), vec![(elements.len() as u64, columns)]);
        let error = read(&reader).unwrap_err();
        assert_eq!((error.kind(), error.message()), (Kind::OutOfSpecification, message));
        let report = verify(&reader, &context()).unwrap();
        assert!(!report.problems.is_empty(), "{elements:?}");
    }
}

#[test]
fn a_null_variant_is_not_a_variant_of_nothing() {
    let mut schema = Schema::default();
    let type_name = "std::optional<std::variant<std::int32_t>>";
    let id = schema.add_field(field("x", type_name, Structure::Collection, None));
    let name = "std::variant<std::int32_t>";
    let inner = schema.add_field(field("_0", name, Structure::Variant, Some(id)));
    let value = schema.add_field(field("_0", "std::int32_t", Structure::Leaf, Some(inner)));
    schema.add_column(Column::new(id, ColumnType::Index32));
    schema.add_column(Column::new(inner, ColumnType::Switch));
    schema.add_column(Column::new(value, ColumnType::Int32));
    let columns = vec![page32(&[1, 1, 2]), switches(&[(0, 1), (0, 0)]), page32(&[5])];
    let reader = craft(&schema, vec![(3, columns)]);
    assert_eq!(values(&reader), [json!([5]), json!([]), json!([null])]);
}

#[test]
fn streamer_fields_read_as_their_bytes() {
    let mut schema = Schema::default();
    let id = schema.add_field(field("x", "TRotation", Structure::Streamer, None));
    schema.add_column(Column::new(id, ColumnType::Index32));
    schema.add_column(Column::new(id, ColumnType::Byte));
    let bytes = Some(vec![(3, vec![0x40, 0, 2])]);
    let file = file(&schema, vec![(2, vec![page32(&[2, 3]), bytes])]);
    let raw = RNTupleReadOptions { streamer: StreamerForm::Raw, ..RNTupleReadOptions::default() };
    let reader = Reader::open_with(&file, "ntpl", raw).unwrap();
    let item = reader.columns()[0].field.as_ref().unwrap();
    assert_eq!(item.metadata()["nyssa:streamer"], "TRotation");
    let array = read(&reader).unwrap();
    let objects: Vec<_> = array.as_binary::<i64>().iter().flatten().collect();
    assert_eq!(objects, [&[0x40, 0][..], &[2]]);
}

#[test]
fn types_that_arrow_does_not_tell_are_in_the_metadata() {
    let told = |schema: &Schema| {
        let reader = craft(schema, vec![]);
        reader.columns()[0].field.as_ref().unwrap().metadata().get("nyssa:type").cloned()
    };
    for name in ["std::set<std::int32_t>", "ROOT::VecOps::RVec<std::int32_t>", "MyHits"] {
        assert_eq!(told(&vector(name)).as_deref(), Some(name));
    }
    assert_eq!(told(&vector("std::vector<std::int32_t>")), None);
    assert_eq!(told(&leaf("std::int32_t", ColumnType::Int32)), None);
    assert_eq!(told(&leaf("char", ColumnType::Char)).as_deref(), Some("char"));
}

#[test]
fn unknown_column_types_refuse_their_field_only() {
    let mut schema = leaf("std::int32_t", ColumnType::Int32);
    let id = schema.add_field(field("later", "std::float128_t", Structure::Leaf, None));
    schema.add_column(Column {
        column_type: None,
        type_code: 0x77,
        bits: 8,
        ..Column::new(id, ColumnType::Byte)
    });
    let reader = craft(&schema, vec![(2, vec![page32(&[5, 6]), Some(vec![(2, vec![0; 2])])])]);
    assert_eq!(values(&reader), [json!(5), json!(6)]);
    let error = reader.read(&["later"], 0..2, &context()).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().starts_with("field later: "), "{error}");
    let report = verify(&reader, &context()).unwrap();
    assert_eq!((report.problems.len(), report.unreadable.len()), (0, 1));
}

#[test]
fn unknown_parts_deep_inside_refuse_their_top_level_field_only() {
    let mut schema = leaf("std::int32_t", ColumnType::Int32);
    let list = schema.add_field(field("later", "std::vector<Later>", Structure::Collection, None));
    let record = schema.add_field(field("_0", "Later", Structure::Record, Some(list)));
    let structure = Structure::Unknown(9);
    schema.add_field(field("member", "std::hive<float>", structure, Some(record)));
    schema.add_column(Column::new(list, ColumnType::Index32));
    let file = file(&schema, vec![(2, vec![page32(&[5, 6]), page32(&[0, 0])])]);
    let reader = Reader::open(&file, "ntpl").unwrap();
    assert_eq!(values(&reader), [json!(5), json!(6)]);
    let reason = reader.columns()[1].field.as_ref().unwrap_err();
    assert_eq!(reason, "field later._0.member: structural role 0x0009 is not known");
    assert_eq!(verify(&reader, &context()).unwrap().problems, []);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.root");
    let error = rewrite(&file, "ntpl", &out, &Default::default(), &context()).unwrap_err();
    assert_eq!((error.kind(), error.fields()), (Kind::Unsupported, &["later".to_owned()][..]));
    assert_eq!(error.message(), format!("1 fields cannot be rewritten:\n  {reason}"));
}

#[test]
fn pages_that_claim_too_much_are_refused() {
    let schema = leaf("std::int32_t", ColumnType::Int32);
    let page = |elements| Some(vec![(elements, bytes32(&[1]))]);
    // Four bytes cannot hold as many elements as are claimed.
    let reader = craft(&schema, vec![(1 << 30, vec![page(1 << 30)])]);
    let error = read(&reader).unwrap_err();
    assert_eq!(error.message(), "4 bytes cannot hold a page of 1073741824 elements");
    assert_eq!(error.kind(), Kind::OutOfSpecification);
}

#[test]
fn a_file_without_clusters_reads_empty_arrays() {
    for schema in [leaf("bool", ColumnType::Bit), vector("std::vector<std::int32_t>")] {
        let reader = craft(&schema, vec![]);
        assert_eq!(reader.num_entries(), 0);
        assert_eq!(values(&reader), [] as [Value; 0]);
    }
}
