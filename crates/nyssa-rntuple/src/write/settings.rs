//! Defines the settings of each column, and the buffers of a thread that seals.

use std::collections::BTreeMap;
use std::sync::Arc;

use nyssa_root::compression::{Codec, Compressor};
use nyssa_root::effort::{Candidate, Chooser};
use nyssa_root::error::Result;

use super::{FieldOptions, RNTupleWriteOptions};
use crate::encoding::{ColumnType, Encoding};
use crate::schema::{ColumnId, FieldId, Schema};

/// The maximum number of compressors of a [`Scratch`]. Each may have megabytes of tables.
const MAX_COMPRESSORS: usize = 8;

/// The settings for sealing the pages of one column. The schema contains the encoding of the column.
#[derive(Clone, Debug)]
pub struct ColumnSettings {
    /// The codec of the pages. Columns with one codec share one object, so that threads can reuse compressors.
    pub codec: Arc<Codec>,
    /// The codecs of runs of byte planes of a split column. Empty if `codec` is for all planes.
    pub(crate) planes: Vec<PlaneRun>,
    /// ROOT's compression setting that the page list records. It is the requested setting, whatever the effort,
    /// because ROOT's inspector refuses an RNTuple with several settings.
    pub setting: u32,
    /// The maximum size of a page before compression, in bytes.
    pub page_bytes: usize,
    /// Whether the options set the codec, so that no sample chooses it.
    pub own_codec: bool,
    /// Whether the options set the column type.
    pub own_type: bool,
    /// The narrower encodings of a column of real numbers. One of them may be chosen if it stores every value
    /// exactly.
    pub narrower: Vec<Encoding>,
    /// The largest error of a value whose encoding is narrower than its field. 0 preserves all bits. A value with a
    /// larger error is refused. `None` refuses nothing.
    pub largest_error: Option<f64>,
    /// The storage with which pages are compared, if the storage was chosen for size.
    pub(super) root: Option<RootStorage>,
}

/// Neighbouring byte planes with one codec.
#[derive(Clone, Debug)]
pub(crate) struct PlaneRun {
    /// The number of planes.
    pub(crate) count: usize,
    pub(crate) codec: Arc<Codec>,
    /// The name of the codec in reports.
    pub(crate) name: String,
}

impl PlaneRun {
    pub(crate) fn new(count: usize, candidate: &Candidate) -> Self {
        Self { count, codec: Arc::clone(&candidate.codec), name: candidate.name.clone() }
    }
}

/// The column type and codec that ROOT would use for a column with another storage. If ROOT's may be smaller, pages
/// are sealed both ways.
#[derive(Clone, Debug)]
pub(super) struct RootStorage {
    pub(super) column_type: ColumnType,
    pub(super) codec: Arc<Codec>,
    /// The number of compressed bytes for each byte of the sample.
    pub(super) ratio: f64,
}

/// The settings for sealing the columns of a schema. The index is [`ColumnId`].
#[derive(Clone, Debug)]
pub struct SealSettings {
    /// The settings by physical column.
    pub columns: Vec<ColumnSettings>,
    /// The number of the representation that is sealed, for fields that do not use the first representation.
    pub representations: BTreeMap<FieldId, u16>,
    /// Whether doubles are rounded, see [`RNTupleWriteOptions::round_doubles`].
    pub round_doubles: bool,
}

impl SealSettings {
    /// Makes equal settings for all columns of `schema`, except for [`RNTupleWriteOptions::fields`].
    pub fn new(schema: &Schema, options: &RNTupleWriteOptions) -> Self {
        let column = ColumnSettings {
            codec: Arc::new(Codec::from(options.compression)),
            setting: options.compression.setting(),
            page_bytes: options.max_unzipped_page,
            own_codec: false,
            own_type: false,
            planes: Vec::new(),
            narrower: Vec::new(),
            largest_error: None,
            root: None,
        };
        let mut columns = vec![column; schema.columns.len()];
        settle(schema, &options.fields, &mut columns);
        Self { columns, representations: BTreeMap::new(), round_doubles: options.round_doubles }
    }

    /// Returns the number of the representation of a field that is sealed.
    pub fn representation(&self, field: FieldId) -> u16 {
        self.representations.get(&field).copied().unwrap_or(0)
    }

