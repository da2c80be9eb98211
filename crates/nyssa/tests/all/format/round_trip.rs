//! Tests records that no file of the test data has: they are written and read again.

use nyssa_rntuple::encoding::ColumnType;
use nyssa_rntuple::format::{
    Anchor, AttributeSet, ClusterGroup, EnvelopePosition, ExtraType, Footer, FormatVersion, Header,
    PageList, SchemaDescription,
};
use nyssa_rntuple::schema::{
    Cluster, Column, ColumnRange, Field, FieldId, PageInfo, Schema, Structure,
};
use nyssa_rntuple::schema::{EnvelopeLink, Locator};
use proptest::prelude::*;

use super::written::int_schema;

fn locator() -> impl Strategy<Value = Locator> {
    let size = prop_oneof![0..1u64 << 20, (1u64 << 31) - 1..(1 << 31) + 1, Just(1u64 << 40)];
    (0..1u64 << 50, size).prop_map(|(offset, size)| Locator { offset, size })
}

fn pages() -> impl Strategy<Value = Vec<PageInfo>> {
    let page = (0..i32::MAX as u32, any::<bool>(), locator());
    let page = page.prop_map(|(elements, checksummed, locator)| PageInfo {
        elements,
        // A page of no elements has no sign to carry the flag.
        checksummed: checksummed && elements > 0,
        locator,
    });
    prop::collection::vec(page, 0..4)
}

fn range() -> impl Strategy<Value = ColumnRange> {
    (0..1u64 << 50, any::<u32>(), pages()).prop_map(|(first_element, compression, pages)| {
        let elements = pages.iter().map(|page| u64::from(page.elements)).sum();
        ColumnRange { first_element, elements, compression, suppressed: false, pages }
    })
}

proptest! {
    #[test]
    fn anchors(numbers: [u64; 5], version: [u16; 3]) {
        let position = |seek: u64, len| EnvelopePosition { seek: seek >> 2, nbytes: len >> 2, len };
        let [major, minor, patch] = version;
        let anchor = Anchor {
            version: FormatVersion { epoch: 1, major, minor, patch },
            header: position(numbers[0], numbers[1]),
            footer: position(numbers[2], numbers[3]),
            max_key_size: numbers[4],
        };
        prop_assert_eq!(anchor.serialize().len(), 78);
        prop_assert_eq!(Anchor::parse(&anchor.serialize()).expect("anchor"), anchor);
    }

    #[test]
    fn page_lists(
        header_checksum: u64,
        clusters in prop::collection::vec((0..1u64 << 60, 0..1u64 << 56, range()), 0..4),
    ) {
        let clusters = clusters
            .into_iter()
            .map(|(first_entry, entries, range)| Cluster {
                first_entry,
                entries,
                columns: vec![range],
            })
            .collect();
        let list = PageList { header_checksum, clusters };
        let bytes = list.serialize().expect("page list");
        prop_assert_eq!(PageList::parse(&bytes, &int_schema("x")).expect("page list"), list);
    }

    #[test]
    fn footers(
        header_checksum: u64,
        groups in prop::collection::vec((0..1u64 << 62, 0..1u64 << 62, any::<u32>(), locator()), 0..3),
        sets in prop::collection::vec((any::<[u16; 2]>(), any::<u32>(), locator(), ".*"), 0..3),
        listed: bool,
        content in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let footer = Footer {
            header_checksum,
            extension: SchemaDescription {
                extra_types: vec![ExtraType {
                    content_id: 7,
                    type_version: 1,
                    type_name: "T".to_owned(),
                    content,
                }],
                ..SchemaDescription::default()
            },
            cluster_groups: groups
                .into_iter()
                .map(|(min_entry, entry_span, clusters, locator)| ClusterGroup {
                    min_entry,
                    entry_span,
                    clusters,
                    page_list: EnvelopeLink { length: 99, locator },
                })
                .collect(),
            lists_attribute_sets: listed || !sets.is_empty(),
            attribute_sets: sets
                .into_iter()
                .map(|([schema_major, schema_minor], anchor_length, locator, name)| AttributeSet {
                    schema_major,
                    schema_minor,
                    anchor_length,
                    locator,
                    name,
                })
                .collect(),
        };
        let bytes = footer.serialize().expect("footer");
        prop_assert_eq!(Footer::parse(&bytes).expect("footer"), footer);
    }

    #[test]
    fn headers(
        name in ".*",
        description in ".*",
        numbers: [u32; 3],
        array_size: Option<u64>,
        source in prop::option::of(any::<u32>()),
        type_checksum: Option<u32>,
        structure_of_arrays: bool,
        codes: [u16; 4],
        first_element: Option<i64>,
        value_range in prop::option::of((-1e300..1e300f64, -1e300..1e300f64)),
    ) {
        let records = SchemaDescription {
            fields: vec![Field {
                parent: Some(FieldId(numbers[0])),
                name: name.clone(),
                type_name: "A<int>".to_owned(),
                type_alias: description.clone(),
                description: description.clone(),
                field_version: numbers[1],
                type_version: numbers[2],
                structure: Structure::from_code(codes[0]),
                array_size,
                source: source.map(FieldId),
                type_checksum,
                other_flags: if structure_of_arrays { 0x08 } else { 0 },
                children: Vec::new(),
                columns: Vec::new(),
            }],
            columns: vec![Column {
                field: FieldId(numbers[1]),
                column_type: ColumnType::from_code(codes[1]),
                type_code: codes[1],
                bits: codes[2],
                representation: codes[3],
                first_element,
                value_range,
            }],
            ..SchemaDescription::default()
        };
        let mut header = Header { name, description, writer: "w".to_owned(), records, checksum: 0 };
        let bytes = header.serialize().expect("header");
        prop_assert_eq!(Header::parse(&bytes).expect("header"), header);
    }
}

