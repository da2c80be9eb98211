//! Tests fields, type names and columns. Expected values are those that ROOT 6.40 writes for the same types.

use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use nyssa_rntuple::encoding::ColumnType::{self, *};
use nyssa_rntuple::schema::{FieldType, Leaf, Schema, SchemaBuilder, Structure};
use nyssa_root::arrow::field;
use nyssa_root::compression::Compression;

use crate::support::writing::*;

fn columns(schema: &Schema, index: usize) -> Vec<ColumnType> {
    let columns = schema.fields[index].columns.iter();
    columns.map(|&id| schema.column(id).column_type.unwrap()).collect()
}

#[test]
fn types_and_columns_are_those_of_root() {
    use FieldType as F;
    let leaf = F::Leaf;
    let cases: Vec<(F, &str, Vec<ColumnType>, Vec<ColumnType>)> = vec![
        (leaf(Leaf::Bool), "bool", vec![Bit], vec![Bit]),
        (leaf(Leaf::Char), "char", vec![Char], vec![Char]),
        (leaf(Leaf::Byte), "std::byte", vec![Byte], vec![Byte]),
        (leaf(Leaf::Int8), "std::int8_t", vec![Int8], vec![Int8]),
        (leaf(Leaf::UInt8), "std::uint8_t", vec![UInt8], vec![UInt8]),
        (leaf(Leaf::Int16), "std::int16_t", vec![SplitInt16], vec![Int16]),
        (leaf(Leaf::UInt16), "std::uint16_t", vec![SplitUInt16], vec![UInt16]),
        (leaf(Leaf::Int32), "std::int32_t", vec![SplitInt32], vec![Int32]),
        (leaf(Leaf::UInt32), "std::uint32_t", vec![SplitUInt32], vec![UInt32]),
        (leaf(Leaf::Int64), "std::int64_t", vec![SplitInt64], vec![Int64]),
        (leaf(Leaf::UInt64), "std::uint64_t", vec![SplitUInt64], vec![UInt64]),
        (leaf(Leaf::Float), "float", vec![SplitReal32], vec![Real32]),
        (leaf(Leaf::Double), "double", vec![SplitReal64], vec![Real64]),
        (leaf(Leaf::Double32), "double", vec![SplitReal32], vec![SplitReal32]),
        (F::String, "std::string", vec![SplitIndex64, Char], vec![Index64, Char]),
        (
            F::vector(F::vector(F::String)),
            "std::vector<std::vector<std::string>>",
            vec![SplitIndex64],
            vec![Index64],
        ),
        (
            F::rvec(leaf(Leaf::Float)),
            "ROOT::VecOps::RVec<float>",
            vec![SplitIndex64],
            vec![Index64],
        ),
        (
            F::array(F::array(leaf(Leaf::Int32), 3), 2),
            "std::array<std::array<std::int32_t,3>,2>",
            vec![],
            vec![],
        ),
        (F::vector(F::Record(vec![])), "", vec![SplitIndex64], vec![Index64]),
        (F::Record(vec![("x".to_owned(), leaf(Leaf::Float))]), "", vec![], vec![]),
    ];
    for (field_type, name, compressed, stored) in cases {
        for (compression, expected) in
            [(Compression::DEFAULT, compressed), (Compression::NONE, stored)]
        {
            let mut builder = SchemaBuilder::new(compression);
            builder.field(None, "f", &field_type).unwrap();
            let schema = builder.finish();
            assert_eq!(schema.fields[0].type_name, name);
            assert_eq!(columns(&schema, 0), expected, "{name}");
        }
    }
}

