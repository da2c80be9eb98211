//! Reads objects from their streamed bytes by plans.
//!
//! ```text
//! object          version header, then base classes and members in order
//! version header  [0x40000000 | byte count : u32] version : u16 [checksum : u32 if version is 0]
//! ```
//!
//! Pointers are read in `pointer`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::arrow::Number;
use crate::cursor::{Cursor, VersionHeader};
use crate::error::{Error, Kind, Result, ResultExt};
use crate::streamer::basic::Basic;
use crate::streamer::node::{Counted, Node};
use crate::streamer::values::plan::{ClassId, Plan};
use crate::streamer::values::table::{Class, ClassTable};
use crate::streamer::values::value::{Numbers, ObjectId, Value};
use crate::streamer::values::{Instance, Object};
use crate::streamer::wire::MEMBER_WISE;

/// The largest depth of objects in objects that are read.
pub(super) const MAX_DEPTH: usize = 100;
/// The number of values that an object may have in addition to its size in bytes. Nearly every value takes at
/// least a byte.
const SPARE_VALUES: usize = 4096;
/// The number of bytes per value of an ordinary TTree, which is used to reserve memory.
const BYTES_PER_VALUE: usize = 24;

/// The object or class that a tag refers to.
pub(super) enum Tag {
    Class(Arc<str>),
    Object(ObjectId),
}

