//! Streamer info to plans.

use std::sync::{Arc, OnceLock};

use crate::streamer::container::Item;
use crate::streamer::info::{ClassInfo, Element, Form, known};
use crate::streamer::values::plan::{Counter, Member, Plan, Step};
use crate::streamer::values::table::ClassTable;

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
    let length = usize::try_from(element.array_length).unwrap_or(0);
    let count = (length > 0).then_some(length);
    match element.form() {
        Form::Base(class) => Step::Base(table.id(class)),
        Form::Container => {
            let name = element.type_name.trim_end_matches('*');
            match Item::parse(name, &mut |class| table.id(class)) {
                Some(item) if count.is_none() => Step::Container(item),
                _ => opaque(element),
            }
        }
        Form::Number(basic) => Step::Scalar(basic),
        Form::Numbers(basic) => Step::Fixed(basic, length),
        Form::Counted(basic) => Step::Counted(basic, counter(element, before), length.max(1)),
        Form::CString => Step::CString,
        Form::Text => Step::Embedded(table.id("TString"), count),
        Form::Object(class) => Step::Embedded(table.id(class), count),
        Form::Versioned(class) => Step::Versioned(table.id(class), length),
        Form::Pointer(_) => Step::Pointer(count),
        Form::Loop(..) | Form::Unknown => opaque(element),
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
