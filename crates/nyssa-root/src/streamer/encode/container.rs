//! Encodes standard containers that are members.

use std::ops::Range;

use super::members::{Rows, STREAMER_INFO};
use super::source::Source;
use super::{Encoder, innermost, misfit, span, text};
use crate::error::{Error, Result};
use crate::streamer::node::{Class, Node};
use crate::streamer::wire::MEMBER_WISE;

/// The size of a container without items in bytes: a version header and a count.
const EMPTY: usize = 4 + 2 + 4;

impl<'n> Encoder<'n> {
    /// Writes the containers of the objects in `rows` after one version header.
    pub(super) fn container(
        &mut self,
        content: &'n Node,
        dimensions: Option<&[usize]>,
        source: &Source<'_>,
        rows: Range<usize>,
    ) -> Result<()> {
        let start = self.begin();
        let class = by_member(content);
        match class {
            Some(class) => {
                self.u16(STREAMER_INFO | MEMBER_WISE);
                self.class_version(class)?;
            }
            None => self.u16(STREAMER_INFO),
        }
        for row in rows {
            let (source, arrays) = innermost(source, dimensions.unwrap_or(&[]), row)?;
            for array in arrays {
                match (class, source) {
                    (None, _) => self.node(content, source, array)?,
                    (Some(class), Source::List { offsets, item }) => {
                        let items = span(offsets, array)?;
                        self.count(items.len())?;
                        // If there are no items, the headers of their containers are not written either.
                        if !items.is_empty() {
                            self.members(class, item, Rows::Many(items))?;
                        }
                    }
                    _ => return Err(misfit()),
                }
            }
        }
        self.end(start)
    }

    /// Writes a container that was read as bytes with its header, because its class contains itself.
    pub(super) fn opaque(
        &mut self,
        class: Option<&str>,
        source: &Source<'_>,
        row: usize,
    ) -> Result<()> {
        let bytes = text(source, row)?;
        let around = self.stack.iter().find(|around| Some(&*around.name) == class);
        // Bytes without the mark of a new class have no references.
        let alone = self.stack.is_empty() && !bytes.windows(4).any(|four| four == [0xFF; 4]);
        // References are counted from the start of the object, which differs here.
        if !alone && bytes.len() > EMPTY && around.is_none_or(|around| around.has_pointers()) {
            return Err(Error::unsupported(format!(
                "objects of class {} within one another may refer to each other, which nyssa cannot \
                 write",
                class.unwrap_or("several classes")
            )));
        }
        if bytes.len() < EMPTY {
            return Err(Error::invalid_argument("a container without its header"));
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }
}

/// Returns the class of the items of a container, or of the pairs of a map, if they are written member by
/// member.
fn by_member(content: &Node) -> Option<&Class> {
    let class = match content {
        Node::Sequence(item) => match &**item {
            Node::Object(class) => class,
            _ => return None,
        },
        Node::Map(pair) => &pair.class,
        _ => return None,
    };
    class.splits().then_some(class)
}