#[test]
fn ids_are_depth_first() {
    let inner = struct_type(&[("x", DataType::Float32), ("v", list_type(DataType::Int8))]);
    let arrow = ArrowSchema::new(vec![
        field("c", list_type(inner)),
        field("a", fixed_type(DataType::Boolean, 3)),
    ]);
    let schema = Schema::from_arrow(&arrow, Compression::DEFAULT).unwrap();
    let summary = schema
        .fields
        .iter()
        .map(|f| (f.parent.map(|p| p.0), f.name.as_str(), f.type_name.as_str(), f.structure))
        .collect::<Vec<_>>();
    assert_eq!(
        summary,
        [
            (None, "c", "", Structure::Collection),
            (Some(0), "_0", "", Structure::Record),
            (Some(1), "x", "float", Structure::Leaf),
            (Some(1), "v", "std::vector<std::int8_t>", Structure::Collection),
            (Some(3), "_0", "std::int8_t", Structure::Leaf),
            (None, "a", "std::array<bool,3>", Structure::Leaf),
            (Some(5), "_0", "bool", Structure::Leaf),
        ]
    );
    assert_eq!(schema.fields[5].array_size, Some(3));
    let fields = schema.columns.iter().map(|column| column.field.0).collect::<Vec<_>>();
    assert_eq!(fields, [0, 2, 3, 4, 6]);
}

/// Tests the layout that ROOT's importer gives a counted array branch.
#[test]
fn projections() {
    let float = FieldType::Leaf(Leaf::Float);
    let mut builder = SchemaBuilder::new(Compression::DEFAULT);
    let record = FieldType::Record(vec![("x".to_owned(), float.clone())]);
    let collection = builder.field(None, "_collection0", &FieldType::vector(record)).unwrap();
    let record = builder.schema().field(collection).children[0];
    let x = builder.schema().field(record).children[0];
    let n = builder.project("n", &FieldType::Cardinality32, &[collection]).unwrap();
    let xs = builder.project("x", &FieldType::rvec(float.clone()), &[collection, x]).unwrap();
    let wrong = builder.project("y", &FieldType::rvec(float), &[x, collection]).unwrap_err();
    assert_eq!(
        wrong.message(),
        "a field of type \"ROOT::VecOps::RVec<float>\" cannot be projected from \
         _collection0._0.x of type \"float\""
    );
    let schema = builder.finish();
    assert_eq!(schema.field(n).type_name, "ROOT::RNTupleCardinality<std::uint32_t>");
    assert_eq!(schema.field(n).structure, Structure::Leaf);
    assert_eq!(schema.field(n).source, Some(collection));
    assert_eq!(schema.field(xs).type_name, "ROOT::VecOps::RVec<float>");
    assert_eq!(schema.field(xs).source, Some(collection));
    let aliases = schema.aliases.iter().map(|a| (a.physical.0, a.field.0)).collect::<Vec<_>>();
    assert_eq!(aliases, [(0, n.0), (0, xs.0), (1, xs.0 + 1)]);
}

#[test]
fn refused_names_and_types() {
    let refused = |arrow: Field| {
        let error = Schema::from_arrow(&ArrowSchema::new(vec![arrow]), Compression::DEFAULT);
        error.unwrap_err().to_string()
    };
    let plain = |name: &str, data_type| Field::new(name, data_type, true);
    let rule = "is not allowed; names hold no control characters, '.', ' ', '\\\\' or '/'";
    for (name, wrong) in
        [("a.b", "'.'"), ("a b", "' '"), ("a/b", "'/'"), ("a\\b", "'\\\\'"), ("a\nb", "'\\n'")]
    {
        assert_eq!(
            refused(plain(name, DataType::Int8)),
            format!("{name:?} cannot be the name of a field: {wrong} {rule}")
        );
    }
    assert_eq!(refused(plain("", DataType::Int8)), "a field needs a name");
    assert_eq!(
        refused(plain("d", DataType::Date32)),
        "Arrow type Date32 cannot be written: cast it to int64 and say the unit in the name of the \
         field (field d)"
    );
    assert_eq!(
        refused(field("a", fixed_type(struct_type(&[("x", DataType::Int8)]), 2))),
        "a fixed-size array of records without a class is not a type that RNTuple knows: name the \
         records as a class, use a list of variable size, or one field per member (field a)"
    );
    let twice = ArrowSchema::new(vec![plain("x", DataType::Int8), plain("x", DataType::Int8)]);
    let error = Schema::from_arrow(&twice, Compression::DEFAULT).unwrap_err();
    assert_eq!(error.to_string(), "the field \"x\" already exists");
}
