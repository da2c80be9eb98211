//! The classes of streamer info itself, by which the list of streamer infos of a file is read.

use crate::arrow::Number;
use crate::streamer::basic::Basic;
use crate::streamer::values::{ClassTable, Member, Step};

/// The classes of streamer info itself, known by heart (`TStreamerElement.cxx`, `Streamer`).
pub(super) fn bootstrap() -> ClassTable {
    let mut table = ClassTable::new();
    let base =
        |table: &mut ClassTable, class: &str| Member::new(class, Step::Base(table.id(class)));
    let text = |table: &mut ClassTable, name: &str| {
        Member::new(name, Step::Embedded(table.id("TString"), None))
    };
    let int = |name: &str| Member::new(name, Step::Scalar(Basic::Plain(Number::Int32)));
    for version in 1..=10 {
        let members = vec![
            base(&mut table, "TNamed"),
            Member::new("fCheckSum", Step::Scalar(Basic::Plain(Number::UInt32))),
            int("fClassVersion"),
            Member::new("fElements", Step::Pointer(None)),
        ];
        table.add("TStreamerInfo", version, members);
    }
    for version in 1..=4 {
        let max_index = if version == 1 {
            Step::Prefixed(Basic::Plain(Number::Int32))
        } else {
            Step::Fixed(Basic::Plain(Number::Int32), 5)
        };
        let mut members = vec![
            base(&mut table, "TNamed"),
            int("fType"),
            int("fSize"),
            int("fArrayLength"),
            int("fArrayDim"),
            Member::new("fMaxIndex", max_index),
            text(&mut table, "fTypeName"),
        ];
        if version == 3 {
            let double =
                |name: &str| Member::new(name, Step::Scalar(Basic::Plain(Number::Float64)));
            members.extend([double("fXmin"), double("fXmax"), double("fFactor")]);
        }
        table.add("TStreamerElement", version, members);
        let mut members = vec![base(&mut table, "TStreamerElement")];
        if version > 2 {
            members.push(int("fBaseVersion"));
        }
        table.add("TStreamerBase", version, members);
        for class in ["TStreamerBasicPointer", "TStreamerLoop"] {
            let members = vec![
                base(&mut table, "TStreamerElement"),
                int("fCountVersion"),
                text(&mut table, "fCountName"),
                text(&mut table, "fCountClass"),
            ];
            table.add(class, version, members);
        }
        for class in [
            "TStreamerBasicType",
            "TStreamerObject",
            "TStreamerObjectAny",
            "TStreamerObjectPointer",
            "TStreamerObjectAnyPointer",
            "TStreamerString",
            "TStreamerArtificial",
        ] {
            let members = vec![base(&mut table, "TStreamerElement")];
            table.add(class, version, members);
        }
        let members = vec![base(&mut table, "TStreamerElement"), int("fSTLtype"), int("fCtype")];
        table.add("TStreamerSTL", version, members);
        let members = vec![base(&mut table, "TStreamerSTL")];
        table.add("TStreamerSTLstring", version, members);
    }
    table
}