#[test]
fn a_field_with_an_unknown_flag_is_not_written() {
    let mut schema = int_schema("x");
    schema.fields[0].other_flags = 0x10;
    let records = SchemaDescription::of(&schema, Vec::new());
    let (name, writer) = ("n".to_owned(), "w".to_owned());
    let mut header = Header { name, description: String::new(), writer, records, checksum: 0 };
    let error = header.serialize().unwrap_err().to_string();
    assert!(error.contains("the flags 0x10, which are not known"), "{error}");
}

/// Adds a field and its columns, for the schemas below.
fn field(name: &str, type_name: &str, structure: Structure, parent: Option<FieldId>) -> Field {
    let mut field = int_schema(name).fields.remove(0);
    field.columns.clear();
    Field { type_name: type_name.to_owned(), structure, parent, ..field }
}

fn column(field: FieldId, column_type: ColumnType, representation: u16) -> Column {
    let column = int_schema("x").columns.remove(0);
    Column {
        field,
        column_type: Some(column_type),
        type_code: column_type.code(),
        bits: column_type.bits(),
        representation,
        ..column
    }
}

#[test]
fn a_schema_is_cut_into_header_and_extension() {
    let mut schema = int_schema("a");
    let mut header = Header {
        name: "n".to_owned(),
        records: SchemaDescription::of(&schema, Vec::new()),
        ..Header::default()
    };
    let late = schema.add_field(field("late", "std::vector<float>", Structure::Collection, None));
    let item = schema.add_field(field("_0", "float", Structure::Leaf, Some(late)));
    let deferred = |column| Column { first_element: Some(5), ..column };
    schema.add_column(deferred(column(late, ColumnType::Index64, 0)));
    schema.add_column(deferred(column(item, ColumnType::Real32, 0)));
    schema.validate().expect("valid");
    let bytes = header.serialize().expect("header");
    let footer = Footer {
        header_checksum: header.checksum,
        extension: SchemaDescription::beyond(&header.records, &schema),
        ..Footer::default()
    };
    let header = Header::parse(&bytes).expect("header");
    let footer = Footer::parse(&footer.serialize().expect("footer")).expect("footer");
    footer.check_header(&header).expect("belongs");
    assert_eq!(footer.extension.fields.len(), 2);
    assert_eq!(header.schema(&footer.extension).expect("schema"), schema);
    assert_eq!(schema.path(item), "late._0");
}

#[test]
fn suppressed_columns_take_the_range_of_the_active_ones() {
    let mut schema = Schema::default();
    let text = schema.add_field(field("s", "std::string", Structure::Leaf, None));
    for (kind, representation) in [
        (ColumnType::Index32, 0),
        (ColumnType::Char, 0),
        (ColumnType::Index64, 1),
        (ColumnType::Char, 1),
    ] {
        schema.add_column(column(text, kind, representation));
    }
    schema.validate().expect("valid");
    let stored = |first_element, elements: u32| ColumnRange {
        first_element,
        elements: u64::from(elements),
        pages: vec![PageInfo {
            elements,
            ..PageInfo { elements: 0, checksummed: false, locator: Locator::default() }
        }],
        ..ColumnRange::default()
    };
    let suppressed = ColumnRange { suppressed: true, ..ColumnRange::default() };
    let list = PageList {
        header_checksum: 1,
        clusters: vec![Cluster {
            first_entry: 10,
            entries: 3,
            columns: vec![suppressed.clone(), suppressed, stored(10, 3), stored(40, 12)],
        }],
    };
    let bytes = list.serialize().expect("page list");
    let read = PageList::parse(&bytes, &schema).expect("page list");
    let ranges: Vec<_> = read.clusters[0]
        .columns
        .iter()
        .map(|range| (range.suppressed, range.first_element, range.elements))
        .collect();
    assert_eq!(ranges, [(true, 10, 3), (true, 40, 12), (false, 10, 3), (false, 40, 12)]);
    assert_eq!(read.serialize().expect("page list"), bytes);
}

#[test]
fn ids_that_point_nowhere_are_refused() {
    let refuse = |change: &dyn Fn(&mut SchemaDescription)| {
        let mut schema = int_schema("a");
        schema.add_field(field("b", "T", Structure::Record, None));
        let mut records = SchemaDescription::of(&schema, Vec::new());
        change(&mut records);
        let header = Header { records, ..Header::default() };
        let error = header.schema(&SchemaDescription::default()).expect_err("refused");
        error.message().to_owned()
    };
    for (message, refused) in [
        (
            "header envelope: field 0 (\"a\") has parent 1, which is a later field",
            refuse(&|records| records.fields[0].parent = Some(FieldId(1))),
        ),
        (
            "header envelope: field 1 (\"b\") has parent 9, which is no field",
            refuse(&|records| records.fields[1].parent = Some(FieldId(9))),
        ),
        (
            "header envelope: field 1 (\"b\") refers to field 2 of 2",
            refuse(&|records| records.fields[1].source = Some(FieldId(2))),
        ),
        (
            "header envelope: column 0 refers to field 7 of 2",
            refuse(&|records| records.columns[0].field = FieldId(7)),
        ),
    ] {
        assert_eq!(refused, message);
    }
}

#[test]
fn fields_cannot_be_nested_without_end() {
    let mut schema = Schema::default();
    let mut parent = None;
    for _ in 0..1000 {
        parent = Some(schema.add_field(field("_0", "T", Structure::Record, parent)));
    }
    let records = SchemaDescription::of(&schema, Vec::new());
    let header = Header { records, ..Header::default() };
    let error = header.schema(&SchemaDescription::default()).expect_err("refused");
    assert_eq!(error.kind(), nyssa_root::Kind::LimitExceeded);
}
