//! Encodes the members of one object, or each member of many objects in turn.

use std::ops::Range;

use super::source::Source;
use super::{Encoder, WIDENED, innermost, misfit, span};
use crate::error::{Error, Result, ResultExt};
use crate::streamer::node::{Class, Counted, Node, Step, Version};

/// The class version of `TStreamerInfo`, which ROOT writes in the headers of containers and arrays of objects.
pub(super) const STREAMER_INFO: u16 = 10;

/// The objects whose members are written together.
#[derive(Clone)]
pub(super) enum Rows {
    /// One object. All its members are written in turn.
    One(usize),
    /// Several objects, which are written member by member.
    Many(Range<usize>),
}

impl Rows {
    fn range(&self) -> Range<usize> {
        match self {
            Self::One(row) => *row..*row + 1,
            Self::Many(rows) => rows.clone(),
        }
    }
}

impl<'n> Encoder<'n> {
    /// Writes an object with its version header.
    pub(super) fn object(
        &mut self,
        class: &'n Class,
        source: &Source<'_>,
        row: usize,
    ) -> Result<()> {
        let start = self.begin();
        self.class_version(class)?;
        self.members(class, source, Rows::One(row))?;
        self.end(start)
    }

    /// Writes the version of a class, or its checksum if the version number is ambiguous. In ROOT, all classes
    /// without `ClassDef` have version 1.
    pub(super) fn class_version(&mut self, class: &Class) -> Result<()> {
        self.out.extend(version_bytes(class, newest(class)?)?);
        Ok(())
    }

    /// Writes the members of one object, or of many objects: the first member of all, then the second, ...
    pub(super) fn members(
        &mut self,
        class: &'n Class,
        source: &Source<'_>,
        rows: Rows,
    ) -> Result<()> {
        let Version { steps, conflict, .. } = newest(class)?;
        if let Some(member) = conflict {
            return Err(Error::unsupported(format!("{member} cannot be written")));
        }
        if let Some(step) = steps.iter().find(|step| step.widened.is_some()) {
            return Err(Error::unsupported(format!("{}: {WIDENED}", step.place)));
        }
        let Source::Record(members) = source else { return Err(misfit()) };
        self.stack.push(class);
        for step in steps {
            let member = step.target.and_then(|target| members.get(target)).ok_or_else(misfit)?;
            let written = match &step.node {
                Node::Counted(counted) => self.counted(counted, members, member, rows.range()),
                _ => self.member(step, member, rows.clone()),
            };
            written.in_field(&step.place)?;
        }
        self.stack.pop();
        Ok(())
    }

    /// Writes one member of one object or of many objects.
    fn member(&mut self, step: &'n Step, source: &Source<'_>, rows: Rows) -> Result<()> {
        let rows = match rows {
            Rows::One(row) => return self.node(&step.node, source, row),
            Rows::Many(rows) => rows,
        };
        match &step.node {
            // `TNamed` streams itself, like `TObject`.
            Node::Object(class) if step.base && &*class.name != "TNamed" => {
                self.members(class, source, Rows::Many(rows))
            }
            Node::Container(content, dimensions) => {
                self.container(content, dimensions.as_deref(), source, rows)
            }
            _ if let Some(item) = step.base_array() => self.base_arrays(item, source, rows),
            _ if step.is_own_base() => {
                Err(Error::unsupported("nyssa does not write this base class member by member"))
            }
            node => self.many(node, source, rows),
        }
    }

    /// Writes the base class `TArrayD`, or its like, of many objects: the lengths of all, then the numbers of each.
    fn base_arrays(
        &mut self,
        item: &'n Node,
        source: &Source<'_>,
        rows: Range<usize>,
    ) -> Result<()> {
        let Source::List { offsets, item: numbers } = source else { return Err(misfit()) };
        for row in rows.clone() {
            let count = span(offsets, row)?.len();
            self.count(count)?;
        }
        for row in rows {
            let numbers_of_row = span(offsets, row)?;
            self.out.push(u8::from(!numbers_of_row.is_empty()));
            self.many(item, numbers, numbers_of_row)?;
        }
        Ok(())
    }

    /// Writes the arrays behind a pointer of one object. The caller compares them with the branch of their length.
    pub(super) fn counted_alone(
        &mut self,
        counted: &'n Counted,
        source: &Source<'_>,
        row: usize,
    ) -> Result<()> {
        let (lists, arrays) = innermost(source, &counted.dimensions, row)?;
        let Source::List { offsets, item } = lists else { return Err(misfit()) };
        let spans = arrays.map(|array| span(offsets, array)).collect::<Result<Vec<_>>>()?;
        let start = counted.objects.then(|| self.begin());
        match start {
            Some(_) => self.u16(STREAMER_INFO),
            None => self.out.push(u8::from(!spans.iter().all(Range::is_empty))),
        }
        spans.into_iter().try_for_each(|items| self.many(&counted.item, item, items))?;
        start.map_or(Ok(()), |start| self.end(start))
    }

    /// Writes the arrays behind pointers with a counter.
    fn counted(
        &mut self,
        counted: &'n Counted,
        members: &[Source<'_>],
        source: &Source<'_>,
        rows: Range<usize>,
    ) -> Result<()> {
        let start = counted.objects.then(|| self.begin());
        if counted.objects {
            self.u16(STREAMER_INFO);
        }
        for row in rows {
            let (first, rest) = counted.counter.split_first().ok_or_else(misfit)?;
            let count = members.get(*first).and_then(|member| member.count(rest, row));
            let count = count.ok_or_else(|| {
                Error::invalid_argument(format!("the counter {} is negative", counted.name))
            })?;
            let (lists, arrays) = innermost(source, &counted.dimensions, row)?;
            let Source::List { offsets, item } = lists else { return Err(misfit()) };
            let spans = arrays.map(|array| span(offsets, array)).collect::<Result<Vec<_>>>()?;
            let null = spans.iter().all(Range::is_empty);
            let fits = spans.iter().all(|items| items.len() == count);
            if !fits && (counted.objects || counted.bare || !null) {
                return Err(Error::invalid_argument(format!(
                    "an array of {} items, of which the counter {} says that they are {count}",
                    spans.iter().map(Range::len).find(|&len| len != count).unwrap_or(0),
                    counted.name
                )));
            }
            // A byte before the numbers is zero for a null pointer, whatever the counter says.
            if !counted.objects && !counted.bare {
                self.out.push(u8::from(!null));
            }
            for items in spans {
                self.many(&counted.item, item, items)?;
            }
        }
        start.map_or(Ok(()), |start| self.end(start))
    }
}

/// Returns the bytes of a class version in a header.
pub(in crate::streamer) fn version_bytes(class: &Class, version: &Version) -> Result<Vec<u8>> {
    let Version { version, checksum, .. } = version;
    // No checksum follows the version of classes that `ClassDef` gives version 0.
    if *version == 0 && !class.fixed {
        return Ok(vec![0; 2]);
    }
    if *version <= 1 && *checksum != 0 && !class.is_t_object() {
        return Ok([&[0; 2][..], &checksum.to_be_bytes()].concat());
    }
    let version = u16::try_from((*version).max(1));
    let version = version.map_err(|_| Error::limit("a class version beyond 16 bits"))?;
    Ok(version.to_be_bytes().to_vec())
}

/// Returns the version of a class that is written.
fn newest(class: &Class) -> Result<&Version> {
    class.versions.first().ok_or_else(misfit)
}
