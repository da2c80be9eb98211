//! Reads the leaves of a streamed TTree: element types, dimensions, counters.

use std::collections::HashMap;

use nyssa_root::error::Result;
use nyssa_root::streamer::values::{ObjectId, View};
use nyssa_root::streamer::{Basic, LeafNumbers};

use super::types::BASKET_MAX;
use super::{CountSource, Element, Leaf, Plain, leaf_class};

/// A property of a branch, or the reason why nyssa cannot read the branch.
pub(super) type OrReason<T> = std::result::Result<T, String>;

/// A leaf, and the contents of a branch that has only this leaf.
pub(super) struct LeafInfo {
    pub leaf: Leaf,
    /// The numbers, or the string, of a leaf whose numbers are not stored as in memory, or which is one of several
    /// leaves.
    pub numbers: OrReason<LeafNumbers>,
    pub shape: OrReason<Plain>,
}

/// Reads a leaf. `owners` contains the name and the branch of every leaf of the tree.
pub(super) fn read(view: View<'_>, owners: &HashMap<ObjectId, CountSource>) -> Result<LeafInfo> {
    let title = view.str("fTitle")?;
    let class = view.class();
    let unsigned = view.i64("fIsUnsigned")? != 0;
    // The length is -1 for variable-size arrays of a class.
    let signed_len = view.i64("fLen")?;
    let len = u64::try_from(signed_len).unwrap_or(0);
    let element = element(class, unsigned);
    let counter_leaf = view.view("fLeafCount")?;
    let counter = counter_leaf.and_then(|leaf| owners.get(&leaf.id()).cloned());
    let packed = matches!(class, "TLeafD32" | "TLeafF16");
    let dimensions = dimensions(title, len, counter_leaf.is_some(), packed);
    let stored = || view.str("fName").map(str::to_owned);
    let leaf = Leaf {
        name: owners.get(&view.id()).map_or_else(stored, |own| Ok(own.leaf.clone()))?,
        class: class.to_owned(),
        title: title.to_owned(),
        element,
        dimensions: dimensions.clone().unwrap_or_default(),
        counter: counter.clone(),
        unsigned,
        len,
    };
    let numbers = numbers(&leaf, title, dimensions.clone());
    let size = view.i64("fLenType")?;
    let shape = match element {
        None => Err(unsupported(class)),
        _ if signed_len < 0 => Err(format!("its leaf says that it has {signed_len} elements")),
        Some(Element::CString) if counter_leaf.is_some() => {
            Err("a variable number of C strings is not supported".to_owned())
        }
        Some(Element::CString) => {
            Ok(Plain { element: Element::CString, dimensions: Vec::new(), counter: None })
        }
        Some(_) if counter_leaf.is_some() && counter.is_none() => {
            let name = counter_leaf.map_or(Ok(""), |leaf| leaf.str("fName"))?;
            Err(format!("its counter {name} is in no branch of the tree"))
        }
        Some(element) if element.size().is_some_and(|bytes| bytes as i64 != size) => {
            Err(format!("its {class} says that elements have {size} bytes"))
        }
        Some(element) => dimensions.map(|dimensions| Plain { element, dimensions, counter }),
    };
    Ok(LeafInfo { leaf, numbers, shape })
}

/// Returns a leaf as numbers of ROOT's streamers.
fn numbers(leaf: &Leaf, title: &str, dimensions: OrReason<Vec<u64>>) -> OrReason<LeafNumbers> {
    let basic = match (leaf.class.as_str(), leaf.element) {
        ("TLeafD32" | "TLeafF16", _) => LeafNumbers::packed(title, leaf.class == "TLeafD32"),
        (_, Some(element)) => element.number().map(Basic::Plain),
        (class, None) => return Err(unsupported(class)),
    };
    let string = leaf.element == Some(Element::CString);
    if basic.is_none() && !string {
        return Err(unsupported(&leaf.class));
    }
    let dimensions = if string { Vec::new() } else { dimensions? };
    let most = dimensions.iter().try_fold(1_u64, |all, &item| all.checked_mul(item));
    if most.is_none_or(|most| most > BASKET_MAX) {
        return Err(format!("an array of {dimensions:?} elements is larger than any basket"));
    }
    let dimensions = dimensions.into_iter().filter_map(|size| usize::try_from(size).ok()).collect();
    Ok(LeafNumbers { name: leaf.name.clone(), basic, dimensions, counter: None })
}

