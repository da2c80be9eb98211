//! Finds the type that holds the values of two types that differ only in their numbers, by the rules of
//! [`nyssa_data::view::evolve`].

use arrow_schema::{DataType, Field};
use nyssa_data::view::evolve::common;
use nyssa_rntuple::schema::{FieldType, Leaf};
use nyssa_root::type_name::{Argument, TypeName};

/// The templates with equal columns and values, which differ only in C++.
const VECTORS: [&str; 2] = ["std::vector", "ROOT::VecOps::RVec"];

/// Returns the name of the type that holds the values of types `a` and `b`, such as `std::vector<double>` for vectors
/// of `float` and of `std::int32_t`. For a vector and an `RVec`, the result has the template of `a`. Returns `None`
/// if there is no such type, or the types differ in more than numbers.
pub(super) fn wider(a: &str, b: &str) -> Option<String> {
    if a == b {
        return Some(a.to_owned());
    }
    let (a, b) = (TypeName::parse(a).ok()?, TypeName::parse(b).ok()?);
    names(&a, &b).map(|name| name.to_string())
}

fn names(a: &TypeName, b: &TypeName) -> Option<TypeName> {
    if a == b {
        return Some(a.clone());
    }
    if let Some(number) = number(&a.to_string(), &b.to_string()) {
        return TypeName::parse(number.type_name()).ok();
    }
    let ((template, ours), (other, theirs)) = (a.template(), b.template());
    let is_vector = |template: &String| VECTORS.contains(&template.as_str());
    let known = template.starts_with("std::")
        || is_vector(&template)
        || template == "ROOT::RNTupleCardinality";
    let alike = template == other || is_vector(&template) && is_vector(&other);
    let same =
        (ours.len(), a.constant, &a.indirection) == (theirs.len(), b.constant, &b.indirection);
    if !known || !alike || !same || ours.is_empty() {
        return None;
    }
    let argument = |pair: (&Argument, &Argument)| match pair {
        (Argument::Type(a), Argument::Type(b)) => names(a, b).map(Argument::Type),
        (a, b) => (a == b).then(|| a.clone()),
    };
    let arguments = ours.iter().zip(theirs).map(argument).collect::<Option<_>>()?;
    let mut name = a.clone();
    name.path.last_mut()?.arguments = Some(arguments);
    Some(name)
}

fn number(a: &str, b: &str) -> Option<Leaf> {
    let field = |name: &str| Some(Field::new("", data_type(Leaf::of_name(name)?)?, false));
    let wide = common(&field(a)?, &field(b)?, false)?;
    let alike = |leaf: &Leaf| data_type(*leaf).as_ref() == Some(wide.data_type());
    Leaf::ALL.into_iter().filter(|leaf| *leaf != Leaf::Char).find(alike)
}

/// Returns the Arrow type of a number. A `std::byte` is not a number.
fn data_type(leaf: Leaf) -> Option<DataType> {
    let field = FieldType::Leaf(leaf).to_arrow("").ok()?;
    (leaf != Leaf::Byte).then(|| field.data_type().clone())
}

#[cfg(test)]
mod tests {
    use super::wider;

    #[test]
    fn vectors_are_alike() {
        let (vector, rvec) =
            ("std::vector<std::vector<float>>", "std::vector<ROOT::VecOps::RVec<float>>");
        assert_eq!(wider(vector, rvec).as_deref(), Some(vector));
        assert_eq!(wider(rvec, vector).as_deref(), Some(rvec));
        let wide = wider("ROOT::VecOps::RVec<float>", "std::vector<double>");
        assert_eq!(wide.as_deref(), Some("ROOT::VecOps::RVec<double>"));
        assert_eq!(wider("std::vector<float>", "std::array<float,2>"), None);
    }

    #[test]
    fn numbers_widen_wherever_they_are() {
        for (a, b, wide) in [
            ("std::int32_t", "std::int64_t", Some("std::int64_t")),
            ("std::uint32_t", "std::int32_t", Some("std::int64_t")),
            ("bool", "std::uint8_t", Some("std::uint8_t")),
            ("float", "double", Some("double")),
            ("std::int32_t", "float", Some("double")),
            ("char", "std::int8_t", Some("std::int8_t")),
            ("std::int64_t", "double", None),
            ("std::uint64_t", "std::int64_t", None),
            ("std::byte", "std::uint8_t", None),
            ("std::string", "float", None),
            ("std::vector<float>", "std::vector<double>", Some("std::vector<double>")),
            ("std::vector<float>", "std::set<double>", None),
            (
                "std::array<bool,3>",
                "std::array<std::int16_t,3>",
                Some("std::array<std::int16_t,3>"),
            ),
            ("std::array<float,3>", "std::array<double,4>", None),
            (
                "std::map<std::string,std::pair<float,char>>",
                "std::map<std::string,std::pair<double,char>>",
                Some("std::map<std::string,std::pair<double,char>>"),
            ),
            (
                "ROOT::RNTupleCardinality<std::uint32_t>",
                "ROOT::RNTupleCardinality<std::uint64_t>",
                Some("ROOT::RNTupleCardinality<std::uint64_t>"),
            ),
            // Nothing is known about the dictionary of a class.
            ("Track<float>", "Track<double>", None),
            ("", "float", None),
        ] {
            assert_eq!(wider(a, b).as_deref(), wide, "{a} {b}");
            assert_eq!(wider(b, a).as_deref(), wide, "{b} {a}");
        }
    }
}
