//! Reads objects as bytes, and finds the references in them.

use super::Decoder;
use crate::error::Result;
use crate::streamer::EntryForm;
use crate::streamer::column::ColumnBuilder;
use crate::streamer::node::RawObject;
use crate::streamer::reference_places::ReferencePlaces;
use crate::streamer::standalone::standalone;

impl Decoder<'_> {
    /// Appends the bytes of an entry as if the entry were alone in its buffer.
    pub(super) fn raw_object(&mut self, raw: &RawObject, column: &mut ColumnBuilder) -> Result<()> {
        let (start, bytes) = (self.cursor.position(), self.cursor.remaining());
        let origin = self.origin.saturating_add(start);
        let form = match &raw.members {
            Some((_, layout)) => EntryForm::Value { layout, items: None, lengths: None },
            None => EntryForm::Object(&raw.class),
        };
        let places = match raw.finder.places(form, bytes, origin) {
            Ok((places, processes)) => {
                for at in processes.places {
                    self.processes.iter_mut().for_each(|places| places.add(start + at));
                }
                if processes.hidden {
                    self.hides_processes();
                }
                places
            }
            Err(error) => {
                self.hides_processes();
                let unknown = vec![(0..bytes.len(), error.message().to_owned())];
                ReferencePlaces { references: Vec::new(), unknown }
            }
        };
        self.cursor.skip(bytes.len())?;
        let version = raw.members.as_ref().map(|(version, _)| &version[..]);
        column.push_bytes(&standalone(bytes, origin, version, &places)?);
        Ok(())
    }
}
