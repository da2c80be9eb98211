//! Tests that a schema is refused when one rule is broken. Each case breaks one rule of a valid schema.

use crate::encoding::ColumnType;
use crate::schema::{AliasColumn, Column, ColumnId, Field, FieldId, Schema, Structure};

fn field(name: &str, type_name: &str, structure: Structure, parent: Option<FieldId>) -> Field {
    Field::new(parent, name, type_name, structure)
}

fn column(field: u32, column_type: ColumnType) -> Column {
    Column::new(FieldId(field), column_type)
}

/// Returns a schema with the fields 0 `v`: vector of 1 `_0`: record of 2 `x`: float; 3 `a`: array of 4 `_0`:
/// int; 5 `p`: projection of `v` to 6 `_0`: projection of `x`; 7 `n`: cardinality of `v`; 8 `s`: string; 9 `u`:
/// variant of 10 `_0`: int.
fn valid() -> Schema {
    let mut schema = Schema::default();
    let v = schema.add_field(field("v", "std::vector<T>", Structure::Collection, None));
    let t = schema.add_field(field("_0", "T", Structure::Record, Some(v)));
    let x = schema.add_field(field("x", "float", Structure::Leaf, Some(t)));
    let array = field("a", "std::array<std::int32_t,2>", Structure::Leaf, None);
    let a = schema.add_field(Field { array_size: Some(2), ..array });
    schema.add_field(field("_0", "std::int32_t", Structure::Leaf, Some(a)));
    let p = field("p", "std::vector<float>", Structure::Collection, None);
    let p = schema.add_field(Field { source: Some(v), ..p });
    let item = field("_0", "float", Structure::Leaf, Some(p));
    let item = schema.add_field(Field { source: Some(x), ..item });
    let n = field("n", "ROOT::RNTupleCardinality<std::uint32_t>", Structure::Leaf, None);
    let n = schema.add_field(Field { source: Some(v), ..n });
    schema.add_field(field("s", "std::string", Structure::Leaf, None));
    let u = field("u", "std::variant<std::int32_t>", Structure::Variant, None);
    let u = schema.add_field(u);
    schema.add_field(field("_0", "std::int32_t", Structure::Leaf, Some(u)));
    for column in [
        column(0, ColumnType::SplitIndex64),
        column(2, ColumnType::Real32),
        column(4, ColumnType::Int32),
        column(8, ColumnType::Index64),
        column(8, ColumnType::Char),
        column(9, ColumnType::Switch),
        column(10, ColumnType::SplitInt32),
    ] {
        schema.add_column(column);
    }
    for (physical, field) in [(0, p), (1, item), (0, n)] {
        schema.add_alias(AliasColumn { physical: ColumnId(physical), field });
    }
    schema
}

#[test]
fn a_valid_schema() {
    valid().validate().expect("valid");
}

