//! Makes the columns of fields that the rows of a cluster lack: zeros, empty collections, invalid variants.
//!
//! Fill contexts see new fields at different times. So a cluster without a field may come after clusters with it. Its columns
//! then need elements, since only the clusters before the first element of a column may lack it.

use nyssa_root::error::{Error, Result, ResultExt};

use super::{StoredColumn, Writer};
use crate::encoding::{Encoding, Native};
use crate::page::{self, SealedPage};
use crate::schema::{Column, ColumnId, Schema};
use crate::write::extension::slot;

/// The largest number of elements in a page of zeros.
const MAX_ELEMENTS: u64 = 1 << 16;

impl Writer {
    /// Puts columns of zeros into the open cluster, for all columns that are not in `given`.
    ///
    /// # Errors
    /// `LimitExceeded` for more elements than can be counted; an error if the sink cannot be written.
    pub(super) fn put_defaults(&mut self, entries: u64, given: &[ColumnId]) -> Result<()> {
        let first = self.schema.columns.iter().filter(|column| column.representation == 0);
        if first.count() == given.len() {
            return Ok(());
        }
        for id in (0u32..).map(ColumnId).take(self.schema.columns.len()) {
            if self.schema.column(id).representation == 0 && !given.contains(&id) {
                self.put_default(id, entries)?;
            }
        }
        Ok(())
    }

    fn put_default(&mut self, id: ColumnId, entries: u64) -> Result<()> {
        let path = self.schema.path(self.schema.column(id).field);
        let elements = elements_of(&self.schema, id, entries).in_field(&path)?;
        let encoding = encoding_of(self.schema.column(id)).in_field(&path)?;
        let whole = usize::try_from(elements / MAX_ELEMENTS).unwrap_or(usize::MAX);
        let mut pages = Vec::new();
        if whole > 0 {
            let page = self.zeros(&encoding, MAX_ELEMENTS)?;
            // With merging of equal pages, they are stored once.
            for _ in 0..whole {
                pages.append(&mut self.store_pages(vec![page.clone()])?);
            }
        }
        if elements % MAX_ELEMENTS > 0 {
            let page = self.zeros(&encoding, elements % MAX_ELEMENTS)?;
            pages.append(&mut self.store_pages(vec![page])?);
        }
        let is_index = encoding.column_type.native() == Native::Index;
        let compression = self.options.compression.setting();
        let last_offset = is_index.then_some(0);
        self.put_stored(StoredColumn { column: id, elements, last_offset, compression, pages })
    }

    fn zeros(&mut self, encoding: &Encoding, elements: u64) -> Result<SealedPage> {
        let count = elements as usize;
        let zeros = vec![0; encoding.native_size() * count];
        page::seal(&zeros, count, encoding, &mut self.compressor, &mut Vec::new())
    }

    /// Checks that the columns from `first` on can hold zeros.
    ///
    /// # Errors
    /// `Unsupported` with the field whose column type has no zero.
    pub(in crate::write) fn check_defaults(schema: &Schema, first: usize) -> Result<()> {
        for column in &schema.columns[first.min(schema.columns.len())..] {
            let encoding = encoding_of(column);
            let zero = encoding.and_then(|encoding| {
                encoding.encode(&vec![0; encoding.native_size()], 1, &mut Vec::new())
            });
            zero.map_err(|error| {
                Error::unsupported(format!(
                    "a field that is added while fill contexts write must be able to hold zero: {}",
                    error.message()
                ))
            })
            .in_field(&schema.path(column.field))?;
        }
        Ok(())
    }
}

/// Returns the number of elements of a column for entries that have only zeros and empty collections.
fn elements_of(schema: &Schema, id: ColumnId, entries: u64) -> Result<u64> {
    let first = slot(schema, id.0 as usize) == 0;
    let Some(repetitions) = schema.repetitions(schema.column(id).field).filter(|_| first) else {
        return Ok(0);
    };
    entries.checked_mul(repetitions).ok_or_else(|| {
        Error::limit(format!("{repetitions} values in each of {entries} entries cannot be counted"))
    })
}

fn encoding_of(column: &Column) -> Result<Encoding> {
    let column_type = column.column_type.ok_or_else(|| {
        Error::unsupported(format!("columns of type {:#x} cannot be written", column.type_code))
    })?;
    Encoding::of(column_type, column.bits, column.value_range)
}
