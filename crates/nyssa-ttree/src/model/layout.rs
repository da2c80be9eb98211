//! The layout of one entry of a branch in its baskets, and the Arrow type of the entry.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};
use nyssa_root::arrow::Number;

use super::types::BASKET_MAX;
use super::{Branch, CountSource, Element, Plain, Shape, Streamed};

/// The layout of an entry in bytes.
#[derive(Clone, Debug)]
pub(crate) struct EntryLayout {
    /// The kind of the entries.
    pub kind: EntryKind,
    /// The size of one item in bytes: an element times its fixed dimensions, or a whole record. It is 1 for
    /// strings.
    pub stride: usize,
    /// The leaves, in order. Several leaves make a record.
    pub members: Vec<Member>,
}

/// The kinds of entries, by their number of items.
#[derive(Clone, Debug)]
pub(crate) enum EntryKind {
    /// One item.
    Fixed,
    /// As many items as the counter states.
    Jagged(CountSource),
    /// One C string.
    Strings,
    /// Bytes that ROOT's streamers wrote. There are no members.
    Streamed(Streamed),
}

/// One leaf of an item.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The name of the leaf.
    pub name: String,
    /// The type of the elements.
    pub element: Element,
    /// The fixed dimensions, outermost first.
    pub dimensions: Vec<u64>,
    /// The offset in the item, in bytes.
    pub start: usize,
    /// The size in bytes.
    pub size: usize,
}

impl EntryLayout {
    /// Returns the layout of `branch`, or the reason why it cannot be read.
    pub(crate) fn of(branch: &Branch) -> Result<Self, String> {
        let plain = match branch.shape.as_ref().map_err(Clone::clone)? {
            Shape::Plain(plain) => plain,
            Shape::LeafList => return leaf_list(branch),
            Shape::Streamed(streamed) => {
                let kind = EntryKind::Streamed(streamed.clone());
                return Ok(Self { kind, stride: 1, members: Vec::new() });
            }
        };
        let Plain { element, dimensions, counter } = plain;
        let mut layout = Self::items(vec![Member::new("", *element, dimensions)?])?;
        match counter {
            Some(counter) => layout.kind = EntryKind::Jagged(counter.clone()),
            None if *element == Element::CString => layout.kind = EntryKind::Strings,
            None => {}
        }
        Ok(layout)
    }

    fn items(mut members: Vec<Member>) -> Result<Self, String> {
        let mut stride = 0_usize;
        for member in &mut members {
            member.start = stride;
            stride = stride.saturating_add(member.size);
        }
        if stride as u64 > BASKET_MAX {
            return Err(format!("an entry of {stride} bytes is larger than any basket"));
        }
        Ok(Self { kind: EntryKind::Fixed, stride, members })
    }

    /// Returns the Arrow type of one entry.
    pub(crate) fn data_type(&self) -> DataType {
        let of = |member: &Member, jagged| {
            nyssa_root::arrow::nested(member.element.data_type(), &member.dimensions, jagged)
        };
        if let EntryKind::Streamed(streamed) = &self.kind {
            return match &streamed.counter {
                None => streamed.layout.data_type(),
                Some(_) => DataType::LargeList(Arc::new(streamed.layout.arrow_field("item"))),
            };
        }
        match self.members.as_slice() {
            [member] => of(member, matches!(self.kind, EntryKind::Jagged(_))),
            members => DataType::Struct(Fields::from_iter(
                members
                    .iter()
                    .map(|member| nyssa_root::arrow::field(&member.name, of(member, false))),
            )),
        }
    }

    /// Returns the element type. Returns `None` for a record.
    pub(crate) fn element(&self) -> Option<Element> {
        self.members.first().filter(|_| self.members.len() == 1).map(|member| member.element)
    }

    /// Returns whether an entry has one number called `leaf`, or only one number.
    pub(crate) fn has_counter(&self, leaf: &str) -> bool {
        let number = |member: &Member| {
            (member.name == leaf || self.members.len() == 1) && member.dimensions.is_empty()
        };
        matches!(self.kind, EntryKind::Fixed) && self.members.iter().any(number)
    }

