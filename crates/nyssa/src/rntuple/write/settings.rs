//! How each column is sealed, and what a thread needs to do it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::compression::{Codec, Compressor};
use crate::error::Result;
use crate::rntuple::choose::Chooser;
use crate::rntuple::encoding::ColumnType;
use crate::rntuple::schema::{ColumnId, FieldId, Schema};

use super::{FieldOptions, Options};

/// Compressors a [`Scratch`] keeps at most; each may hold megabytes of tables.
const MAX_COMPRESSORS: usize = 8;

/// How the pages of one column are made. The encoding is that of the schema's column.
#[derive(Clone, Debug)]
pub struct ColumnSettings {
    /// The codec. Columns with the same codec should share it, so that threads share compressors.
    pub codec: Arc<Codec>,
    /// ROOT's setting number recorded in the page list: what was asked for, whatever the effort, since
    /// ROOT's inspector takes no RNTuple with several.
    pub setting: u32,
    /// Largest page before compression, bytes.
    pub page_bytes: usize,
    /// The codec was asked for: no other is chosen by looking.
    pub own_codec: bool,
    /// So was the type.
    pub own_type: bool,
    /// What pages are compared with, where the storage was chosen for size.
    pub(super) root: Option<RootStorage>,
}

/// ROOT's own way to store a column that is stored in another: the smaller pages are kept.
#[derive(Clone, Debug)]
pub(super) struct RootStorage {
    pub(super) column_type: ColumnType,
    pub(super) codec: Arc<Codec>,
}

/// How the columns of a schema are sealed; index is [`ColumnId`].
#[derive(Clone, Debug)]
pub struct SealSettings {
    /// One per physical column.
    pub columns: Vec<ColumnSettings>,
    /// Which representation of a field is sealed; the first one of fields that are not here.
    pub representations: BTreeMap<FieldId, u16>,
    /// See [`Options::round_doubles`].
    pub round_doubles: bool,
}

impl SealSettings {
    /// The same for all columns of `schema`, but for [`Options::fields`].
    pub fn new(schema: &Schema, options: &Options) -> Self {
        let column = ColumnSettings {
            codec: Arc::new(Codec::from(options.compression)),
            setting: options.compression.setting(),
            page_bytes: options.max_unzipped_page,
            own_codec: false,
            own_type: false,
            root: None,
        };
        let mut columns = vec![column; schema.columns.len()];
        settle(schema, &options.fields, &mut columns);
        Self { columns, representations: BTreeMap::new(), round_doubles: options.round_doubles }
    }

    /// The representation of a field that is sealed.
    pub fn representation(&self, field: FieldId) -> u16 {
        self.representations.get(&field).copied().unwrap_or(0)
    }

    /// The largest page that a column may have, bytes.
    pub(super) fn largest_page(&self, options: &Options) -> usize {
        let own = self.columns.iter().map(|column| column.page_bytes);
        own.fold(options.initial_unzipped_page, usize::max)
    }

    /// The codecs that a thread may need.
    pub(super) fn codecs(&self, options: &Options) -> Vec<Arc<Codec>> {
        let chooser = Chooser::of(options.compression, options.effort, options.encodings);
        let mut known: Vec<_> = chooser.iter().flat_map(Chooser::codecs).cloned().collect();
        let asked = |column: &&ColumnSettings| column.own_codec || chooser.is_none();
        for column in self.columns.iter().filter(asked) {
            if !known.iter().any(|codec| Arc::ptr_eq(codec, &column.codec)) {
                known.push(Arc::clone(&column.codec));
            }
        }
        // The largest that may be there at once.
        known.sort_by_key(|codec| std::cmp::Reverse(codec.memory(options.max_unzipped_page)));
        known.truncate(MAX_COMPRESSORS);
        known
    }

    /// The settings of a column.
    pub fn column(&self, column: ColumnId) -> Option<&ColumnSettings> {
        self.columns.get(column.0 as usize)
    }
}

/// Puts options by field into the settings of the columns of `schema`; the last that match win.
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

/// Reusable buffers and compressors of one thread.
#[derive(Default)]
pub struct Scratch {
    compressors: Vec<(Arc<Codec>, Compressor)>,
    /// Elements that had to be rearranged before encoding.
    pub(super) native: Vec<u8>,
    /// The encoded page.
    pub(super) packed: Vec<u8>,
}

impl Scratch {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// The compressor of a codec, made on first use. The oldest goes when there are too many.
    pub(super) fn compressor<'a>(
        compressors: &'a mut Vec<(Arc<Codec>, Compressor)>,
        codec: &Arc<Codec>,
    ) -> Result<&'a mut Compressor> {
        // The `Arc` is kept beside its compressor, so its address cannot be reused for another codec.
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

    /// The parts that sealing one page needs, borrowed apart.
    pub(super) fn parts(
        &mut self,
        codec: &Arc<Codec>,
    ) -> Result<(&mut Compressor, &mut Vec<u8>, &mut Vec<u8>)> {
        let Self { compressors, native, packed } = self;
        Ok((Self::compressor(compressors, codec)?, native, packed))
    }
}
