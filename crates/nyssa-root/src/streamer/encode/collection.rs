//! Encodes ROOT's own collections.

use std::ops::Range;

use super::members::Rows;
use super::source::Source;
use super::{Encoder, misfit, number, span, text};
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::node::{Class, Collection, Node, Pointer};
use crate::streamer::wire::BYPASS_STREAMER;

/// The class that is written for an array without items if its name does not contain the class.
const ANY: &str = "TObject;1";

impl Collection {
    /// Returns the class version.
    fn version(self) -> u16 {
        match self {
            Self::Array | Self::Map | Self::Plain | Self::Linked => 3,
            Self::List => 5,
            Self::Clones => 4,
        }
    }
}

impl<'n> Encoder<'n> {
    /// Writes a collection with its items.
    pub(super) fn collection(
        &mut self,
        kind: Collection,
        items: &'n Pointer,
        source: &Source<'_>,
        row: usize,
    ) -> Result<()> {
        if let (Collection::Clones, Source::Clones { offsets, class, item }) = (kind, source) {
            return self.split_clones(items, *class, item, span(offsets, row)?);
        }
        if matches!(kind, Collection::Plain | Collection::Linked) {
            return Err(Error::unsupported(format!("nyssa does not write a {}", items.declared)));
        }
        let Source::Record(members) = source else { return Err(misfit()) };
        let [object, name, rest @ ..] = members.as_slice() else { return Err(misfit()) };
        let start = self.begin();
        self.u16(kind.version());
        let bits = self.t_object(object, row)?;
        let name = text(name, row)?;
        self.text(name)?;
        let (lower, list, options) = match rest {
            [list] => (None, list, None),
            [Source::Number(lower), list] => (Some(lower), list, None),
            [list, Source::List { offsets, item }] => (None, list, Some((offsets, item))),
            _ => return Err(misfit()),
        };
        let Source::List { offsets, item } = list else { return Err(misfit()) };
        let rows = span(offsets, row)?;
        let class = match kind {
            Collection::Clones => self.clones_class(items, item, rows.clone(), name)?,
            _ => None,
        };
        self.count(rows.len())?;
        if let Some(lower) = lower {
            number::write(Basic::Plain(Number::Int32), lower, row..row + 1, &mut self.out)?;
        }
        match (kind, &**item) {
            (Collection::Array, item) => {
                rows.into_iter().try_for_each(|row| self.pointer(items, item, row))?;
            }
            (Collection::List, item) => {
                let (offsets, options) = options.ok_or_else(misfit)?;
                let given = span(offsets, row)?;
                if given.len() != rows.len() {
                    return Err(Error::invalid_argument(format!(
                        "a list of {} items with {} options",
                        rows.len(),
                        given.len()
                    )));
                }
                for (row, option) in rows.zip(given) {
                    self.pointer(items, item, row)?;
                    self.text(text(options, option)?)?;
                }
            }
            (Collection::Map, Source::Record(pair)) => {
                let [keys, values] = pair.as_slice() else { return Err(misfit()) };
                for row in rows {
                    self.pointer(items, keys, row)?;
                    self.pointer(items, values, row)?;
                }
            }
            (Collection::Clones, item) => {
                match class {
                    Some((class, index)) => self.clones(class, index, item, rows, bits)?,
                    // All items are null pointers.
                    None => self.out.extend(rows.map(|_| 0)),
                }
            }
            _ => return Err(misfit()),
        }
        self.end(start)
    }

    /// Writes a `TClonesArray` of which only the items are known. All other members have the values of a new
    /// array.
    fn split_clones(
        &mut self,
        items: &'n Pointer,
        class: usize,
        source: &Source<'_>,
        rows: Range<usize>,
    ) -> Result<()> {
        let Some((name, Node::Object(class))) = items.classes.get(class) else {
            return Err(misfit());
        };
        let start = self.begin();
        self.u16(Collection::Clones.version());
        self.new_t_object(BYPASS_STREAMER);
        self.text(format!("{name}s").as_bytes())?;
        self.clones_name(name, class)?;
        self.count(rows.len())?;
        self.count(0)?;
        self.members(class, source, Rows::Many(rows))?;
        self.end(start)
    }

    /// Returns the class and version.
    fn clones_name(&mut self, name: &str, class: &Class) -> Result<()> {
        let version = class.versions.first().map_or(1, |version| version.version);
        self.text(format!("{name};{version}").as_bytes())
    }

    /// Writes the class of the items of a `TClonesArray`. If there are items, returns the class and its number.
    fn clones_class(
        &mut self,
        items: &'n Pointer,
        source: &Source<'_>,
        rows: Range<usize>,
        name: &[u8],
    ) -> Result<Option<(&'n Class, usize)>> {
        let Source::Union { ids, .. } = source else {
            self.text(ANY.as_bytes())?;
            return if matches!(source, Source::Nothing) { Ok(None) } else { Err(misfit()) };
        };
        let ids = ids.get(rows).ok_or_else(misfit)?;
        let first = ids.iter().find(|&&id| id > 0);
        let index = match first {
            Some(&id) => usize::try_from(id - 1).ok(),
            // By default, arrays have the name of their class.
            None => items.classes.iter().position(|(class, _)| {
                name.strip_suffix(b"s").is_some_and(|name| name == class.as_bytes())
            }),
        };
        let class = index.and_then(|index| Some((index, items.classes.get(index)?)));
        match class {
            Some((index, (name, Node::Object(class)))) => {
                self.clones_name(name, class)?;
                Ok(Some((class, index)))
            }
            None if first.is_none() => {
                self.text(ANY.as_bytes())?;
                Ok(None)
            }
            _ => Err(Error::unsupported("a TClonesArray of a class that nyssa does not decode")),
        }
    }

    /// Writes the items of a `TClonesArray`.
    fn clones(
        &mut self,
        class: &'n Class,
        index: usize,
        source: &Source<'_>,
        rows: Range<usize>,
        bits: u32,
    ) -> Result<()> {
        let Source::Union { ids, offsets, children } = source else { return Err(misfit()) };
        let (ids, offsets) =
            ids.get(rows.clone()).zip(offsets.get(rows.clone())).ok_or_else(misfit)?;
        let child = children.get(index).ok_or_else(misfit)?;
        let mixed = || Error::invalid_argument("a TClonesArray with objects of several classes");
        let place = |offset: i32| usize::try_from(offset).map_err(|_| misfit());
        if bits & BYPASS_STREAMER == 0 {
            for (&id, &offset) in ids.iter().zip(offsets) {
                match usize::try_from(id) {
                    Ok(0) => self.out.push(0),
                    Ok(id) if id == index + 1 => {
                        self.out.push(1);
                        self.object(class, child, place(offset)?)?;
                    }
                    _ => return Err(mixed()),
                }
            }
            return Ok(());
        }
        // If there are no items, the headers of their containers are still written.
        let first = offsets.first().copied().unwrap_or(0);
        // Items of one class lie one after the other.
        let follows = (first..).zip(offsets).all(|(place, &offset)| place == offset);
        if ids.iter().any(|&id| usize::try_from(id) != Ok(index + 1)) {
            return Err(mixed());
        }
        if !follows {
            return Err(Error::unsupported("the items of a TClonesArray in another order"));
        }
        let first = place(first)?;
        self.members(class, child, Rows::Many(first..first + rows.len()))
    }
}
