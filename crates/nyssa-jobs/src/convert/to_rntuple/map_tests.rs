//! Compares the schema with the schema of ROOT 6.40's importer for this tree, which is written here as literals.

use nyssa_rntuple::encoding::ColumnType;
use nyssa_rntuple::schema::Structure;
use nyssa_root::arrow::Number;
use nyssa_ttree::{Element, Leaf, Plain, Shape};

use super::*;

fn branch(
    name: &str,
    element: impl Into<Element>,
    dimensions: &[u64],
    counter: Option<&str>,
) -> Branch {
    let counter =
        counter.map(|name| CountSource { branch: name.to_owned(), leaf: name.to_owned() });
    let element = element.into();
    let plain = Plain { element, dimensions: dimensions.to_vec(), counter: counter.clone() };
    Branch {
        name: name.to_owned(),
        path: name.to_owned(),
        title: String::new(),
        class: "TBranch".to_owned(),
        first_entry: 0,
        entries: 50,
        leaves: vec![Leaf {
            name: name.to_owned(),
            class: String::new(),
            title: String::new(),
            element: Some(element),
            dimensions: dimensions.to_vec(),
            counter,
            unsigned: false,
            len: dimensions.iter().product(),
        }],
        baskets: Vec::new(),
        branches: Vec::new(),
        shape: Ok(Shape::Plain(plain)),
        complete: true,
        is_elsewhere: false,
        stated: Default::default(),
        split: None,
    }
}

fn run(branches: &[Branch], layout: Layout, skip: bool) -> Result<ConversionPlan> {
    let inputs: Vec<_> =
        branches.iter().map(|branch| Input { path: branch.path.clone(), branch }).collect();
    let classes = Classes::default();
    let checks: Vec<_> = branches.iter().map(|branch| check(branch, layout, &classes)).collect();
    let rules = Rules {
        layout,
        compression: Compression::DEFAULT,
        filter: &Filter::default(),
        skip_unsupported: skip,
        skip_unreadable: false,
        checks: &checks,
        streamed_branches: &StreamerBranches::default(),
        failures: &Failures::default(),
    };
    map(&inputs, rules)
}

/// A field as (parent, name, type, structure, array size, source).
type Row<'a> = (Option<u32>, &'a str, &'a str, Structure, Option<u64>, Option<u32>);

/// Returns every field.
fn fields(schema: &Schema) -> Vec<Row<'_>> {
    let row = |field: &'_ nyssa_rntuple::schema::Field| {
        (
            field.parent.map(|id| id.0),
            field.structure,
            field.array_size,
            field.source.map(|id| id.0),
        )
    };
    schema
        .fields
        .iter()
        .map(|field| {
            let (parent, structure, size, source) = row(field);
            (parent, field.name.as_str(), field.type_name.as_str(), structure, size, source)
        })
        .collect()
}

