//! Contains tables of classes of ROOT that the streamer infos of a file may lack. This happens if the writer of
//! the file ended before it wrote them, is older than streamer info, or is not ROOT.
//!
//! Each line of the tables describes one version of a class, with its members in the order they are streamed:
//!
//! ```text
//! TLeafI 1: base TLeaf 2; int fMinimum; int fMaximum
//! class version [checksum]: base class version; type name; type name[size]; type* name[counter]
//! ```
//!
//! Versions up to `TTree` 4, `TBranch` 6, `TLeaf` 1, `TLeafObject` 3, `TAxis` 5, `TH1` to `TH3` 2 and `TProfile` 2
//! are older than streamer info. Their lines follow the `Streamer` of the class. All others are from streamer infos.
//! `TTree` 7, 9, 13 and 14, and `TBranchElement` 2, 3, 4 and 6, are missing, since neither files with them nor their
//! source are available.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::streamer::basic::{BITS, Basic};
use crate::streamer::info::class::{ClassInfo, Element};
use crate::streamer::info::form::{ARRAY, CONTAINER, COUNTED, LOOP, OBJECT, POINTER, TEXT};

const TABLES: [&str; 3] =
    [include_str!("trees.txt"), include_str!("histograms.txt"), include_str!("others.txt")];

/// The mark of a class without members.
const NONE: &str = "-";

/// The type code of an `unsigned int`.
const UINT: i32 = 13;

/// Returns the names of the classes in the tables.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    index().keys().copied()
}

/// Returns whether a class is in the tables.
pub(crate) fn is_known(class: &str) -> bool {
    index().contains_key(class)
}

/// Returns the versions of a class in the tables, the newest last. Returns an empty list if the class is not in
/// the tables.
pub(crate) fn built_in(class: &str) -> &'static [ClassInfo] {
    index().get(class).map_or(&[], Vec::as_slice)
}

/// Returns `TObject`, which has its own streamer, with the members that split branches have.
pub(crate) fn t_object() -> &'static ClassInfo {
    static T_OBJECT: OnceLock<ClassInfo> = OnceLock::new();
    T_OBJECT.get_or_init(|| {
        let member =
            |name: &str, code| Element::of("TStreamerBasicType", name, "unsigned int", code);
        ClassInfo {
            name: "TObject".to_owned(),
            version: 1,
            checksum: 0,
            elements: vec![member("fUniqueID", UINT), member("fBits", BITS)],
        }
    })
}

/// Returns the versions of each class by its name.
fn index() -> &'static HashMap<&'static str, Vec<ClassInfo>> {
    static INDEX: OnceLock<HashMap<&str, Vec<ClassInfo>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index: HashMap<&str, Vec<ClassInfo>> = HashMap::new();
        for line in TABLES.iter().flat_map(|table| table.lines()) {
            let Some(info) = class_info(line) else { continue };
            let name = line.split(' ').next().unwrap_or(line);
            index.entry(name).or_default().push(info);
        }
        index
    })
}

/// Returns the class that a line of a table describes.
pub(crate) fn class_info(line: &str) -> Option<ClassInfo> {
    let (head, members) = line.split_once(": ")?;
    let mut head = head.split(' ');
    let name = head.next()?.to_owned();
    let version = head.next()?.parse().ok()?;
    let checksum = head.next().and_then(|text| u32::from_str_radix(&text[2..], 16).ok());
    let members = members.split("; ").filter(|text| *text != NONE);
    let elements = members.map(element).collect::<Option<_>>()?;
    Some(ClassInfo { name, version, checksum: checksum.unwrap_or(0), elements })
}

