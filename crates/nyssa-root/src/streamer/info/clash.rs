//! Finds the classes that two files describe in different ways under one version.
//!
//! An object states the version of its class, and readers take the first streamer info of this version in a file. So
//! the objects of one file cannot go into another one that gives this version other members. Only objects of classes
//! without `ClassDef` state the checksum of their class instead. Such a class has version 1.

use std::collections::{BTreeMap, BTreeSet};

use super::{ClassInfo, ElementForm, StreamerInfos};
use crate::type_name;

/// The version of a class without `ClassDef`, whose objects state the checksum of the class.
const MAY_SAY_CHECKSUM: i32 = 1;
/// The bytes before the name of a class, where an object behind a pointer begins.
const NEW_CLASS: [u8; 4] = [0xFF; 4];
/// The base class of all objects in ROOT's own collections.
const T_OBJECT: &str = "TObject";

/// The classes of a file that another file describes with other members.
#[derive(Debug, Default)]
pub(crate) struct Clashes<'a> {
    /// The classes whose objects may contain an object of such a class, and this class.
    holders: BTreeMap<&'a str, BTreeSet<Clash<'a>>>,
    /// The base classes of these classes, except `TObject`. Pointers to them may lead to such an object. A `TObject` may be
    /// of any class.
    bases: BTreeMap<&'a str, BTreeSet<Clash<'a>>>,
}

/// A class, its version and its checksum.
type Clash<'a> = (&'a str, i32, u32);

impl<'a> Clashes<'a> {
    /// Compares the classes of a file with the classes of the output of its objects.
    pub(crate) fn new(own: &'a StreamerInfos, output: &StreamerInfos) -> Self {
        let theirs = first_of_versions(output);
        let mut this = Self::default();
        for (version, info) in first_of_versions(own) {
            if theirs.get(&version).is_some_and(|other| !info.is_streamed_like(other)) {
                let clash = (info.name.as_str(), info.version, info.checksum);
                this.holders.entry(&info.name).or_default().insert(clash);
            }
        }
        while !this.holders.is_empty() && this.grow(own) {}
        this
    }

    /// Adds the classes that have members or base classes of classes in this list. Returns whether classes were
    /// added.
    fn grow(&mut self, own: &'a StreamerInfos) -> bool {
        let mut grown = false;
        for info in own.classes() {
            let behind: BTreeSet<Clash<'a>> = [&self.holders, &self.bases]
                .iter()
                .filter_map(|of| of.get(info.name.as_str()))
                .flatten()
                .copied()
                .collect();
            let bases = info.elements.iter().filter(|element| element.class == "TStreamerBase");
            for base in bases.filter(|base| base.name != T_OBJECT && !behind.is_empty()) {
                let of_base = self.bases.entry(&base.name).or_default();
                let before = of_base.len();
                of_base.extend(&behind);
                grown |= of_base.len() > before;
            }
            let held: BTreeSet<Clash<'a>> = info
                .elements
                .iter()
                .flat_map(|element| [&element.name, &element.type_name])
                .flat_map(|name| self.of_type(name))
                .collect();
            if !held.is_empty() {
                let holder = self.holders.entry(&info.name).or_default();
                let before = holder.len();
                holder.extend(held);
                grown |= holder.len() > before;
            }
        }
        grown
    }

    /// Returns whether the list is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }

