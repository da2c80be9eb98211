//! Streamer info to plans.

use std::sync::{Arc, OnceLock};

use crate::streamer::basic::Basic;
use crate::streamer::container::Item;
use crate::streamer::info::{ClassInfo, Element, known};
use crate::streamer::values::plan::{Counter, Member, Plan, Step};
use crate::streamer::values::table::ClassTable;

/// Added to a type code for arrays (`kOffsetL`).
const ARRAY: i32 = 20;
/// Added to a type code for counted pointers (`kOffsetP`).
const COUNTED: i32 = 40;

impl ClassTable {
    /// The builtin classes and all that are known by heart.
    pub fn by_heart() -> &'static Self {
        static TABLE: OnceLock<ClassTable> = OnceLock::new();
        TABLE.get_or_init(|| {
            let infos: Vec<_> = known::names().flat_map(known::by_heart).cloned().collect();
            let mut table = Self::new().with(&infos);
            table.is_complete = true;
            table
        })
    }

    /// This table with the plans of more classes.
    pub fn with(mut self, classes: &[ClassInfo]) -> Self {
        for info in classes {
            let plan = compile(info, &mut self);
            self.insert(plan);
        }
        self
    }
}

/// The plan of one class version; classes it mentions are numbered in `table`.
fn compile(info: &ClassInfo, table: &mut ClassTable) -> Plan {
    let mut members: Vec<Member> = Vec::with_capacity(info.elements.len());
    for element in &info.elements {
        let old_seeks = info.name == "TBranch"
            && (6..10).contains(&info.version)
            && element.name == "fBasketSeek";
        let step = if old_seeks {
            Step::Seeks(counter(element, &members))
        } else {
            step(element, &members, table)
        };
        members.push(Member { name: element.name.as_str().into(), step });
    }
    Plan {
        class: info.name.as_str().into(),
        version: info.version,
        checksum: info.checksum,
        members,
    }
}

fn step(element: &Element, before: &[Member], table: &mut ClassTable) -> Step {
    let code = element.code;
    let count = usize::try_from(element.array_length).unwrap_or(0);
    let basic = |code: i32| Basic::from_code(code, &element.title);
    match element.class.as_str() {
        "TStreamerBase" => return Step::Base(table.id(&element.name)),
        "TStreamerSTL" | "TStreamerSTLstring" => {
            let name = element.type_name.trim_end_matches('*');
            let item = Item::parse(name, &mut |class| table.id(class));
            return match item {
                Some(item) if count == 0 => Step::Container(item),
                _ => opaque(element),
            };
        }
        _ => {}
    }
    if let Some(basic) = basic(code) {
        return Step::Scalar(basic);
    }
    if (ARRAY + 1..COUNTED).contains(&code) {
        return match basic(code - ARRAY) {
            Some(basic) => Step::Fixed(basic, count),
            None => opaque(element),
        };
    }
    if (COUNTED + 1..COUNTED + ARRAY).contains(&code) {
        return match basic(code - COUNTED) {
            Some(basic) => Step::Counted(basic, counter(element, before), count.max(1)),
            None => opaque(element),
        };
    }
    // Arrays of pointers have the code of one pointer.
    let code = if (81..=90).contains(&code) { code - ARRAY } else { code };
    let count = (count > 0).then_some(count);
    let class = element.type_name.trim_end_matches('*').trim();
    let class = class.strip_prefix("const ").unwrap_or(class);
    match code {
        7 => Step::CString,
        61..=63 | 65..=68 => Step::Embedded(table.id(class), count),
        64 | 69 | 70 => Step::Pointer(count),
        _ => opaque(element),
    }
}

fn opaque(element: &Element) -> Step {
    let reason = format!(
        "member {} of type {} (streamer type {}) is not supported",
        element.name, element.type_name, element.code
    );
    Step::Opaque(Arc::from(reason))
}

fn counter(element: &Element, before: &[Member]) -> Counter {
    match before.iter().position(|member| *member.name == *element.count_name) {
        Some(index) => Counter::Own(index),
        None => Counter::Named(element.count_name.as_str().into()),
    }
}
