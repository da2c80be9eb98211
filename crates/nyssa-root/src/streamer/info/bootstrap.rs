//! Defines the classes of streamer info itself, such as `TStreamerInfo` and `TStreamerElement`. The list of
//! streamer infos of a file is read with them (`TStreamerElement.cxx`, `Streamer`).

use std::sync::OnceLock;

use super::class::ClassInfo;
use super::known::class_info;
use crate::streamer::values::ClassTable;

/// The versions of `TStreamerInfo`, which all have the same layout.
const INFO_VERSIONS: std::ops::RangeInclusive<i32> = 1..=10;
/// The members of `TStreamerElement` in each version.
const ELEMENT: [&str; 4] = [
    "int fType; int fSize; int fArrayLength; int fArrayDim; TArrayI fMaxIndex; TString fTypeName",
    "int fType; int fSize; int fArrayLength; int fArrayDim; int fMaxIndex[5]; TString fTypeName",
    "int fType; int fSize; int fArrayLength; int fArrayDim; int fMaxIndex[5]; TString fTypeName; \
     double fXmin; double fXmax; double fFactor",
    "int fType; int fSize; int fArrayLength; int fArrayDim; int fMaxIndex[5]; TString fTypeName",
];
/// The classes that have only the members of `TStreamerElement`.
const PLAIN: [&str; 7] = [
    "TStreamerBasicType",
    "TStreamerObject",
    "TStreamerObjectAny",
    "TStreamerObjectPointer",
    "TStreamerObjectAnyPointer",
    "TStreamerString",
    "TStreamerArtificial",
];

/// Returns the classes of streamer info itself.
pub(super) fn bootstrap() -> &'static ClassTable {
    static TABLE: OnceLock<ClassTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let infos: Vec<ClassInfo> = lines().iter().filter_map(|line| class_info(line)).collect();
        ClassTable::new().with(&infos)
    })
}

/// Returns the table of the classes in the notation of `known`.
fn lines() -> Vec<String> {
    let info = "base TNamed 1; unsigned int fCheckSum; int fClassVersion; TObjArray* fElements";
    let mut lines: Vec<String> =
        INFO_VERSIONS.map(|version| format!("TStreamerInfo {version}: {info}")).collect();
    for (version, members) in (1..).zip(ELEMENT) {
        let base = format!("base TStreamerElement {version}");
        let line = |class: &str, members: &str| format!("{class} {version}: {members}");
        let base_version = if version > 2 { "; int fBaseVersion" } else { "" };
        let counter = format!("{base}; int fCountVersion; TString fCountName; TString fCountClass");
        lines.push(line("TStreamerElement", &format!("base TNamed 1; {members}")));
        lines.push(line("TStreamerBase", &format!("{base}{base_version}")));
        lines.extend(["TStreamerBasicPointer", "TStreamerLoop"].map(|class| line(class, &counter)));
        lines.extend(PLAIN.map(|class| line(class, &base)));
        lines.push(line("TStreamerSTL", &format!("{base}; int fSTLtype; int fCtype")));
        lines.push(line("TStreamerSTLstring", &format!("base TStreamerSTL {version}")));
    }
    lines
}
