use super::{Argument, TypeName, normalize};

#[test]
fn normal_forms() {
    // The names come from the specification, from ROOT's class names of branches, and from files of older
    // versions.
    for (text, normal) in [
        (
            "const pair<size_t, array<class ::Event, 2>>",
            "std::pair<std::uint64_t,std::array<Event,2>>",
        ),
        ("vector<float>", "std::vector<float>"),
        ("vector<vector<int> >", "std::vector<std::vector<std::int32_t>>"),
        ("vector<unsigned int,allocator<unsigned int> >", "std::vector<std::uint32_t>"),
        (
            "map<string,vector<short>,less<string> >",
            "std::map<std::string,std::vector<std::int16_t>>",
        ),
        ("unsigned", "std::uint32_t"),
        ("long long unsigned int", "std::uint64_t"),
        ("unsigned char", "std::uint8_t"),
        ("signed char", "std::int8_t"),
        ("char", "char"),
        ("Float_t", "float"),
        ("Long64_t", "std::int64_t"),
        ("Double32_t", "double"),
        ("int32_t", "std::int32_t"),
        ("std::size_t", "std::uint64_t"),
        ("std::uint8_t", "std::uint8_t"),
        ("std::byte", "std::byte"),
        ("ROOT::RVec<Int_t>", "ROOT::VecOps::RVec<std::int32_t>"),
        ("ROOT::VecOps::RVec<float>", "ROOT::VecOps::RVec<float>"),
        ("Event[2][0x3]", "std::array<std::array<Event,3>,2>"),
        ("struct A::B<true, -1, 18446744073709551615>", "A::B<true,-1,18446744073709551615u>"),
        ("ElementLink<DataVector<xAOD::Jet_v1> >", "ElementLink<DataVector<xAOD::Jet_v1>>"),
        ("Outer<int>::Inner", "Outer<std::int32_t>::Inner"),
        ("std::unique_ptr<T,std::default_delete<T> >", "std::unique_ptr<T>"),
        ("std::variant<int,std::string>", "std::variant<std::int32_t,std::string>"),
        ("std::bitset<42>", "std::bitset<42>"),
        ("const char *", "const char*"),
        ("Holder<const T>", "Holder<const T>"),
        ("list", "list"),
        ("ROOT::RNTupleCardinality<unsigned int>", "ROOT::RNTupleCardinality<std::uint32_t>"),
    ] {
        let parsed = TypeName::parse(text).expect(text).to_string();
        assert_eq!(parsed, normal, "{text}");
        assert_eq!(normalize(&parsed), normal, "not stable: {text}");
    }
}

#[test]
fn wrong_names_are_refused() {
    for text in [
        "",
        "<",
        "vector<",
        "vector<int",
        "a b",
        "int float",
        "3",
        "A::",
        "f(int)",
        "x[",
        "x[]",
        "char char",
    ] {
        let error = TypeName::parse(text).err().unwrap_or_else(|| panic!("{text:?} was parsed"));
        assert_eq!(error.kind(), crate::Kind::InvalidArgument, "{text}");
        assert_eq!(normalize(text), text);
    }
    let deep = "A<".repeat(100_000);
    assert!(TypeName::parse(&deep).is_err());
}

#[test]
fn the_tree_has_arguments() {
    let name = TypeName::parse("std::map<std::string,A<int>::B>").expect("type");
    let (template, arguments) = name.template();
    assert_eq!(template, "std::map");
    let [Argument::Type(key), Argument::Type(value)] = arguments else { panic!("{arguments:?}") };
    assert_eq!(key.to_string(), "std::string");
    assert_eq!(value.template().0, "A<std::int32_t>::B");
    assert_eq!(name.arguments_of("std::map").expect("a map").len(), 2);
    assert_eq!(name.arguments_of("std::set"), None);
}
