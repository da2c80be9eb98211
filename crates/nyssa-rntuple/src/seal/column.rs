//! Seals the elements of columns: cuts them into pages, and seals each page with the settings of its column.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::OffsetBuffer;
use nyssa_observe::{Stage, stage};
use nyssa_root::arrow::lists::Offsets;
use nyssa_root::compression::Codec;
use nyssa_root::error::{Error, Result, ResultExt};

use super::column_data::ColumnData;
use super::scratch::Scratch;
use super::settings::{ColumnSettings, PlaneRun, SealSettings};
use super::shred::{Shred, shred, shred_offsets};
use crate::encoding::{ColumnType, Encoding};
use crate::heuristics::seal;
use crate::page::{self, SealedColumn, SealedPage};
use crate::schema::{Column, ColumnId, FieldId, Schema};

/// The maximum number of elements of a page. The page list has 31 bits for it.
const MAX_PAGE_ELEMENTS: usize = i32::MAX as usize;

/// Seals the columns of `field` and its subfields. `array` has the rows of one cluster, or the items of one cluster
/// for a field inside a collection. A projected field has no columns of its own, so it returns none.
///
/// This is a pure function on one thread. The result depends only on the arguments.
///
/// # Errors
/// `InvalidArgument` when the array does not have the structure of the field, has nulls although the field is
/// not optional, or has values that do not fit; `Unsupported` for unknown columns.
pub fn seal_field(
    schema: &Schema,
    field: FieldId,
    array: &ArrayRef,
    settings: &SealSettings,
    scratch: &mut Scratch,
) -> Result<Vec<SealedColumn>> {
    let columns = columns(schema, field, array, settings)?;
    columns.iter().map(|(plan, data)| plan.seal_all(data, scratch)).collect()
}

/// Seals only the index column of a collection, from the offsets of the rows of one cluster. The offsets may
/// start at any number.
///
/// # Errors
/// `InvalidArgument` when the field has no index column.
pub fn seal_offsets(
    schema: &Schema,
    field: FieldId,
    offsets: &OffsetBuffer<i64>,
    settings: &SealSettings,
    scratch: &mut Scratch,
) -> Result<SealedColumn> {
    let offsets = Offsets::Large(offsets.inner().clone()).checked(usize::MAX)?;
    let (plan, data) = planned(schema, shred_offsets(schema, field, offsets, settings)?, settings)?;
    plan.seal_all(&data, scratch)
}

/// Returns the columns of `field` and its subfields: the plan for sealing each of them, and its elements in `array`.
///
/// # Errors
/// `InvalidArgument` when an array does not fit its field; `Unsupported` for unknown columns.
pub(crate) fn columns<'a>(
    schema: &'a Schema,
    field: FieldId,
    array: &ArrayRef,
    settings: &'a SealSettings,
) -> Result<Vec<(ColumnPlan<'a>, ColumnData)>> {
    let shreds = shred(schema, field, array, settings)?.into_iter();
    shreds.map(|shred| planned(schema, shred, settings)).collect()
}

fn planned<'a>(
    schema: &'a Schema,
    shred: Shred,
    settings: &'a SealSettings,
) -> Result<(ColumnPlan<'a>, ColumnData)> {
    let plan = ColumnPlan::new(schema, shred.column, settings)?;
    let data = ColumnData::from(shred.elements);
    plan.check(&data)?;
    Ok((plan, data))
}

/// The plan for sealing one column.
pub(crate) struct ColumnPlan<'a> {
    schema: &'a Schema,
    column: ColumnId,
    encoding: Encoding,
    settings: &'a ColumnSettings,
    /// Another column type for the same values, in which pages are sealed, too.
    other: Option<Encoding>,
}

impl<'a> ColumnPlan<'a> {
    pub(crate) fn new(
        schema: &'a Schema,
        column: ColumnId,
        settings: &'a SealSettings,
    ) -> Result<Self> {
        let settings = settings.column(column).ok_or_else(|| {
            Error::invalid_argument(format!("there are no seal settings for column {}", column.0))
        })?;
        let Column { column_type, type_code, bits, value_range, .. } = *schema.column(column);
        let column_type = column_type.ok_or_else(|| {
            Error::unsupported(format!("columns of type {type_code:#x} cannot be written"))
        })?;
        let encoding = Encoding::of(column_type, bits, value_range)?;
        let other = settings.root.as_ref().map(|root| root.column_type);
        let other = other.filter(|&other| other != column_type);
        let other = other.map(|other| Encoding::of(other, bits, None)).transpose()?;
        Ok(Self { schema, column, encoding, settings, other })
    }

