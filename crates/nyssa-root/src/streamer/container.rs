//! Parses the C++ type names of standard containers.

use crate::streamer::basic::Basic;
use crate::type_name;

/// The type of a container, or of its items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// Numbers.
    Basic(Basic),
    /// `std::string`.
    Text,
    /// `TString`.
    RootText,
    /// Objects with their own version headers.
    Object(String),
    /// A tagged pointer to an object of this class or of a class that is derived from it.
    Pointer(String),
    /// Sequences or sets.
    Sequence(Box<Self>),
    /// A map: keys and values in turn, with the name of their pair.
    Map(Box<Self>, Box<Self>, String),
    /// `std::pair`s, which are objects with version headers of their own, with their name.
    Pair(Box<Self>, Box<Self>, String),
    /// `std::bitset`s with this number of bits. Each is stored as a count and one byte for each bit.
    Bitset(usize),
}

/// The largest depth of nested templates that is parsed.
const MAX_DEPTH: usize = 16;

impl Item {
    /// Parses a type name such as `vector<vector<float> >`. Returns `None` for a container that nyssa does not
    /// know.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::parse_nested(name, 0)
    }

    fn parse_nested(name: &str, depth: usize) -> Option<Self> {
        let name = name.trim();
        let name = name.strip_prefix("const ").unwrap_or(name);
        let name = name.strip_prefix("std::").unwrap_or(name);
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(basic) = Basic::from_name(name) {
            return Some(Self::Basic(basic));
        }
        if name == "TString" {
            return Some(Self::RootText);
        }
        // A string behind a pointer is streamed like any other string. It is empty for a null pointer.
        if matches!(name, "string" | "string*") || name.starts_with("basic_string<char") {
            return Some(Self::Text);
        }
        if let Some(pointee) = name.strip_suffix('*') {
            return Some(Self::Pointer(pointee.trim().to_owned()));
        }
        let (template, arguments) = split_template(name);
        let nested = |index: usize| -> Option<Box<Self>> {
            Some(Box::new(Self::parse_nested(arguments.get(index)?, depth + 1)?))
        };
        let pair = || match arguments[..] {
            [first, second, ..] => type_name::normalize(&format!("pair<{first},{second}>")),
            _ => String::new(),
        };
        match template {
            "vector" | "list" | "deque" | "forward_list" | "set" | "multiset" | "unordered_set"
            | "unordered_multiset" | "ROOT::VecOps::RVec" | "ROOT::RVec" => {
                Some(Self::Sequence(nested(0)?))
            }
            "map" | "multimap" | "unordered_map" | "unordered_multimap" => {
                Some(Self::Map(nested(0)?, nested(1)?, pair()))
            }
            "pair" => Some(Self::Pair(nested(0)?, nested(1)?, pair())),
            "bitset" => arguments.first()?.parse().ok().map(Self::Bitset),
            // Arrays and tuples inside containers have streamer infos of their own.
            _ => Some(Self::Object(type_name::of_typedef(name).to_owned())),
        }
    }
}

/// Splits `a<b,c<d,e> >` into `a` and [`b`, `c<d,e>`].
fn split_template(name: &str) -> (&str, Vec<&str>) {
    let Some((template, rest)) = name.split_once('<') else { return (name, Vec::new()) };
    let Some(inside) = rest.trim_end().strip_suffix('>') else { return (name, Vec::new()) };
    let mut depth = 0_usize;
    let mut start = 0;
    let mut arguments = Vec::new();
    for (index, byte) in inside.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                arguments.push(inside[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    arguments.push(inside[start..].trim());
    (template.trim(), arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::Number;

    #[test]
    fn type_names() {
        let float = || Box::new(Item::Basic(Basic::Plain(Number::Float32)));
        for (name, expected) in [
            ("string", Some(Item::Text)),
            ("vector<float>", Some(Item::Sequence(float()))),
            ("std::vector<float,std::allocator<float> >", Some(Item::Sequence(float()))),
            ("vector<string*>", Some(Item::Sequence(Box::new(Item::Text)))),
            ("vector<vector<float> >", Some(Item::Sequence(Box::new(Item::Sequence(float()))))),
            (
                "map<string,vector<float>>",
                Some(Item::Map(
                    Box::new(Item::Text),
                    Box::new(Item::Sequence(float())),
                    "std::pair<std::string,std::vector<float>>".to_owned(),
                )),
            ),
            ("set<TObject*>", Some(Item::Sequence(Box::new(Item::Pointer("TObject".to_owned()))))),
            ("vector<Hit>", Some(Item::Sequence(Box::new(Item::Object("Hit".to_owned()))))),
            (
                "vector<My<float,int> >",
                Some(Item::Sequence(Box::new(Item::Object("My<float,int>".to_owned())))),
            ),
            ("bitset<8>", Some(Item::Bitset(8))),
            (
                "pair<float,float>",
                Some(Item::Pair(float(), float(), "std::pair<float,float>".to_owned())),
            ),
            (
                "vector<array<int,3> >",
                Some(Item::Sequence(Box::new(Item::Object("array<int,3>".to_owned())))),
            ),
            ("vector", None),
        ] {
            assert_eq!(Item::parse(name), expected, "{name}");
        }
        assert_eq!(Item::parse(&format!("{}int{}", "vector<".repeat(50), ">".repeat(50))), None);
    }
}