#[test]
fn fields_columns_and_aliases_are_those_of_the_importer() {
    use Structure::{Collection, Leaf, Record};
    let branches = [
        branch("b", Number::Int8, &[], None),
        branch("l", Number::Int64, &[], None),
        branch("o", Number::Bool, &[], None),
        branch("str", Element::CString, &[], None),
        branch("ca", Number::Int8, &[4], None),
        branch("zn", Number::Int32, &[], None),
        branch("x", Number::Float32, &[], Some("zn")),
        branch("an", Number::Int32, &[], None),
        branch("w", Number::Float32, &[], Some("an")),
        branch("y", Number::Float64, &[], Some("zn")),
        branch("z", Number::Bool, &[], Some("zn")),
        branch("dotted.name", Number::Int32, &[], None),
    ];
    let map = run(&branches, Layout::Importer, false).unwrap();
    let float = "ROOT::VecOps::RVec<float>";
    let expected = [
        (None, "b", "char", Leaf, None, None),
        (None, "l", "std::int64_t", Leaf, None, None),
        (None, "o", "bool", Leaf, None, None),
        (None, "str", "std::string", Leaf, None, None),
        (None, "ca", "std::array<char,4>", Leaf, Some(4), None),
        (Some(4), "_0", "char", Leaf, None, None),
        (None, "dotted_name", "std::int32_t", Leaf, None, None),
        (None, "_collection_an", "", Collection, None, None),
        (Some(7), "_0", "", Record, None, None),
        (Some(8), "w", "float", Leaf, None, None),
        (None, "_collection_zn", "", Collection, None, None),
        (Some(10), "_0", "", Record, None, None),
        (Some(11), "x", "float", Leaf, None, None),
        (Some(11), "y", "double", Leaf, None, None),
        (Some(11), "z", "bool", Leaf, None, None),
        (None, "w", float, Collection, None, Some(7)),
        (Some(15), "_0", "float", Leaf, None, Some(9)),
        (None, "an", "ROOT::RNTupleCardinality<std::uint32_t>", Leaf, None, Some(7)),
        (None, "x", float, Collection, None, Some(10)),
        (Some(18), "_0", "float", Leaf, None, Some(12)),
        (None, "y", "ROOT::VecOps::RVec<double>", Collection, None, Some(10)),
        (Some(20), "_0", "double", Leaf, None, Some(13)),
        (None, "z", "ROOT::VecOps::RVec<bool>", Collection, None, Some(10)),
        (Some(22), "_0", "bool", Leaf, None, Some(14)),
        (None, "zn", "ROOT::RNTupleCardinality<std::uint32_t>", Leaf, None, Some(10)),
    ];
    assert_eq!(fields(&map.schema), expected);

    use ColumnType::{Bit, Char, SplitIndex64, SplitInt32, SplitInt64, SplitReal32, SplitReal64};
    let columns: Vec<_> = map
        .schema
        .columns
        .iter()
        .map(|column| (column.column_type.unwrap(), column.field.0))
        .collect();
    let expected = [
        (Char, 0),
        (SplitInt64, 1),
        (Bit, 2),
        (SplitIndex64, 3),
        (Char, 3),
        (Char, 5),
        (SplitInt32, 6),
        (SplitIndex64, 7),
        (SplitReal32, 9),
        (SplitIndex64, 10),
        (SplitReal32, 12),
        (SplitReal64, 13),
        (Bit, 14),
    ];
    assert_eq!(columns, expected);
    let aliases: Vec<_> =
        map.schema.aliases.iter().map(|alias| (alias.physical.0, alias.field.0)).collect();
    let expected = [
        (7, 15),
        (8, 16),
        (7, 17),
        (9, 18),
        (10, 19),
        (9, 20),
        (11, 21),
        (9, 22),
        (12, 23),
        (9, 24),
    ];
    assert_eq!(aliases, expected);
    let renamed = Renamed { branch: "dotted.name".to_owned(), field: "dotted_name".to_owned() };
    assert_eq!(map.renamed, [renamed]);
    let order: Vec<_> = map.fields.iter().map(|field| field.branch.as_str()).collect();
    let expected = ["b", "l", "o", "str", "ca", "zn", "x", "an", "w", "y", "z", "dotted.name"];
    assert_eq!(order, expected);
}

#[test]
fn vectors_are_fields_of_their_own() {
    let branches = [
        branch("n", Number::Int16, &[], None),
        branch("x", Number::Float32, &[3], Some("n")),
        branch("m", Number::Float64, &[2, 3], None),
        branch("b", Number::Int8, &[], None),
    ];
    let map = run(&branches, Layout::Vectors, false).unwrap();
    let types: Vec<_> = map.fields.iter().map(|field| field.type_name.as_str()).collect();
    let expected = [
        "std::int16_t",
        "std::vector<std::array<float,3>>",
        "std::array<std::array<double,3>,2>",
        "std::int8_t",
    ];
    assert_eq!(types, expected);
    assert_eq!(map.units.len(), 4);
    assert_eq!(map.notes.len(), 2);
}

#[test]
fn fixed_arrays_in_lists_are_not_projected() {
    let branches = [
        branch("n", Number::Int64, &[], None),
        branch("x", Number::Float32, &[3], Some("n")),
        branch("y", Number::Float32, &[], Some("n")),
    ];
    let map = run(&branches, Layout::Importer, false).unwrap();
    let types: Vec<_> = map.fields.iter().map(|field| field.type_name.as_str()).collect();
    let expected = [
        "ROOT::RNTupleCardinality<std::uint64_t>",
        "ROOT::VecOps::RVec<std::array<float,3>>",
        "ROOT::VecOps::RVec<float>",
    ];
    assert_eq!(types, expected);
}

#[test]
fn everything_unsupported_is_listed() {
    let mut branches = [
        branch("a", Number::Int32, &[], None),
        branch("b", Number::Int32, &[], None),
        branch("c", Number::Int32, &[], None),
    ];
    branches[0].shape = Err("it is an object".to_owned());
    branches[2].shape = Err("it has no leaves".to_owned());
    let error = run(&branches, Layout::Importer, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 branches cannot be converted; exclude them, or skip what is unsupported:\n  \
         a: it is an object\n  c: it has no leaves"
    );
    let map = run(&branches, Layout::Importer, true).unwrap();
    assert_eq!(map.skipped.len(), 2);
    assert_eq!(map.fields.len(), 1);
    branches[1].shape = Err("it is a mystery".to_owned());
    let error = run(&branches, Layout::Importer, true).unwrap_err();
    assert_eq!(error.kind(), nyssa_root::Kind::InvalidArgument);
    assert_eq!(
        error.to_string(),
        "no branch is left to convert; these cannot be:\n  \
         a: it is an object\n  b: it is a mystery\n  c: it has no leaves"
    );
}
