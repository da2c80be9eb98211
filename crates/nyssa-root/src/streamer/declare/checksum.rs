//! Computes the checksum of a class from its name, its bases and its members (`TClass::GetCheckSum`).

use crate::streamer::info::Element;

/// A member or base class, with what its checksum counts.
pub(super) struct Declared {
    pub element: Element,
    /// The type, if ROOT counts another than it stores: a `std::array` or a `std::unique_ptr`.
    pub counted: Option<String>,
    pub is_enum: bool,
    /// Whether the streamer info does not have the element.
    pub is_hidden: bool,
}

/// The checksum of a pair that ROOT makes up because it needs the items of a map whose pair the interpreter does not
/// know. It is the checksum of `pair<const int,int>`, from whose streamer info ROOT makes all of them
/// (`TStreamerInfo::GenerateInfoForPair`).
pub(super) const MADE_UP_PAIR: u32 = 190_822_226;

/// The types of the keys and values whose pairs have dictionaries in ROOT.
const KEYS: [&str; 5] = ["int", "long", "float", "double", "string"];
const VALUES: [&str; 4] = ["int", "long", "float", "double"];

/// Returns whether ROOT knows the pair of two types without the classes of users.
pub(super) fn is_known_pair(first: &str, second: &str) -> bool {
    let both = KEYS.contains(&first) && VALUES.contains(&second);
    both || (first, second) == ("string", "string")
}

/// Returns the checksum of a class with these elements.
pub(super) fn of_class(name: &str, elements: &[Declared]) -> u32 {
    let mut sum = text(0, name);
    for Declared { element, counted, is_enum, .. } in elements {
        // ROOT marks an enum before its name.
        sum = if *is_enum { next(sum, 1) } else { sum };
        sum = text(sum, &element.name);
        if element.class == "TStreamerBase" {
            let base = element.dimensions.get(1).copied().unwrap_or(0);
            sum = next(sum, base as u32);
            continue;
        }
        // ROOT counts this type, and not the sizes of a `std::array`.
        sum = match counted {
            Some(counted) => text(sum, counted),
            None => {
                let sum = text(sum, &element.type_name);
                element.dimensions.iter().fold(sum, |sum, &size| next(sum, size as u32))
            }
        };
    }
    sum
}

/// Returns the checksum of a class that ROOT knows only by its name, such as a standard container.
pub(super) fn of_name(name: &str) -> u32 {
    text(0, name)
}

fn text(sum: u32, text: &str) -> u32 {
    text.bytes().fold(sum, |sum, byte| next(sum, byte.into()))
}

fn next(sum: u32, value: u32) -> u32 {
    sum.wrapping_mul(3).wrapping_add(value)
}
