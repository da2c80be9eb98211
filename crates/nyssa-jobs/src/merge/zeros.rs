//! Makes pages of zeros for fields that an input lacks. They are read as zeros, empty collections and invalid variants.

use std::collections::HashMap;

use crate::heuristics::merge;
use nyssa_rntuple::encoding::Encoding;
use nyssa_rntuple::page;
use nyssa_rntuple::schema::{ColumnId, PageInfo};
use nyssa_rntuple::write::{RNTupleWriteOptions, Writer};
use nyssa_root::compression::Compressor;
use nyssa_root::error::{Error, Result, ResultExt};

/// The largest number of elements in a page of zeros.
const MAX_ELEMENTS: u64 = 1 << 16;

/// The maker of pages of zeros. Each kind of page is stored once.
pub(super) struct Zeros {
    compressor: Compressor,
    scratch: Vec<u8>,
    known: HashMap<(ColumnId, u64), PageInfo>,
    /// The number of pages that were stored.
    pub stored: u64,
}

impl Zeros {
    pub(super) fn new(options: &RNTupleWriteOptions) -> Result<Self> {
        let compressor = Compressor::new(options.compression)?;
        Ok(Self { compressor, scratch: Vec::new(), known: HashMap::new(), stored: 0 })
    }

    /// Returns pages with `elements` zeros for a column.
    ///
    /// # Errors
    /// `Unsupported` for columns whose encoding has no zero or is not known; an error if the sink cannot be written.
    pub(super) fn pages(
        &mut self,
        writer: &mut Writer,
        column: ColumnId,
        elements: u64,
    ) -> Result<Vec<PageInfo>> {
        let mut pages = Vec::new();
        let mut rest = elements;
        while rest > 0 {
            let count = rest.min(MAX_ELEMENTS);
            pages.push(self.page(writer, column, count)?);
            rest -= count;
        }
        Ok(pages)
    }

    fn page(&mut self, writer: &mut Writer, id: ColumnId, elements: u64) -> Result<PageInfo> {
        if let Some(&page) = self.known.get(&(id, elements)) {
            return Ok(page);
        }
        let schema = writer.schema();
        let column = schema.column(id);
        let path = schema.path(column.field);
        let encoding = column
            .column_type
            .ok_or_else(|| Error::unsupported("a column of an unknown type has no known zero"))
            .and_then(|column_type| Encoding::of(column_type, column.bits, column.value_range))
            .in_field(&path)?;
        let count = elements as usize;
        let zeros = vec![0; encoding.native_size() * count];
        let sealed = page::seal(&zeros, count, &encoding, &mut self.compressor, &mut self.scratch)
            .map_err(|error| {
                Error::unsupported(format!(
                    "entries without the field cannot read as zero: {}",
                    error.message()
                ))
            })
            .in_field(&path)?;
        let stored = writer.store_pages(vec![sealed])?;
        let page = *stored.first().ok_or_else(|| Error::invalid_argument("no page was stored"))?;
        self.stored += 1;
        if self.known.len() >= merge::ZERO_PAGES {
            self.known.clear();
        }
        self.known.insert((id, elements), page);
        Ok(page)
    }
}