    /// Returns the leaf that counts the items.
    pub(crate) fn counter(&self) -> Option<&CountSource> {
        match &self.kind {
            EntryKind::Jagged(counter) => Some(counter),
            EntryKind::Streamed(streamed) => streamed.counter.as_ref(),
            _ => None,
        }
    }
}

impl Member {
    fn new(name: &str, element: Element, dimensions: &[u64]) -> Result<Self, String> {
        let size = element.size().unwrap_or(1) as u64;
        let bytes = dimensions.iter().try_fold(size, |bytes, &size| bytes.checked_mul(size));
        let bytes =
            bytes.filter(|&bytes| bytes <= BASKET_MAX).and_then(|n| usize::try_from(n).ok());
        let size = bytes.ok_or_else(|| {
            format!("an array of {dimensions:?} elements is larger than any basket")
        })?;
        let dimensions = dimensions.to_vec();
        Ok(Self { name: name.to_owned(), element, dimensions, start: 0, size })
    }
}

/// Returns the layout of a leaf list (`x/D:y/I:z[3]/F`) whose leaves all have fixed sizes. They are streamed
/// one after the other, without padding.
fn leaf_list(branch: &Branch) -> Result<EntryLayout, String> {
    let mut members = Vec::with_capacity(branch.leaves.len());
    for leaf in &branch.leaves {
        let element = leaf.element.filter(|element| element.size().is_some());
        let fixed = leaf.dimensions.iter().product::<u64>() == leaf.len.max(1);
        match element {
            Some(element) if leaf.counter.is_none() && fixed => {
                members.push(Member::new(&leaf.name, element, &leaf.dimensions)?);
            }
            _ => return Err(format!("leaf {} of its leaf list has no fixed size", leaf.name)),
        }
    }
    EntryLayout::items(members)
}

impl Branch {
    /// Returns the Arrow type of the branch, or the reason why the branch cannot be read. A split branch is a
    /// record or a list of records. The type of other branches is the type of the contents of their baskets.
    ///
    /// # Errors
    /// Returns the reason as text.
    pub fn data_type(&self) -> Result<DataType, String> {
        match &self.split {
            Some(split) => split.data_type.clone(),
            None => EntryLayout::of(self).map(|layout| layout.data_type()),
        }
    }

    /// Returns the Arrow field of the branch.
    ///
    /// # Errors
    /// Returns the reason why the branch cannot be read, as text.
    pub fn arrow_field(&self, name: &str) -> Result<Field, String> {
        match (&self.split, &self.shape) {
            (None, Ok(Shape::Streamed(streamed))) if streamed.counter.is_none() => {
                Ok(streamed.layout.arrow_field(name))
            }
            _ => self.data_type().map(|data_type| nyssa_root::arrow::field(name, data_type)),
        }
    }

    /// Returns the C++ type of one entry: `float`, `std::int32_t[3]`, `float[nJet]`, `float[n][3]`, `char*`,
    /// `struct { double x; std::int32_t y; }`, `vector<float>`. Returns the class of the branch if it cannot
    /// be read.
    pub fn type_name(&self) -> String {
        if let Some(split) = &self.split {
            let collection = split.collection.as_ref().map(|(name, _)| name);
            return collection.unwrap_or(&split.class.name).clone();
        }
        let Ok(layout) = EntryLayout::of(self) else { return self.class.clone() };
        if let EntryKind::Streamed(streamed) = &layout.kind {
            let counter = streamed.counter.as_ref().map(|counter| format!("[{}]", counter.leaf));
            return format!("{}{}", streamed.type_name, counter.unwrap_or_default());
        }
        match layout.members.as_slice() {
            [member] => format!("{}{}", of_element(member.element), suffix(&layout, member)),
            members => {
                let members: Vec<String> = members
                    .iter()
                    .map(|m| format!("{} {}{};", of_element(m.element), m.name, suffix(&layout, m)))
                    .collect();
                format!("struct {{ {} }}", members.join(" "))
            }
        }
    }
}

fn suffix(layout: &EntryLayout, member: &Member) -> String {
    let counter = layout.counter().map(|counter| format!("[{}]", counter.leaf));
    let fixed = member.dimensions.iter().map(|size| format!("[{size}]"));
    counter.into_iter().chain(fixed).collect()
}

fn of_element(element: Element) -> &'static str {
    element.number().map_or("char*", Number::type_name)
}