    /// Returns the maximum size of a page of any column, in bytes.
    pub(super) fn largest_page(&self, options: &RNTupleWriteOptions) -> usize {
        let own = self.columns.iter().map(|column| column.page_bytes);
        own.fold(options.initial_unzipped_page, usize::max)
    }

    /// Returns the codecs that a thread may need.
    pub(super) fn codecs(&self, options: &RNTupleWriteOptions) -> Vec<Arc<Codec>> {
        let chooser = options.encodings.chooser(options.compression, options.effort);
        let mut known: Vec<_> = chooser.iter().flat_map(Chooser::codecs).cloned().collect();
        let requested = |column: &&ColumnSettings| column.own_codec || chooser.is_none();
        for column in self.columns.iter().filter(requested) {
            if !known.iter().any(|codec| Arc::ptr_eq(codec, &column.codec)) {
                known.push(Arc::clone(&column.codec));
            }
        }
        // A thread has only a limited number of compressors, so the largest compressors count.
        known.sort_by_key(|codec| std::cmp::Reverse(codec.memory(options.max_unzipped_page)));
        known.truncate(MAX_COMPRESSORS);
        known
    }

    /// Returns the settings of a column.
    pub fn column(&self, column: ColumnId) -> Option<&ColumnSettings> {
        self.columns.get(column.0 as usize)
    }
}

/// Applies options of fields to the settings of the columns of `schema`. The last match wins.
fn settle(schema: &Schema, all: &[FieldOptions], columns: &mut [ColumnSettings]) {
    for options in all {
        let matched = options.columns(schema);
        let codec = options.compression.map(|compression| Arc::new(Codec::from(compression)));
        for (settings, _) in columns.iter_mut().zip(matched).filter(|(_, is)| *is) {
            if let (Some(codec), Some(compression)) = (&codec, options.compression) {
                settings.codec = Arc::clone(codec);
                settings.setting = compression.setting();
                settings.own_codec = true;
            }
            if let Some(page) = options.page_bytes {
                settings.page_bytes = page;
            }
            settings.own_type |= options.column.is_some();
        }
    }
}

/// The compressors of a thread, each with its codec.
pub(super) type Compressors = Vec<(Arc<Codec>, Compressor)>;

/// The buffers and compressors that one thread reuses.
#[derive(Default)]
pub struct Scratch {
    compressors: Compressors,
    /// The elements that are rearranged before encoding.
    pub(super) native: Vec<u8>,
    /// The encoded page.
    pub(super) encoded: Vec<u8>,
}

impl Scratch {
    /// Makes empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the compressor of a codec. It is made at the first use. The oldest compressor is dropped when there
    /// are too many.
    pub(super) fn compressor<'a>(
        compressors: &'a mut Compressors,
        codec: &Arc<Codec>,
    ) -> Result<&'a mut Compressor> {
        // The `Arc` stays alive with its compressor, so no other codec can get its address.
        let index = match compressors.iter().position(|(known, _)| Arc::ptr_eq(known, codec)) {
            Some(index) => index,
            None => {
                if compressors.len() == MAX_COMPRESSORS {
                    compressors.remove(0);
                }
                compressors.push((Arc::clone(codec), Compressor::with_codec(codec)?));
                compressors.len() - 1
            }
        };
        Ok(&mut compressors[index].1)
    }

    /// Returns the number of bytes of `input`, which has planes of `plane` bytes each, after compression.
    ///
    /// # Errors
    /// Returns an error if compression fails.
    pub(super) fn compressed(
        &mut self,
        codec: &Arc<Codec>,
        input: &[u8],
        plane: usize,
    ) -> Result<usize> {
        self.native.clear();
        let compressor = Self::compressor(&mut self.compressors, codec)?;
        compressor.compress_planes(input, plane, &mut self.native)?;
        Ok(self.native.len())
    }

    /// Borrows the compressors and the two buffers.
    pub(super) fn all(&mut self) -> (&mut Compressors, &mut Vec<u8>, &mut Vec<u8>) {
        (&mut self.compressors, &mut self.native, &mut self.encoded)
    }

    /// Borrows the parts that sealing one page needs.
    pub(super) fn parts(
        &mut self,
        codec: &Arc<Codec>,
    ) -> Result<(&mut Compressor, &mut Vec<u8>, &mut Vec<u8>)> {
        let Self { compressors, native, encoded } = self;
        Ok((Self::compressor(compressors, codec)?, native, encoded))
    }
}