/// Returns a `TLeafElement` of a fundamental type as plain elements.
pub(super) fn plain(leaf: &Leaf, element: Element) -> OrReason<Plain> {
    if leaf.counter.is_some() || leaf.len == 0 {
        return Err("variable-size arrays of a class are not supported yet".to_owned());
    }
    if leaf.dimensions.iter().product::<u64>() != leaf.len {
        return Err(format!("its dimensions do not multiply to {} elements", leaf.len));
    }
    Ok(Plain { element, dimensions: leaf.dimensions.clone(), counter: None })
}

/// Returns the element type of a leaf class (`TLeafB` ... `TLeafO`).
fn element(class: &str, unsigned: bool) -> Option<Element> {
    match class {
        "TLeafC" => Some(Element::CString),
        _ => leaf_class::number_of_leaf(class, unsigned).map(Element::from),
    }
}

/// Returns the element type of a member of a class by its streamer type, for a scalar or a fixed array (+20). Returns
/// `None` for `Float16_t` (19) and `Double32_t` (9), which are stored with fewer bits, and for `char*` (7) and bits
/// (15).
pub(super) fn element_of_code(code: i64) -> Option<Element> {
    let code = i32::try_from(if code > 20 { code - 20 } else { code }).ok()?;
    match Basic::from_code(code, "")? {
        Basic::Plain(number) => Some(number.into()),
        _ => None,
    }
}

fn unsupported(class: &str) -> String {
    match class {
        "TLeafObject" => "it holds objects streamed as a whole, not leaves".to_owned(),
        _ => format!("leaves of class {class} are not supported yet"),
    }
}

/// Reads the fixed dimensions of a leaf, outermost first, from its title `x[n][3][2]`. Their product must be
/// `len` (`fLen`). The first bracket of a counted leaf names its counter.
fn dimensions(title: &str, len: u64, counted: bool, packed: bool) -> OrReason<Vec<u64>> {
    let mut brackets = brackets(title);
    // The last bracket of numbers with fewer bits is their range.
    brackets.retain(|text| !packed || !text.contains(','));
    if counted && !brackets.is_empty() {
        brackets.remove(0);
    }
    let parsed: Option<Vec<u64>> = brackets.iter().map(|text| text.trim().parse().ok()).collect();
    let product = |sizes: &[u64]| sizes.iter().try_fold(1_u64, |all, &item| all.checked_mul(item));
    match parsed {
        Some(sizes) if product(&sizes) == Some(len) => Ok(sizes),
        // A title that a user has set can be without dimensions. Only one dimension is known then.
        _ if brackets.is_empty() => Ok(vec![len]),
        _ => Err(format!("its title {title:?} does not describe {len} elements")),
    }
}

/// Returns the texts in the brackets of a title.
fn brackets(title: &str) -> Vec<&str> {
    let parts = title.split('[').skip(1);
    parts.filter_map(|part| part.split_once(']').map(|(inside, _)| inside)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_titles() {
        for (title, len, counted, expected) in [
            ("x", 1, false, vec![]),
            ("x[3]", 3, false, vec![3]),
            ("x[3][2]", 6, false, vec![3, 2]),
            ("x[n]", 1, true, vec![]),
            ("x[n][3][2]", 6, true, vec![3, 2]),
            ("x", 4, false, vec![4]),
            ("some text", 1, true, vec![]),
        ] {
            assert_eq!(dimensions(title, len, counted, false), Ok(expected), "{title}");
        }
        assert_eq!(dimensions("x[3]/d[-1,1,9]", 3, false, true), Ok(vec![3]));
        for (title, len, counted) in [("x[3]", 4, false), ("x[k]", 4, false), ("x[n][3]", 2, true)]
        {
            assert_eq!(
                dimensions(title, len, counted, false),
                Err(format!("its title {title:?} does not describe {len} elements"))
            );
        }
    }
}
