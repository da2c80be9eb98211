//! Names Arrow types in messages, as short as people need them.
//!
//! ```text
//! LargeList(non-null Struct("pt": non-null Float32, ...), metadata: ...)  ──►  LargeList(Struct(pt: Float32, ...))
//! ```

use arrow_schema::{DataType, Field};

/// The largest number of members of a struct, or alternatives of a union, that are named.
const MEMBERS: usize = 3;
/// The depth up to which the parts of a type are named.
const DEPTH: usize = 3;
/// The largest number of characters of a text with types.
const LONGEST_TEXT: usize = 500;

/// Returns the name of a type for a message: without metadata, and with a few members only, since the type of a large class
/// fills pages.
pub fn brief(data_type: &DataType) -> String {
    named(data_type, 0)
}

/// Returns a text with types, such as an error of Arrow. A long text is cut.
pub fn shortened(text: impl std::fmt::Display) -> String {
    let mut text = text.to_string();
    if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn named(data_type: &DataType, depth: usize) -> String {
    let item = |item: &Field| match depth < DEPTH {
        true => named(item.data_type(), depth + 1),
        false => "…".to_owned(),
    };
    match data_type {
        DataType::List(of) => format!("List({})", item(of)),
        DataType::LargeList(of) => format!("LargeList({})", item(of)),
        DataType::FixedSizeList(of, size) => format!("FixedSizeList({size} x {})", item(of)),
        DataType::Struct(members) => {
            let parts = members.iter().map(|member| (member.name().as_str(), item(member)));
            format!("Struct({})", listed(parts))
        }
        DataType::Union(members, _) => {
            let parts = members.iter().map(|(_, member)| (member.name().as_str(), item(member)));
            format!("Union({})", listed(parts.collect::<Vec<_>>().into_iter()))
        }
        DataType::Dictionary(_, values) => format!("Dictionary({})", named(values, depth)),
        other => shortened(other),
    }
}

fn listed<'a>(parts: impl ExactSizeIterator<Item = (&'a str, String)>) -> String {
    let more = parts.len().saturating_sub(MEMBERS);
    let mut parts: Vec<String> =
        parts.take(MEMBERS).map(|(name, of)| format!("{}: {of}", shortened(name))).collect();
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::{STRING, field};

    #[test]
    fn types_are_named_without_their_metadata() {
        let number = field("pt", DataType::Float32);
        let text = field("name", DataType::LargeBinary);
        assert!(text.metadata().contains_key(STRING.0));
        let record = DataType::Struct(vec![number.clone(), text].into());
        let list = DataType::LargeList(field("item", record).into());
        assert_eq!(brief(&list), "LargeList(Struct(pt: Float32, name: LargeBinary))");
        let fixed = DataType::FixedSizeList(number.into(), 3);
        assert_eq!(brief(&fixed), "FixedSizeList(3 x Float32)");
    }

    #[test]
    fn large_types_are_cut() {
        let members = (0..1000).map(|index| field(&format!("m{index}"), DataType::Int32));
        let mut deep = DataType::Struct(members.collect());
        assert_eq!(brief(&deep), "Struct(m0: Int32, m1: Int32, m2: Int32, 997 more)");
        for _ in 0..1000 {
            deep = DataType::LargeList(field("item", deep).into());
        }
        assert_eq!(brief(&deep), "LargeList(LargeList(LargeList(LargeList(…))))");
        assert_eq!(shortened("é".repeat(1000)).chars().count(), LONGEST_TEXT + 1);
    }
}