    /// Refuses offsets that the column type cannot store.
    pub(crate) fn check(&self, data: &ColumnData) -> Result<()> {
        let narrow =
            matches!(self.encoding.column_type, ColumnType::Index32 | ColumnType::SplitIndex32);
        match data.last_offset() {
            Some(items) if narrow && u32::try_from(items).is_err() => {
                Err(Error::invalid_argument(format!(
                    "{items} items in one cluster do not fit a column of type {}: use smaller \
                     clusters or 64-bit offsets",
                    self.encoding.column_type.name()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns the element ranges of the pages. There are as few pages as the page size allows, of nearly equal
    /// sizes, so that the last page is not small.
    pub(crate) fn pages(&self, elements: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let count = elements.div_ceil(self.max_elements());
        let size = elements.div_ceil(count.max(1)).max(1);
        (0..count)
            .map(move |page| page * size..((page + 1) * size).min(elements))
            .filter(|range| !range.is_empty())
    }

    /// Returns the element ranges of the pages that can be sealed while more elements may come. These are full pages,
    /// and at least half a page stays open, so that the last page is not small.
    pub(crate) fn full_pages(&self, elements: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let max = self.max_elements();
        let count = elements.saturating_sub(max.div_ceil(2)) / max;
        (0..count).map(move |page| page * max..(page + 1) * max)
    }

    /// Returns the maximum number of elements of a page. As in ROOT, the size limit applies to the elements in
    /// memory.
    fn max_elements(&self) -> usize {
        let width = self.encoding.native_size().max(1);
        (self.settings.page_bytes / width).clamp(1, MAX_PAGE_ELEMENTS)
    }

    /// Seals one page. If it is larger than its sample promised, the data is of another kind. Then the page is also
    /// sealed with ROOT's codec, and the smaller page is the result.
    pub(crate) fn seal(
        &self,
        data: &ColumnData,
        range: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<SealedPage> {
        let _stage = self.sealing();
        let page = match self.seal_planes(&self.settings.planes, data, range.clone(), scratch)? {
            Some(page) => page,
            None => {
                self.seal_as(&self.encoding, &self.settings.codec, data, range.clone(), scratch)?
            }
        };
        let Some(root) = self.settings.root.as_ref().filter(|_| self.other.is_none()) else {
            return Ok(page);
        };
        let promised = page.uncompressed as f64 * root.ratio * seal::DRIFT;
        if page.bytes.len() as f64 <= promised {
            return Ok(page);
        }
        let other = self.seal_as(&self.encoding, &root.codec, data, range, scratch)?;
        Ok(if other.bytes.len() < page.bytes.len() { other } else { page })
    }

    fn seal_all(&self, data: &ColumnData, scratch: &mut Scratch) -> Result<SealedColumn> {
        let pages = self.pages(data.len()).map(|range| self.seal(data, range, scratch));
        Ok(self.finish(data, pages.collect::<Result<_>>()?))
    }

    /// Seals one page in the column type of ROOT, if the column has another type.
    pub(crate) fn seal_other(
        &self,
        data: &ColumnData,
        range: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<Option<SealedPage>> {
        let (Some(encoding), Some(root)) = (&self.other, &self.settings.root) else {
            return Ok(None);
        };
        let _stage = self.sealing();
        self.seal_as(encoding, &root.codec, data, range, scratch).map(Some)
    }

    fn sealing(&self) -> Stage {
        let Self { schema, column, .. } = *self;
        let path = || schema.path(schema.column(column).field);
        stage!("seal", column = path().as_str())
    }

    /// Seals one page with a codec for each run of planes. Returns `None` if this is not possible or not useful:
    /// planes are too small, or a run does not become smaller.
    fn seal_planes(
        &self,
        runs: &[PlaneRun],
        data: &ColumnData,
        range: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<Option<SealedPage>> {
        let plane = range.len();
        if runs.is_empty() || plane < seal::MIN_PLANE || !self.encoding.column_type.is_split() {
            return Ok(None);
        }
        let (compressors, native, packed) = scratch.all();
        packed.clear();
        self.encoding.encode(data.native(range, native), plane, packed)?;
        let mut bytes = Vec::new();
        let mut rest = &packed[..];
        for run in runs {
            let Some((part, after)) = rest.split_at_checked(run.count * plane) else {
                return Ok(None);
            };
            let compressor = Scratch::compressor(compressors, &run.codec)?;
            if !compressor.append_chunk(part, plane, &mut bytes)? {
                return Ok(None);
            }
            rest = after;
        }
        let elements = u32::try_from(plane).ok().filter(|_| rest.is_empty());
        Ok(elements.map(|elements| page::sealed(elements, bytes, packed.len())))
    }

    /// Seals one page with another encoding and codec.
    pub(crate) fn seal_as(
        &self,
        encoding: &Encoding,
        codec: &Arc<Codec>,
        data: &ColumnData,
        range: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<SealedPage> {
        let (compressor, native, packed) = scratch.parts(codec)?;
        let count = range.len();
        let native = data.native(range, native);
        page::seal(native, count, encoding, compressor, packed)
            .at(|place| place.column = Some(u64::from(self.column.0)))
    }

    /// Returns the column.
    pub(crate) fn column(&self) -> ColumnId {
        self.column
    }

    /// Returns the settings of the column.
    pub(crate) fn settings(&self) -> &ColumnSettings {
        self.settings
    }

    /// Returns the column type of [`ColumnPlan::seal_other`].
    pub(crate) fn other_type(&self) -> Option<ColumnType> {
        self.other.map(|other| other.column_type)
    }

    /// Returns the encoding.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Makes the sealed column from its pages.
    pub(crate) fn finish(&self, data: &ColumnData, pages: Vec<SealedPage>) -> SealedColumn {
        SealedColumn {
            column: self.column,
            elements: data.len() as u64,
            last_offset: data.last_offset(),
            compression: self.settings.setting,
            pages,
        }
    }
}