/// The reader of the objects of one record.
pub(super) struct Reader<'a> {
    pub table: &'a ClassTable,
    pub cursor: Cursor<'a>,
    pub object: Object,
    /// The size of the key before the object. Tags are counted from the start of the key.
    pub(super) keylen: u32,
    pub(super) tags: HashMap<u32, Tag>,
    /// The number of tagged objects and classes. In very old files, these numbers are the tags.
    pub(super) count: u32,
    /// Whether a byte count was read. In such files tags are positions.
    pub(super) positions: bool,
    /// The tag of the object about to be created.
    pub(super) pending: Option<u32>,
    pub(super) depth: usize,
    /// The number of objects that may still be read.
    pub(super) budget: usize,
    /// The places of tags that are positions.
    pub(super) references: Vec<usize>,
    /// The bytes that were skipped. They may contain more references.
    pub(super) unknown: Vec<Range<usize>>,
    /// Whether reading ended because a class is not in the table, but in nyssa's own tables.
    pub lacks: bool,
    /// Whether the places of members and of byte counts are recorded.
    pub keeps_places: bool,
    /// The places of byte counts, and the ends of the bytes that they count.
    pub(super) counts: Vec<(usize, usize)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(table: &'a ClassTable, payload: &'a [u8], keylen: u16) -> Self {
        Self {
            table,
            cursor: Cursor::new(payload, 0),
            object: Object::with_room(payload.len() / BYTES_PER_VALUE),
            keylen: keylen.into(),
            tags: HashMap::new(),
            count: 2,
            positions: false,
            pending: Some(1),
            depth: 0,
            budget: payload.len() + SPARE_VALUES,
            references: Vec::new(),
            unknown: Vec::new(),
            lacks: false,
            keeps_places: false,
            counts: Vec::new(),
        }
    }

    /// Reads an object of `class` with its version header, if the class has one.
    pub(super) fn class(&mut self, class: ClassId) -> Result<Value> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::unsupported(format!(
                "objects in objects that are more than {MAX_DEPTH} deep"
            )));
        }
        if self.budget == 0 {
            return Err(self.cursor.error("objects refer to each other"));
        }
        self.depth += 1;
        self.budget -= 1;
        let table = self.table;
        let builtin = table.class(class).and_then(|class| class.builtin);
        let value = match builtin {
            Some(builtin) => self.builtin(builtin, class),
            None => self.planned(table.class(class), ""),
        };
        self.depth -= 1;
        value
    }

    /// Reads an object of the class with this name. The class may not be in the table.
    fn named(&mut self, name: &str) -> Result<Value> {
        match self.table.find(name) {
            Some(class) => self.class(class),
            None => self.planned(None, name),
        }
    }

    /// Reads an object by its plan. `name` is the name of a class that is not in the table.
    fn planned(&mut self, class: Option<&Class>, name: &str) -> Result<Value> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let plan = match class {
            Some(class) => self.plan(class, &header)?,
            None => {
                self.check_lack(name, Some(header.version.cast_signed().into()))?;
                Err(format!("the file has no streamer info of class {name}").into())
            }
        };
        match plan {
            Ok(plan) => {
                let id = self.new_instance(&plan, header.version)?;
                self.fill(id, &plan, header.end)?;
                self.finish(&plan.class, &header, &start)?;
                Ok(Value::Object(id))
            }
            Err(reason) => self.skip_to(header.end, reason),
        }
    }

    /// Returns the plan of the version in a header, or the reason why it has no plan.
    #[allow(clippy::type_complexity)]
    fn plan(
        &mut self,
        class: &Class,
        header: &VersionHeader,
    ) -> Result<std::result::Result<Arc<Plan>, Arc<str>>> {
        let version = i32::from(header.version.cast_signed());
        let before = self.cursor.position();
        if version <= 0 && header.end.is_some_and(|end| before + 4 <= end) {
            // A class without a version is identified by the checksum of its layout.
            let checksum = self.cursor.be_u32()?;
            if let Some(plan) = class.plans.iter().find(|plan| plan.layout.checksum == checksum) {
                return Ok(Ok(plan.clone()));
            }
            self.cursor.seek(before)?;
        }
        if let Some(plan) = class.plans.iter().rev().find(|plan| plan.layout.version == version) {
            return Ok(Ok(plan.clone()));
        }
        self.check_lack(&class.name, Some(version))?;
        let versions: Vec<String> =
            class.plans.iter().map(|plan| plan.layout.version.to_string()).collect();
        let reason = if versions.is_empty() {
            format!("the file has no streamer info of class {}", class.name)
        } else {
            format!(
                "the file has no streamer info of version {version} of class {}, only of {}",
                class.name,
                versions.join(", ")
            )
        };
        Ok(Err(reason.into()))
    }

    /// Ends reading if the table lacks a class that is in nyssa's own tables.
    pub(super) fn check_lack(&mut self, class: &str, version: Option<i32>) -> Result<()> {
        if !self.table.lacks(class, version) {
            return Ok(());
        }
        self.lacks = true;
        Err(self.cursor.error(format!("class {class} is not in the table")))
    }

    /// Reads the members. After a member that cannot be read, the rest of the object is unknown.
    fn fill(&mut self, id: ObjectId, plan: &Plan, end: Option<usize>) -> Result<()> {
        let steps = &plan.layout.steps;
        for (index, step) in steps.iter().enumerate() {
            let start = self.cursor.position();
            match self.node(&step.node, id) {
                Ok(value) => {
                    self.keep_place(id, index, start..self.cursor.position());
                    self.set(id, index, value);
                }
                Err(error) if error.kind() == Kind::Unsupported && end.is_some() => {
                    self.unknown.extend(end.map(|end| start..end));
                    let reason: Arc<str> = error.message().into();
                    for rest in index..steps.len() {
                        self.set(id, rest, Value::Unknown(reason.clone()));
                    }
                    return end.map_or(Ok(()), |end| self.cursor.seek(end));
                }
                Err(error) => return Err(error).in_field(&step.place),
            }
        }
        Ok(())
    }

    /// Reads one value of the object `owner`.
    fn node(&mut self, node: &Node, owner: ObjectId) -> Result<Value> {
        match node {
            Node::Named(class) => self.named(class),
            Node::Number(basic) => basic.read(&mut self.cursor),
            Node::Text => self.text(),
            Node::CString => {
                let len = self.cursor.number_of(1)?;
                let text = String::from_utf8_lossy(self.cursor.bytes(len)?);
                Ok(Value::Text(text.into_owned().into()))
            }
            Node::Array(dimensions, item) => {
                let count = self.product(dimensions, 1)?;
                match **item {
                    Node::Number(basic) => self.numbers(basic, count),
                    _ => self.list(count, |reader| reader.node(item, owner)),
                }
            }
            Node::Counted(counted) => self.counted(counted, owner),
            Node::Seeks(counted) => {
                let count = self.counter(counted, owner)?;
                let wide = self.cursor.u8()? == 2;
                let number = if wide { Number::Int64 } else { Number::UInt32 };
                self.numbers(Basic::Plain(number), count)
            }
            Node::Pointer(pointer) if pointer.bare && self.is_bare() => {
                self.named(&pointer.declared)
            }
            Node::Pointer(_) => self.pointer(),
            Node::Container(content, dimensions) => {
                let count = dimensions.as_ref().map(|sizes| self.product(sizes, 1)).transpose()?;
                self.container(content, count, owner)
            }
            Node::Sequence(item) => {
                if let Node::Number(basic) = **item {
                    let count = self.cursor.number_of(basic.size())?;
                    return self.numbers(basic, count);
                }
                let count = self.cursor.number_of(1)?;
                self.list(count, |reader| reader.node(item, owner))
            }
            Node::Bitset(_) => {
                let count = self.cursor.number_of(1)?;
                self.numbers(Basic::Plain(Number::Bool), count)
            }
            Node::Map(pair) => {
                let count = self.cursor.number_of(2)?;
                let mut turn = false;
                self.list(2 * count, |reader| {
                    turn = !turn;
                    reader.node(if turn { &pair.key } else { &pair.value }, owner)
                })
            }
            Node::Unreadable(reason) => {
                let header = self.cursor.version_header()?;
                self.skip_to(header.end, reason.clone())
            }
            _ => Err(Error::unsupported("pairs in containers are not read")),
        }
    }

    /// Reads the arrays of numbers or objects behind several pointers. Another member holds their length.
    fn counted(&mut self, counted: &Counted, owner: ObjectId) -> Result<Value> {
        let count = self.counter(counted, owner)?;
        let Node::Number(basic) = *counted.item else {
            let count = self.product(&counted.dimensions, count)?;
            return self.container(&counted.item, Some(count), owner);
        };
        // The byte is zero for a null pointer, whatever the counter says.
        let present = self.cursor.u8()? != 0 || !self.table.null_arrays_flagged;
        let count = if present { count } else { 0 };
        let count = self.product(&counted.dimensions, count)?;
        self.numbers(basic, count)
    }

    /// Returns the number of elements in an array of arrays with `count` elements.
    fn product(&self, dimensions: &[usize], count: usize) -> Result<usize> {
        let all = dimensions.iter().try_fold(count, |all, &size| all.checked_mul(size));
        all.ok_or_else(|| self.cursor.error(format!("arrays of {count} in {dimensions:?}")))
    }

    fn numbers(&mut self, basic: Basic, count: usize) -> Result<Value> {
        basic.read_many(&mut self.cursor, count).map(Value::Numbers)
    }

    /// Reads the items of a collection. There are at most as many items as bytes are left, so that a damaged
    /// count takes no memory.
    pub(super) fn list(
        &mut self,
        count: usize,
        mut read: impl FnMut(&mut Self) -> Result<Value>,
    ) -> Result<Value> {
        let left = self.cursor.remaining().len();
        if count > left {
            return Err(self.cursor.error(format!("{count} items in {left} bytes")));
        }
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(Value::List(items.into()))
    }

    fn counter(&self, counted: &Counted, owner: ObjectId) -> Result<usize> {
        let value = match *counted.counter {
            [index] => self.object.member(owner, index),
            _ => self.object.view(owner).get(&counted.name),
        };
        let count = value.and_then(Value::as_i64);
        let count = count.ok_or_else(|| self.cursor.error("the counter of an array is missing"))?;
        usize::try_from(count).map_err(|_| self.cursor.error(format!("an array of {count}")))
    }

    /// Reads a standard container, or an array of `count` containers, objects or pointers, after one version header.
    fn container(
        &mut self,
        content: &Node,
        count: Option<usize>,
        owner: ObjectId,
    ) -> Result<Value> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let known = self.unknown.len();
        let read = match count {
            _ if header.version & MEMBER_WISE != 0 => {
                Err(Error::unsupported("the container is streamed member by member"))
            }
            None => self.node(content, owner),
            Some(count) => self.list(count, |reader| reader.node(content, owner)),
        };
        match read {
            Ok(value) => {
                let what = if count.is_none() { "container" } else { "array" };
                self.finish(what, &header, &start)?;
                Ok(value)
            }
            Err(error) if error.kind() == Kind::Unsupported => {
                let value = self.skip_to(header.end, error.message().into())?;
                if content.is_plain() {
                    self.unknown.truncate(known);
                }
                Ok(value)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn text(&mut self) -> Result<Value> {
        self.cursor.root_string().map(|text| Value::Text(text.into()))
    }

    /// Checks that an object ends at the byte that its header says.
    pub(super) fn finish(
        &mut self,
        class: &str,
        header: &VersionHeader,
        start: &Cursor<'_>,
    ) -> Result<()> {
        let Some(end) = header.end else { return Ok(()) };
        if self.cursor.position() == end {
            self.keep_count(start.position(), end);
            return Ok(());
        }
        Err(start.error(format!(
            "{class} version {} has {} bytes, reading its members took {}",
            header.version,
            end.saturating_sub(start.position()),
            self.cursor.position().saturating_sub(start.position())
        )))
    }

    /// Records the bytes of a member.
    pub(super) fn keep_place(&mut self, id: ObjectId, index: usize, place: Range<usize>) {
        if self.keeps_places {
            self.object.places.insert((id.0, index), place);
        }
    }

    /// Records the place of a byte count, and the end of the bytes that it counts.
    pub(super) fn keep_count(&mut self, place: usize, end: usize) {
        if self.keeps_places {
            self.counts.push((place, end));
        }
    }

    /// Skips bytes that cannot be read.
    pub(super) fn skip_to(&mut self, end: Option<usize>, reason: Arc<str>) -> Result<Value> {
        self.pending = None;
        match end {
            Some(end) => {
                self.unknown.push(self.cursor.position()..end);
                // Pointers in these bytes were not read. Tags are positions in files with byte counts.
                self.positions = true;
                self.cursor.seek(end)?;
                Ok(Value::Unknown(reason))
            }
            None => Err(Error::unsupported(reason.to_string())),
        }
    }

    /// Makes a new object with all members null. The pending tag refers to it.
    pub(super) fn new_instance(&mut self, plan: &Arc<Plan>, version: u16) -> Result<ObjectId> {
        let first = self.object.values.len();
        let last = first + plan.layout.steps.len();
        let limit = self.cursor.position() + self.cursor.remaining().len() + SPARE_VALUES;
        if last > limit {
            return Err(self.cursor.error("more members than bytes"));
        }
        let id = ObjectId(u32::try_from(self.object.instances.len()).unwrap_or(u32::MAX));
        self.object.values.resize(last, Value::Null);
        let version = i32::from(version.cast_signed());
        self.object.instances.push(Instance { plan: plan.clone(), version, first });
        if let Some(tag) = self.pending.take() {
            self.tags.insert(tag, Tag::Object(id));
        }
        Ok(id)
    }

    /// Drops the pending tag, since no pointer refers to the object being read.
    pub(super) fn forget_pending(&mut self) {
        self.pending = None;
    }

    /// Sets a member.
    pub(super) fn set(&mut self, id: ObjectId, index: usize, value: Value) {
        let first = self.object.instances.get(id.0 as usize).map_or(usize::MAX, |i| i.first);
        if let Some(slot) = first.checked_add(index).and_then(|at| self.object.values.get_mut(at)) {
            *slot = value;
        }
    }

    /// Reads numbers after a 32-bit length.
    pub(super) fn counted_numbers(&mut self, basic: Basic) -> Result<Numbers> {
        let count = self.cursor.number_of(basic.size())?;
        basic.read_many(&mut self.cursor, count)
    }
}
