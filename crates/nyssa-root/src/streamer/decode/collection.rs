//! Decodes ROOT's own collections.

use super::Decoder;
use super::header::unknown_version;
use super::pointer::objects;
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::column::{ColumnBuilder, mismatch};
use crate::streamer::node::{Collection, Node, Pointer, PointerForm};
use crate::streamer::number;
use crate::streamer::wire::{self, BYPASS_STREAMER};

impl Decoder<'_> {
    /// Decodes a collection with its items.
    pub(super) fn collection(
        &mut self,
        kind: Collection,
        items: &Pointer,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let ColumnBuilder::Record { len, members } = column else { return Err(mismatch()) };
        let version = header.version;
        let (object, rest) = members.split_first_mut().ok_or_else(mismatch)?;
        let bits = if version > 2 {
            self.t_object(object)?
        } else {
            object.push_default();
            0
        };
        let (name, rest) = rest.split_first_mut().ok_or_else(mismatch)?;
        if kind == Collection::Linked {
            // The name comes after the items.
        } else if version > 1 {
            self.text(name)?;
        } else {
            name.push_bytes(&[]);
        }
        match (kind, rest) {
            (Collection::List, [list, options]) => {
                let count = self.cursor.number_of(4)?;
                self.push_list(list, |decoder, column| {
                    decoder.push_list(options, |decoder, options| {
                        (0..count).try_for_each(|_| {
                            decoder.pointer(items, column)?;
                            options.push_bytes(wire::list_option(&mut decoder.cursor, version)?);
                            Ok(())
                        })
                    })
                })?;
            }
            (Collection::Plain | Collection::Linked, [list]) => {
                let count = self.cursor.number_of(4)?;
                self.push_list(list, |decoder, column| {
                    (0..count).try_for_each(|_| decoder.pointer(items, column))
                })?;
                match kind {
                    Collection::Linked if version > 1 => self.text(name)?,
                    Collection::Linked => name.push_bytes(&[]),
                    _ => {}
                }
            }
            (Collection::Map, [list]) => {
                let count = self.cursor.number_of(8)?;
                self.push_list(list, |decoder, pairs| {
                    let ColumnBuilder::Record { len, members } = pairs else {
                        return Err(mismatch());
                    };
                    let [key, value] = members.as_mut_slice() else { return Err(mismatch()) };
                    for _ in 0..count {
                        decoder.pointer(items, key)?;
                        decoder.pointer(items, value)?;
                        *len += 1;
                    }
                    Ok(())
                })?;
            }
            (Collection::Array, [lower, list]) => {
                let count = self.cursor.number_of(4)?;
                number::read(Basic::Plain(Number::Int32), &mut self.cursor, 1, lower)?;
                self.push_list(list, |decoder, column| {
                    (0..count).try_for_each(|_| decoder.pointer(items, column))
                })?;
            }
            (Collection::Clones, [lower, list]) => {
                self.clones(items, lower, list, bits, header.end)?;
            }
            _ => return Err(mismatch()),
        }
        *len += 1;
        self.finish(&items.declared, &header, &start)
    }

    /// Decodes a `TClonesArray` after its name.
    fn clones(
        &mut self,
        items: &Pointer,
        lower: &mut ColumnBuilder,
        list: &mut ColumnBuilder,
        bits: u32,
        end: Option<usize>,
    ) -> Result<()> {
        let class_version = self.cursor.root_string()?;
        let count = self.cursor.be_i32()?.unsigned_abs() as usize;
        number::read(Basic::Plain(Number::Int32), &mut self.cursor, 1, lower)?;
        let (class, version) = class_version.split_once(';').unwrap_or((&class_version, ""));
        if count == 0 {
            self.push_list(list, |_, _| Ok(()))?;
            // If there are no items, the headers of their containers are still in the file.
            return end.map_or(Ok(()), |end| self.cursor.seek(end));
        }
        if items.form == PointerForm::Link {
            let version = version.parse().unwrap_or(0);
            return self.push_list(list, |decoder, column| {
                decoder.link_clones((class, version), (count, bits), end, column)
            });
        }
        let known = items.classes.iter().position(|(name, _)| name == class);
        let known = known.and_then(|index| Some((index, &items.classes.get(index)?.1)));
        let Some((index, Node::Object(class))) = known else {
            return Err(Error::unsupported(format!(
                "a TClonesArray of {class}, which is not read here"
            )));
        };
        let version = version.parse().ok().and_then(|version| class.version(version));
        let version = version.ok_or_else(|| unknown_version(class, &class_version))?;
        self.push_list(list, |decoder, column| {
            let left = decoder.cursor.remaining().len();
            if count > left {
                return Err(decoder.cursor.error(format!("{count} items in {left} bytes")));
            }
            if bits & BYPASS_STREAMER != 0 {
                let target = objects(items, column, index, count)?;
                return decoder.many_by_member(class, version, target, count);
            }
            (0..count).try_for_each(|_| match decoder.cursor.u8()? {
                0 => decoder.push_defaults(column, 1),
                _ => {
                    let target = objects(items, column, index, 1)?;
                    decoder.object(class, target)
                }
            })
        })
    }
}
