//! Writes a table: the part that both formats share.

use arrow_array::ArrayRef;
use arrow_schema::Field;
use nyssa_data::dataset::Format;
use nyssa_io::Sink;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use crate::guard::guarded;
use crate::metadata::{DESCRIPTION, OBJECT};
use crate::output::{SinkWrite, TableOptions, TableReport};
use crate::written::{Column, Written};
use crate::{ipc, parquet};

/// A table that is being written.
pub struct TableWriter {
    written: Written,
    file: Encoder,
    entries: u64,
}

enum Encoder {
    Parquet(Box<parquet::write::Writer>),
    Arrow(Box<ipc::write::Writer>),
}

impl TableWriter {
    /// Begins a table in `sink`.
    ///
    /// # Errors
    /// `Unsupported` for types and compressions that the format does not have.
    pub fn create(
        sink: Box<dyn Sink>,
        columns: &[Column],
        options: &TableOptions,
        context: &Context,
    ) -> Result<Self> {
        let about = [(OBJECT, &options.object), (DESCRIPTION, &options.description)];
        let about = about.into_iter().filter(|(_, text)| !text.is_empty());
        let metadata = about.map(|(key, text)| (key.to_owned(), text.clone()));
        let written = Written::new(columns, options.format, metadata)?;
        let (sink, schema) = (SinkWrite { sink, at: 0 }, &written.schema);
        let file = guarded(|| match options.format {
            Format::Parquet => {
                let writer = parquet::write::Writer::new(sink, schema, options, context)?;
                Ok(Encoder::Parquet(Box::new(writer)))
            }
            Format::Arrow => {
                Ok(Encoder::Arrow(Box::new(ipc::write::Writer::new(sink, schema, options)?)))
            }
            other => Err(Error::invalid_argument(format!("{other:?} is no format of tables"))),
        })?;
        Ok(Self { written, file, entries: 0 })
    }

    /// Returns the columns as the table shows them again: dates and times may have other units.
    pub fn shown_fields(&self) -> &[Field] {
        &self.written.kept
    }

    /// Returns arrays in the types of [`TableWriter::shown_fields`].
    ///
    /// # Errors
    /// `InvalidArgument` with the field whose dates or times Parquet cannot hold.
    pub fn fitted(&self, arrays: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        self.written.keep(arrays)
    }

    /// Appends rows: one array of the same length for each column, which [`TableWriter::fitted`] has returned.
    ///
    /// # Errors
    /// `InvalidArgument` with the field whose strings are not UTF-8; an error if the sink cannot be written.
    pub fn take(&mut self, arrays: Vec<ArrayRef>, rows: usize) -> Result<()> {
        let columns = self.written.arrays(&arrays)?;
        drop(arrays);
        guarded(|| match &mut self.file {
            Encoder::Parquet(file) => file.take(&columns),
            Encoder::Arrow(file) => file.take(columns, rows),
        })?;
        self.entries += rows as u64;
        Ok(())
    }

    /// Writes what is left, and commits the sink.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub fn finish(self) -> Result<TableReport> {
        let (sink, report) = guarded(|| match self.file {
            Encoder::Parquet(file) => file.finish(),
            Encoder::Arrow(file) => file.finish(),
        })?;
        let SinkWrite { sink, at } = sink;
        sink.commit()?;
        // Arrow IPC has no sizes of columns.
        let compressed_bytes =
            if report.compressed_bytes == 0 { at } else { report.compressed_bytes };
        Ok(TableReport { entries: self.entries, file_bytes: at, compressed_bytes, ..report })
    }
}
