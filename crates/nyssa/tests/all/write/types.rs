//! Tests C++ type names → fields. Names, aliases and columns are those that ROOT 6.40 writes for the same names with
//! compression.

use nyssa_rntuple::schema::{
    Class, Classes, Definition, FieldType, Schema, SchemaBuilder, Structure,
};
use nyssa_root::Kind;
use nyssa_root::compression::Compression;

fn classes() -> Classes {
    let mut classes = Classes::default();
    let class = |bases: &[&str], members: &[(&str, &str)]| Definition::Class {
        bases: bases.iter().map(|&base| base.to_owned()).collect(),
        members: members.iter().map(|&(n, t)| (n.to_owned(), t.to_owned())).collect(),
        version: Class::NO_VERSION,
        checksum: None,
    };
    classes.define("Base", class(&[], &[("b", "int")])).unwrap();
    classes.define("Jet", class(&["Base"], &[("pt", "float"), ("eta", "Double32_t")])).unwrap();
    classes.define("Color", Definition::Enum("short".to_owned())).unwrap();
    classes.define("ns::Hits<int>", Definition::Collection("float".to_owned())).unwrap();
    classes.define("Loop", class(&[], &[("more", "std::vector<Loop>")])).unwrap();
    classes
}

/// Returns one line a field: name, indented by depth, type, alias, structural role, size, columns.
fn dump(schema: &Schema) -> String {
    let mut lines = Vec::new();
    for field in &schema.fields {
        let above = |id: &nyssa_rntuple::schema::FieldId| schema.field(*id).parent;
        let depth = std::iter::successors(field.parent, above).count();
        let columns = field.columns.iter().map(|&id| schema.column(id).column_type.unwrap().name());
        let role = match field.structure {
            Structure::Leaf => "leaf",
            Structure::Collection => "collection",
            Structure::Record => "record",
            Structure::Variant => "variant",
            _ => "streamer",
        };
        lines.push(format!(
            "{}{} {} {} {role} {} {:?}",
            ".".repeat(depth),
            field.name,
            field.type_name,
            field.type_alias,
            field.array_size.unwrap_or(0),
            columns.collect::<Vec<_>>()
        ));
    }
    lines.join("\n").replace('"', "")
}

fn fields(text: &str) -> String {
    let mut builder = SchemaBuilder::new(Compression::DEFAULT);
    builder.field(None, "f", &FieldType::parse(text, &classes()).unwrap()).unwrap();
    let schema = builder.finish();
    schema.validate().unwrap();
    dump(&schema)
}

#[test]
fn names_aliases_and_columns_are_those_of_root() {
    let int = "std::int32_t  leaf 0 [SplitInt32]";
    let index = "collection 0 [SplitIndex64]";
    for (text, expected) in [
        ("std::optional<int>", format!("f std::optional<std::int32_t>  {index}\n._0 {int}")),
        (
            "unique_ptr<float>",
            format!("f std::unique_ptr<float>  {index}\n._0 float  leaf 0 [SplitReal32]"),
        ),
        (
            "std::variant<int,std::string>",
            format!(
                "f std::variant<std::int32_t,std::string>  variant 0 [Switch]\n._0 {int}\n._1 \
                 std::string  leaf 0 [SplitIndex64, Char]"
            ),
        ),
        (
            "std::tuple<char, bool>",
            "f std::tuple<char,bool>  record 0 []\n._0 char  leaf 0 [Char]\n._1 bool  leaf 0 [Bit]"
                .to_owned(),
        ),
        (
            "unordered_multiset<long>",
            format!(
                "f std::unordered_multiset<std::int64_t>  {index}\n._0 std::int64_t  leaf 0 \
                 [SplitInt64]"
            ),
        ),
        (
            "std::map<int,Double32_t>",
            format!(
                "f std::map<std::int32_t,double> std::map<std::int32_t,Double32_t> {index}\n._0 \
                 std::pair<std::int32_t,double> std::pair<std::int32_t,Double32_t> record 0 []\n.._0 \
                 {int}\n.._1 double Double32_t leaf 0 [SplitReal32]"
            ),
        ),
        ("std::bitset<9>", "f std::bitset<9>  leaf 9 [Bit]".to_owned()),
        ("std::atomic<int>", format!("f std::atomic<std::int32_t>  leaf 0 []\n._0 {int}")),
        (
            "ROOT::RVec<size_t>",
            format!(
                "f ROOT::VecOps::RVec<std::uint64_t>  {index}\n._0 std::uint64_t  leaf 0 \
                 [SplitUInt64]"
            ),
        ),
        (
            "int[2][3]",
            format!(
                "f std::array<std::array<std::int32_t,3>,2>  leaf 2 []\n._0 \
                 std::array<std::int32_t,3>  leaf 3 []\n.._0 {int}"
            ),
        ),
        // Classes, enums and collections: names, `:_0` for bases.
        (
            "vector<Jet>",
            format!(
                "f std::vector<Jet>  {index}\n._0 Jet  record 0 []\n..:_0 Base  record 0 []\n...b \
                 {int}\n..pt float  leaf 0 [SplitReal32]\n..eta double Double32_t leaf 0 \
                 [SplitReal32]"
            ),
        ),
        ("Color", "f Color  leaf 0 []\n._0 std::int16_t  leaf 0 [SplitInt16]".to_owned()),
        (
            "ns::Hits<signed>",
            format!("f ns::Hits<std::int32_t>  {index}\n._0 float  leaf 0 [SplitReal32]"),
        ),
    ] {
        assert_eq!(fields(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_type() {
    let refused = |text: &str| FieldType::parse(text, &classes()).unwrap_err();
    for (text, message) in [
        (
            "std::vector<Jets>",
            "type Jets is not known, and no class of that name is defined; did you mean \"Jet\"?",
        ),
        (
            "std::vectr<int>",
            "std::vectr<std::int32_t> is not a type that RNTuple has; did you mean",
        ),
        ("std::map<int>", "std::map<std::int32_t>: wrong template arguments"),
        ("std::list<int>", "std::list<std::int32_t> is not a type that RNTuple has"),
        ("float*", "float*: pointers and references cannot be written"),
        ("std::vector<int", "type name \"std::vector<int\""),
        ("Loop", "type "),
        ("long double", "long double is not a type that RNTuple has"),
    ] {
        let error = refused(text);
        assert!(error.to_string().starts_with(message), "{text}: {error}");
    }
    assert!(refused("Loop").to_string().contains("does a class contain itself?"));
    assert_eq!(refused("std::list<int>").kind(), Kind::Unsupported);
    let mut classes = classes();
    let again = classes.define("Color", Definition::Enum("int".to_owned())).unwrap_err();
    assert_eq!(again.to_string(), "class Color is defined twice");
    assert!(classes.define("std::thing", Definition::Enum("int".to_owned())).is_err());
}
