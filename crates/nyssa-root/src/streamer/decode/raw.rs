//! Finds the references in objects that are read as bytes.

use std::ops::Range;

use super::Decoder;
use crate::error::{Error, Result};
use crate::streamer::column::ColumnBuilder;
use crate::streamer::node::RawObject;
use crate::streamer::reference_places::ReferencePlaces;
use crate::streamer::standalone::standalone;

impl Decoder<'_> {
    /// Appends the bytes of an entry as if the entry were alone in its buffer.
    pub(super) fn raw_object(&mut self, raw: &RawObject, column: &mut ColumnBuilder) -> Result<()> {
        let start = self.cursor.clone();
        let bytes = start.remaining();
        self.marks = Some(ReferencePlaces::default());
        let walked = self.walk(raw);
        let marks = self.marks.take().filter(|_| walked.is_ok());
        if marks.as_ref().is_none_or(|marks| !marks.unknown.is_empty()) {
            self.hides_processes();
        }
        self.cursor = start;
        self.cursor.skip(bytes.len())?;
        let version = raw.version.as_deref();
        column.push_bytes(&standalone(bytes, self.origin, version, marks.as_ref())?);
        Ok(())
    }

    /// Adds the places of references to `marks`.
    fn walk(&mut self, raw: &RawObject) -> Result<()> {
        self.node(&raw.layout.node, &mut ColumnBuilder::new(&raw.layout.shape))?;
        if !self.cursor.remaining().is_empty() {
            return Err(self.cursor.error("bytes after the object"));
        }
        while let Some((class, range)) = self.marks.as_mut().and_then(|marks| marks.pending.pop()) {
            let outer = self.marks.replace(ReferencePlaces::default());
            let walked = self.walk_inner(raw, &class, &range);
            let inner = std::mem::replace(&mut self.marks, outer);
            let (Some(marks), Some(inner)) = (&mut self.marks, inner) else { continue };
            match walked {
                Ok(()) => {
                    marks.references.extend(inner.references);
                    marks.objects.extend(inner.objects);
                    marks.unknown.extend(inner.unknown);
                    marks.pending.extend(inner.pending);
                }
                Err(_) => marks.unknown.push(range),
            }
        }
        Ok(())
    }

    /// Adds the places in an object of one of the classes in the node.
    fn walk_inner(&mut self, raw: &RawObject, class: &str, range: &Range<usize>) -> Result<()> {
        let class = raw.layout.node.class(class).ok_or_else(|| {
            Error::unsupported(format!("nyssa does not know the layout of the class {class}"))
        })?;
        self.cursor.seek(range.start)?;
        self.object(class, &mut ColumnBuilder::new(&class.shape()))?;
        match self.cursor.position() == range.end {
            true => Ok(()),
            false => Err(self.cursor.error("bytes after the object")),
        }
    }
}
