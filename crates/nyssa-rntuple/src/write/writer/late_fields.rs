//! Adds fields to an RNTuple that is filled by rows, and describes the classes of new streamer fields.

use nyssa_root::error::Result;
use nyssa_root::streamer::StreamerList;

use super::Writer;
use crate::choose::set_requested_types;
use crate::format::ExtraType;
use crate::schema::{Schema, SchemaBuilder};
use crate::write::classes;

impl Writer {
    /// Extends the schema as [`Writer::extend_schema`] does, with the column types that the options request, and describes the
    /// classes of new streamer fields. `check` gets the new schema, and the index of the first new column.
    pub(in crate::write) fn extend_for_rows<T>(
        &mut self,
        extend: impl FnOnce(&mut SchemaBuilder) -> Result<T>,
        check: impl FnOnce(&Schema, usize) -> Result<()>,
    ) -> Result<T> {
        let (fields, compression) = (self.options.fields.clone(), self.options.compression);
        let (first, known) = (self.schema.columns.len(), self.schema.fields.len());
        let (entries, mut infos) = (self.report.entries, self.options.streamer_infos.clone());
        let (value, extra) = self.extend_schema(|builder| {
            let value = extend(builder)?;
            set_requested_types(builder.schema_mut(), &fields, compression, first)?;
            check(builder.schema(), first)?;
            infos.merge(builder.streamer_infos());
            let extra = classes::describe_late(builder.schema_mut(), known, &infos, entries)?;
            Ok((value, extra))
        })?;
        self.add_extra_type(extra, &infos)?;
        Ok(value)
    }

    /// Adds the description of the classes of new streamer fields: to the header, or, if this is written, to the footer.
    pub(super) fn add_extra_type(
        &mut self,
        extra: Option<ExtraType>,
        infos: &StreamerList,
    ) -> Result<()> {
        let Some(extra) = extra else { return Ok(()) };
        match self.header {
            None => self.extra_types.push(extra),
            Some(_) => self.late_types.push(extra),
        }
        self.file.add_streamer_infos(infos)
    }
}