    /// Returns the classes in values of a C++ type, which may have pointers.
    fn of_type(&self, type_name: &str) -> BTreeSet<Clash<'a>> {
        let has_pointers = type_name.contains('*') || type_name.contains("unique_ptr<");
        let behind = if has_pointers { Some(&self.bases) } else { None };
        let maps = || [Some(&self.holders), behind].into_iter().flatten();
        let words =
            type_name.split(|letter: char| !(letter.is_alphanumeric() || "_:".contains(letter)));
        let whole = type_name.trim_end_matches(['*', ' ']);
        let names = words.chain([whole]);
        names
            .flat_map(|name| maps().filter_map(move |of| of.get(name)))
            .flatten()
            .copied()
            .collect()
    }

    /// Returns why values of a C++ type cannot go into the other file, if they cannot.
    pub(crate) fn reason_against(&self, type_name: &str) -> Option<String> {
        self.of_type(type_name).first().map(reason)
    }

    /// Returns why an object with these bytes cannot go into the other file, if it cannot.
    pub(crate) fn reason_against_object(&self, class: &str, payload: &[u8]) -> Option<String> {
        let mut held = self.of_type(class);
        for (name, clashes) in &self.holders {
            let behind_pointer = [&NEW_CLASS, name.as_bytes(), b"\0"].concat();
            let in_clones = [name.as_bytes(), b";"].concat();
            if has(payload, &behind_pointer) || has(payload, &in_clones) {
                held.extend(clashes);
            }
        }
        let says_checksum = |&(_, version, checksum): &Clash<'_>| {
            let header = [&[0, 0][..], &checksum.to_be_bytes()].concat();
            version == MAY_SAY_CHECKSUM && has(payload, &header)
        };
        held.iter().find(|clash| !says_checksum(clash)).map(reason)
    }
}

impl StreamerInfos {
    /// Returns the classes that are described several times in one version, with other members, and these versions. Readers
    /// take the first description for objects that state the version. Objects that state the checksum are read by their own.
    pub fn described_twice(&self) -> BTreeSet<(&str, i32)> {
        let first = first_of_versions(self);
        let others = self.classes().iter().filter(|info| {
            let first = first.get(&(info.name.as_str(), info.version));
            first.is_some_and(|first| !info.is_streamed_like(first))
        });
        others.map(|info| (info.name.as_str(), info.version)).collect()
    }
}

impl ClassInfo {
    /// Returns whether objects of both have the same bytes. Only the members are compared, since versions of ROOT
    /// computed the checksum in different ways.
    fn is_streamed_like(&self, other: &Self) -> bool {
        let type_of = |form, name: &str| match form {
            ElementForm::Number(_) | ElementForm::Numbers(_) | ElementForm::Counted(_) => None,
            _ => Some(type_name::normalize(name)),
        };
        let form = |form| match form {
            // The normal form of the type is compared.
            ElementForm::Object(_) => ElementForm::Object(""),
            ElementForm::Pointer(_) => ElementForm::Pointer(""),
            ElementForm::Versioned(_) => ElementForm::Versioned(""),
            ElementForm::Loop(_, pointers) => ElementForm::Loop("", pointers),
            form => form,
        };
        self.checksum == other.checksum
            || self.elements.len() == other.elements.len()
                && self.elements.iter().zip(&other.elements).all(|(item, two)| {
                    item.name == two.name
                        && item.array_length == two.array_length
                        && item.count_name == two.count_name
                        && form(item.form()) == form(two.form())
                        && type_of(item.form(), &item.type_name)
                            == type_of(two.form(), &two.type_name)
                })
    }
}

/// Returns the streamer info that readers take for each version of each class.
fn first_of_versions(infos: &StreamerInfos) -> BTreeMap<(&str, i32), &ClassInfo> {
    let mut first = BTreeMap::new();
    for info in infos.classes() {
        first.entry((info.name.as_str(), info.version)).or_insert(info);
    }
    first
}

fn reason((class, version, _): &Clash<'_>) -> String {
    format!(
        "the output has another description of version {version} of class {class}, with other members: readers would \
         read its objects by the wrong one"
    )
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streamer::info::Element;

    #[test]
    fn versions_that_are_described_twice() {
        let class = |version, checksum, (type_name, code)| ClassInfo {
            name: "Hit".to_owned(),
            version,
            checksum,
            elements: vec![Element::of("TStreamerBasicType", "x", type_name, code)],
        };
        let (int, double) = (("int", 3), ("double", 8));
        let twice = |classes| StreamerInfos::new(classes).described_twice().len();
        assert_eq!(twice(vec![class(1, 5, int), class(1, 6, double)]), 1);
        // Checksums of one layout may differ.
        assert_eq!(twice(vec![class(1, 5, int), class(1, 6, int)]), 0);
        assert_eq!(twice(vec![class(1, 5, int), class(2, 6, double)]), 0);
    }
}
