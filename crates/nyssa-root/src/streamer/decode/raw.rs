//! Reads objects as bytes, and finds the references in them.

use super::Decoder;
use crate::error::Result;
use crate::streamer::column::ColumnBuilder;
use crate::streamer::node::RawObject;
use crate::streamer::reference_places::ReferencePlaces;
use crate::streamer::standalone::standalone;

impl Decoder<'_> {
    /// Appends the bytes of an entry as if the entry were alone in its buffer.
    pub(super) fn raw_object(&mut self, raw: &RawObject, column: &mut ColumnBuilder) -> Result<()> {
        let (start, bytes) = (self.cursor.position(), self.cursor.remaining());
        let origin = self.origin.saturating_add(start);
        let places = match raw.references.places(bytes, origin) {
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
        column.push_bytes(&standalone(bytes, origin, raw.version.as_deref(), &places)?);
        Ok(())
    }
}
