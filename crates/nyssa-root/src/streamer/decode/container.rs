//! Decodes standard containers that are members.

use super::header::RAW;
use super::link::no_members;
use super::{Decoder, innermost};
use crate::error::{Error, Result};
use crate::streamer::column::ColumnBuilder;
use crate::streamer::node::Node;
use crate::streamer::wire::MEMBER_WISE;

impl Decoder<'_> {
    /// Decodes the containers of `count` objects, which have one version header.
    pub(super) fn container(
        &mut self,
        content: &Node,
        dimensions: Option<&[usize]>,
        column: &mut ColumnBuilder,
        count: usize,
    ) -> Result<()> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let around = self.around();
        let mut embedded = false;
        let class = if header.version & MEMBER_WISE == 0 {
            None
        } else {
            let version = self.cursor.be_u16()?;
            match items(content) {
                Some(Node::Object(class)) => Some((&**class, self.class_version(class, version)?)),
                Some(Node::Map(pair)) => {
                    Some((&pair.class, self.class_version(&pair.class, version)?))
                }
                Some(Node::Embedded(class)) => {
                    embedded = true;
                    let around = around.as_ref().and_then(|layout| layout.node.class(class));
                    let class = around.ok_or_else(|| no_members(class))?;
                    Some((class, self.class_version(class, version)?))
                }
                Some(Node::Unknown(_)) => {
                    // Empty containers of this class can be read.
                    if version.cast_signed() <= 0 {
                        self.cursor.skip(4)?;
                    }
                    None
                }
                _ => {
                    return Err(start.error("a container of no objects, member by member"));
                }
            }
        };
        if class.is_none() && dimensions.is_none() {
            self.many(content, column, count)?;
            return self.finish("container", &header, &start);
        }
        for _ in 0..count {
            let (column, arrays) = innermost(column, dimensions.unwrap_or(&[]))?;
            for _ in 0..arrays {
                match class {
                    None => self.node(content, column)?,
                    Some((class, version)) => {
                        let items = self.cursor.number_of(0)?;
                        self.push_list(column, |decoder, column| match embedded {
                            true => decoder.embedded_by_member(class, version, column, items),
                            false => decoder.many_by_member(class, version, column, items),
                        })?;
                    }
                }
            }
        }
        self.finish("container", &header, &start)
    }

    /// Refuses a container of objects that may be nested in any depth.
    pub(super) fn opaque(class: Option<&str>) -> Result<()> {
        let items = class.unwrap_or("several classes");
        Err(Error::unsupported(format!(
            "objects of {items} hold objects of their own class in any depth, which no type of a column has; {RAW}"
        )))
    }
}

/// Returns the node of the items of a container, which for a map is the map itself.
fn items(content: &Node) -> Option<&Node> {
    match content {
        Node::Sequence(item) => Some(item),
        Node::Map(_) => Some(content),
        _ => None,
    }
}
