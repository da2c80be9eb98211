//! Decodes the members of one object, or each member of many objects in turn.

use super::link::no_members;
use super::{Decoder, innermost};
use crate::error::{Error, Result, ResultExt};
use crate::streamer::column::{ColumnBuilder, mismatch};
use crate::streamer::node::{Class, Counted, Node, Step, Version};

/// The largest number of items in a container if the items have no members. Such items take no bytes, so the
/// size of the file does not limit their number.
const MAX_EMPTY: usize = 1 << 20;

/// The objects whose members are read together.
#[derive(Clone, Copy)]
pub(super) enum Rows {
    /// One object. All its members are read in turn.
    One,
    /// This number of objects, member by member.
    Many(usize),
}

impl Rows {
    fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Many(count) => count,
        }
    }
}

impl Decoder<'_> {
    /// Decodes an object with its version header.
    pub(super) fn object(&mut self, class: &Class, column: &mut ColumnBuilder) -> Result<()> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let version = if header.end.is_none() && self.headless(class) {
            self.cursor = start.clone();
            class.versions.first().ok_or_else(mismatch)?
        } else {
            self.object_version(class, &header)?
        };
        self.members(class, version, column, Rows::One)?;
        self.finish(&class.name, &header, &start)
    }

    /// Decodes the members of one object, or of many objects: the first member of all, then the second, ...
    pub(super) fn members(
        &mut self,
        class: &Class,
        version: &Version,
        column: &mut ColumnBuilder,
        rows: Rows,
    ) -> Result<()> {
        if let Some(member) = &version.conflict {
            self.unshaped(class, version.version, version.checksum);
            return Err(Error::unsupported(format!(
                "{member} has another type in version {} of {} than in the others",
                version.version, class.name
            )));
        }
        let ColumnBuilder::Record { len, members } = column else { return Err(mismatch()) };
        let first = *len;
        let count = rows.count();
        for step in &version.steps {
            let own = step.widened.as_ref().map(|_| ColumnBuilder::new(&step.node.shape()));
            let place = step.target.and_then(|target| members.get_mut(target));
            let wide = place.zip(own).map(|(place, own)| std::mem::replace(place, own));
            let read = match (&step.node, step.target) {
                (Node::Counted(counted), Some(target)) => {
                    self.counted(counted, members, target, first..first + count)
                }
                (_, Some(target)) => match members.get_mut(target) {
                    Some(member) => self.member(step, member, rows),
                    None => Err(mismatch()),
                },
                // The shape does not have this member. It is read only to find the next member.
                (_, None) => self.member(step, &mut ColumnBuilder::new(&step.node.shape()), rows),
            };
            read.in_field(&step.place)?;
            let place = step.target.and_then(|target| members.get_mut(target));
            if let Some((place, wide)) = place.zip(wide) {
                let own = std::mem::replace(place, wide);
                place.append(&own)?;
            }
        }
        for &missing in &version.missing {
            if let Some(member) = members.get_mut(missing) {
                self.push_defaults(member, count)?;
            }
        }
        *len += count;
        Ok(())
    }

    /// Decodes one member of one object or of many objects.
    fn member(&mut self, step: &Step, column: &mut ColumnBuilder, rows: Rows) -> Result<()> {
        match (rows, &step.node) {
            // `TNamed` streams itself, like `TObject`.
            (Rows::Many(_), Node::Object(class)) if step.base && &*class.name != "TNamed" => {
                let version = class.version(step.base_version).or(class.versions.first());
                let version = version.ok_or_else(mismatch)?;
                self.members(class, version, column, rows)
            }
            (Rows::Many(count), Node::Opaque(_)) if count > 1 => Err(Error::unsupported(format!(
                "the objects of class {} in it are streamed member by member",
                step.place.rsplit_once("::").map_or("", |(class, _)| class)
            ))),
            (Rows::Many(count), _) if let Some(item) = step.base_array() => {
                self.base_arrays(item, column, count)
            }
            (Rows::Many(_), _) if step.is_own_base() => Err(no_members(&step.place)),
            (rows, node) => self.value(node, column, rows),
        }
    }

    /// Decodes the base class `TArrayD`, or its like, of many objects: the lengths of all, then the numbers of each
    /// after a byte, which is zero for an empty array.
    fn base_arrays(&mut self, item: &Node, column: &mut ColumnBuilder, count: usize) -> Result<()> {
        let lengths: Vec<usize> =
            (0..count).map(|_| self.cursor.number_of(0)).collect::<Result<_>>()?;
        for length in lengths {
            let length = if self.cursor.u8()? == 0 { 0 } else { length };
            self.push_list(column, |decoder, items| decoder.many(item, items, length))?;
        }
        Ok(())
    }

    /// Decodes a member that is not a base class, of one object or of many objects in turn.
    pub(super) fn value(
        &mut self,
        node: &Node,
        column: &mut ColumnBuilder,
        rows: Rows,
    ) -> Result<()> {
        match (rows, node) {
            (Rows::One, node) => self.node(node, column),
            (Rows::Many(count), Node::Container(content, dimensions)) => {
                self.container(content, dimensions.as_deref(), column, count)
            }
            (Rows::Many(count), node) => self.many(node, column, count),
        }
    }

    /// Decodes arrays with a counter that take all bytes of an entry. The number of bytes gives the length of
    /// an array of numbers. For other arrays another branch gives it.
    pub(super) fn counted_entry(
        &mut self,
        counted: &Counted,
        column: &mut ColumnBuilder,
        rows: Rows,
        lengths: &mut Option<&[usize]>,
    ) -> Result<()> {
        let start = self.cursor.clone();
        let header = if counted.objects { Some(self.cursor.version_header()?) } else { None };
        for _ in 0..rows.count() {
            let null = !counted.objects && self.cursor.u8()? == 0;
            let known = match lengths {
                Some(lengths) => {
                    let (first, rest) = lengths.split_first().ok_or_else(mismatch)?;
                    *lengths = rest;
                    Some(*first)
                }
                None => None,
            };
            let (lists, arrays) = innermost(column, &counted.dimensions)?;
            let count = match (&*counted.item, rows, known) {
                _ if null => 0,
                (Node::Number(basic), Rows::One, _) if arrays > 0 => {
                    self.cursor.remaining().len() / basic.size() / arrays
                }
                (.., Some(known)) => known,
                _ => return Err(Error::unsupported("the branch with its lengths cannot be read")),
            };
            self.arrays(&counted.item, lists, (arrays, count))?;
        }
        header.map_or(Ok(()), |header| self.finish("array", &header, &start))
    }

    /// Decodes the arrays behind pointers with a counter, for the objects in `rows`.
    fn counted(
        &mut self,
        counted: &Counted,
        members: &mut [ColumnBuilder],
        target: usize,
        rows: std::ops::Range<usize>,
    ) -> Result<()> {
        let start = self.cursor.clone();
        let header = if counted.objects { Some(self.cursor.version_header()?) } else { None };
        for row in rows {
            let count = counted
                .counter
                .split_first()
                .and_then(|(first, rest)| members.get(*first)?.count(rest, row))
                .and_then(|count| usize::try_from(count).ok())
                .ok_or_else(|| self.cursor.error("the counter of an array is negative"))?;
            // A byte before the numbers is zero for a null pointer, whatever the counter says.
            let null = !counted.objects && !counted.bare && self.cursor.u8()? == 0;
            let count = if null { 0 } else { count };
            let column = members.get_mut(target).ok_or_else(mismatch)?;
            let (lists, arrays) = innermost(column, &counted.dimensions)?;
            self.arrays(&counted.item, lists, (arrays, count))?;
        }
        header.map_or(Ok(()), |header| self.finish("array", &header, &start))
    }

    /// Decodes items that are streamed member by member.
    pub(super) fn many_by_member(
        &mut self,
        class: &Class,
        version: &Version,
        column: &mut ColumnBuilder,
        count: usize,
    ) -> Result<()> {
        let left = self.cursor.remaining().len();
        if count > left && !(version.is_empty() && count <= MAX_EMPTY) {
            return Err(self.cursor.error(format!("{count} items in {left} bytes")));
        }
        // If there are no items, the headers of their containers are not in the file either.
        if count == 0 {
            return Ok(());
        }
        self.members(class, version, column, Rows::Many(count))
    }
}