fn element(text: &str) -> Option<Element> {
    let (type_name, name) = text.rsplit_once(' ')?;
    if let Some(base) = type_name.strip_prefix("base ") {
        let element = Element::of("TStreamerBase", base, "BASE", 0);
        return Some(Element { base_version: name.parse().ok()?, ..element });
    }
    let (name, brackets) = name.split_once('[').unwrap_or((name, ""));
    let sizes = brackets.split(['[', ']']).filter(|size| !size.is_empty());
    let dimensions: Option<Vec<i32>> = sizes.map(|size| size.parse().ok()).collect();
    let counter = dimensions.is_none().then(|| brackets.trim_end_matches(']'));
    let dimensions = dimensions.unwrap_or_default();
    let array = if dimensions.is_empty() { 0 } else { ARRAY };
    let pointee = type_name.strip_suffix('*');
    let (class, code) = match (Basic::code_of(pointee.unwrap_or(type_name)), pointee, counter) {
        (Some(code), None, _) => ("TStreamerBasicType", code + array),
        (Some(code), Some(_), Some(_)) => ("TStreamerBasicPointer", code + COUNTED),
        (_, Some(_), Some(_)) => ("TStreamerLoop", LOOP),
        (_, Some(_), None) => ("TStreamerObjectPointer", POINTER + array),
        (_, None, _) if type_name == "TString" => ("TStreamerString", TEXT + array),
        (_, None, _) if type_name.starts_with("vector<") || type_name.starts_with("map<") => {
            ("TStreamerSTL", CONTAINER)
        }
        (_, None, _) => ("TStreamerObject", OBJECT + array),
    };
    let element = Element::of(class, name, type_name, code);
    Some(Element {
        array_length: if dimensions.is_empty() { 0 } else { dimensions.iter().product() },
        dimensions,
        count_name: counter.unwrap_or("").to_owned(),
        ..element
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_class() {
        for line in TABLES.iter().flat_map(|table| table.lines()) {
            assert!(class_info(line).is_some(), "{line}");
        }
    }

    #[test]
    fn versions_ascend() {
        for name in names() {
            let versions: Vec<i32> = built_in(name).iter().map(|info| info.version).collect();
            assert!(versions.is_sorted() && !versions.is_empty(), "{name} {versions:?}");
        }
        assert_eq!(built_in("TTree").last().unwrap().version, 20);
        assert!(built_in("NoSuchClass").is_empty());
    }

    #[test]
    fn members_of_all_kinds() {
        let codes = |class: &str, member: &str| {
            let info = built_in(class).last().unwrap();
            let element =
                info.elements.iter().find(|element| element.name == member).unwrap().clone();
            (element.class, element.code, element.array_length, element.count_name)
        };
        let expect = |class: &str, code, length, counter: &str| {
            (class.to_owned(), code, length, counter.to_owned())
        };
        assert_eq!(codes("TBranch", "TNamed"), expect("TStreamerBase", 0, 0, ""));
        assert_eq!(codes("TBranch", "fEntries"), expect("TStreamerBasicType", 16, 0, ""));
        assert_eq!(
            codes("TBranch", "fBasketBytes"),
            expect("TStreamerBasicPointer", 43, 0, "fMaxBaskets")
        );
        assert_eq!(codes("TBranch", "fFileName"), expect("TStreamerString", 65, 0, ""));
        assert_eq!(codes("TBranch", "fLeaves"), expect("TStreamerObject", 62, 0, ""));
        assert_eq!(codes("TLeaf", "fLeafCount"), expect("TStreamerObjectPointer", 64, 0, ""));
        assert_eq!(codes("TRefTable", "fProcessGUIDs"), expect("TStreamerSTL", 500, 0, ""));
        assert_eq!(codes("TH2Poly", "fOverflow"), expect("TStreamerBasicType", 28, 9, ""));
        assert_eq!(codes("TStyle", "fLineStyle"), expect("TStreamerString", 85, 30, ""));
        assert_eq!(codes("TSpline3", "fPoly"), expect("TStreamerLoop", 501, 0, "fNp"));
        let features = &built_in("ROOT::TIOFeatures")[0];
        assert_eq!((features.version, features.checksum), (-1, 0x1AA1_2F10));
    }
}