#[test]
fn each_rule_is_checked() {
    type Change = fn(&mut Schema);
    let broken: &[(&str, Change)] = &[
        ("schema: a second field of this name (field v)", |s| s.fields[3].name = "v".into()),
        (
            "schema: \"a.b\" cannot be the name of a field: '.' is not allowed; names hold no \
             control characters, '.', ' ', '\\\\' or '/' (field number 3)",
            |s| s.fields[3].name = "a.b".into(),
        ),
        ("schema: a collection with 0 subfields (field v)", |s| s.fields[0].children.clear()),
        ("schema: an array with 0 subfields (field a)", |s| s.fields[4].parent = None),
        ("schema: a variant with 0 subfields (field u)", |s| s.fields[9].children.clear()),
        ("schema: an array that is not a leaf (field v)", |s| s.fields[0].array_size = Some(1)),
        ("schema: 1 columns where none belongs (field v._0)", |s| {
            s.add_column(column(1, ColumnType::Bit));
        }),
        ("schema: 1 columns where 2 belong to each representation (field s)", |s| {
            s.fields[8].columns.pop();
        }),
        ("schema: 0 columns where 1 belong to each representation (field v)", |s| {
            s.fields[0].columns.clear();
        }),
        ("schema: a column of type Real32 does not belong here (field a._0)", |s| {
            s.columns[2] = column(4, ColumnType::Real32);
        }),
        (
            "schema: a column of type Int32 has 31 bits, but 32 to 32 are allowed (field a._0)",
            |s| {
                s.columns[2].bits = 31;
            },
        ),
        (
            "schema: a column of type Real32Trunc has 9 bits, but 10 to 31 are allowed (field v._0.x)",
            |s| {
                s.columns[1] = Column { bits: 9, ..column(2, ColumnType::Real32Trunc) };
            },
        ),
        ("schema: a Real32Quant column without a range of values (field v._0.x)", |s| {
            s.columns[1] = column(2, ColumnType::Real32Quant);
        }),
        ("schema: a Real32Quant column of the range 1 to 0 (field v._0.x)", |s| {
            let quant = column(2, ColumnType::Real32Quant);
            s.columns[1] = Column { value_range: Some((1.0, 0.0)), ..quant };
        }),
        ("schema: column of representation 1 where 0 has to come (field a._0)", |s| {
            s.columns[2].representation = 1;
        }),
        ("schema: column of representation 0 where 1 has to come (field a._0)", |s| {
            s.add_column(column(4, ColumnType::SplitInt32));
        }),
        ("schema: physical column 7 of a projected field (field n)", |s| {
            s.add_column(column(7, ColumnType::Index64));
        }),
        (
            "schema: alias column of physical column 2, which does not belong to the source of \
             the projection (field n)",
            |s| s.aliases[2].physical = ColumnId(2),
        ),
        ("schema: a projection of a variant or an array (field q)", |s| {
            let q = field("q", "std::variant<std::int32_t>", Structure::Variant, None);
            let q = s.add_field(Field { source: Some(FieldId(9)), ..q });
            let item = field("_0", "std::int32_t", Structure::Leaf, Some(q));
            let item = s.add_field(Field { source: Some(FieldId(10)), ..item });
            s.add_alias(AliasColumn { physical: ColumnId(5), field: q });
            s.add_alias(AliasColumn { physical: ColumnId(6), field: item });
        }),
        ("schema: a projection of type double as float (field p._0)", |s| {
            s.fields[2].type_name = "double".into();
        }),
        (
            "schema: a projection from v._0.x, which lies in other collections, arrays or variants \
             (field q)",
            |s| {
                let q = field("q", "float", Structure::Leaf, None);
                let field = s.add_field(Field { source: Some(FieldId(2)), ..q });
                s.add_alias(AliasColumn { physical: ColumnId(1), field });
            },
        ),
        (
            "schema: a projection from a._0, which lies in other collections, arrays or variants \
             (field q)",
            |s| {
                let q = field("q", "std::int32_t", Structure::Leaf, None);
                let field = s.add_field(Field { source: Some(FieldId(4)), ..q });
                s.add_alias(AliasColumn { physical: ColumnId(2), field });
            },
        ),
        ("schema: a projection of a projection (field q)", |s| {
            let q = field("q", "std::vector<float>", Structure::Record, None);
            s.add_field(Field { source: Some(FieldId(5)), ..q });
        }),
        ("schema: a projection of Collection as Record (field q)", |s| {
            let q = field("q", "", Structure::Record, None);
            s.add_field(Field { source: Some(FieldId(0)), ..q });
        }),
        ("schema: a field that is not projected inside a projected field (field p._0)", |s| {
            s.fields[6].source = None;
            s.aliases.remove(1);
        }),
    ];
    for (message, change) in broken {
        let mut schema = valid();
        change(&mut schema);
        if *message == "schema: an array with 0 subfields (field a)" {
            schema.fields[3].children.clear();
        }
        let error = schema.validate().err().unwrap_or_else(|| panic!("accepted: {message}"));
        assert_eq!(error.to_string(), *message);
    }
}

#[test]
fn unknown_parts_leave_their_top_level_field_out() {
    let mut schema = valid();
    schema.columns[1].column_type = None;
    schema.fields[1].structure = Structure::Unknown(9);
    // This is not an error: the tree of `v` is not understood, and neither are its projections.
    schema.columns[0].bits = 3;
    schema.validate().expect("left out");
}
