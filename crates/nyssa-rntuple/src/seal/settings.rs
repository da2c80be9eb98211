//! Defines the settings with which columns are sealed.

use std::collections::BTreeMap;
use std::sync::Arc;

use nyssa_root::compression::{Codec, Compression};
use nyssa_root::effort::PricedCodec;
use nyssa_root::error::{Error, Result};

use crate::encoding::{ColumnType, Encoding};
use crate::schema::{ColumnId, FieldId, Schema};

/// The minimum size of a page, in bytes.
pub const MIN_UNZIPPED_PAGE: usize = 64;
/// The maximum size of a page, in bytes. ROOT's limit of elements in a page would allow more for one-byte
/// elements, but a page must fit into one key.
pub const MAX_UNZIPPED_PAGE: usize = 512 << 20;

/// Checks a page size.
///
/// # Errors
/// `InvalidArgument` with the allowed range.
pub fn check_page(bytes: usize) -> Result<()> {
    if (MIN_UNZIPPED_PAGE..=MAX_UNZIPPED_PAGE).contains(&bytes) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "a page size of {bytes} bytes is outside {MIN_UNZIPPED_PAGE} to {MAX_UNZIPPED_PAGE}"
    )))
}

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
    pub(crate) root: Option<RootStorage>,
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
    pub(crate) fn new(count: usize, candidate: &PricedCodec) -> Self {
        Self { count, codec: Arc::clone(&candidate.codec), name: candidate.name.clone() }
    }
}

/// The column type and codec that ROOT would use for a column with another storage. If ROOT's may be smaller, pages
/// are sealed both ways.
#[derive(Clone, Debug)]
pub(crate) struct RootStorage {
    pub(crate) column_type: ColumnType,
    pub(crate) codec: Arc<Codec>,
    /// The number of compressed bytes for each byte of the sample.
    pub(crate) ratio: f64,
}

/// The settings for sealing the columns of a schema. The index is [`ColumnId`].
#[derive(Clone, Debug)]
pub struct SealSettings {
    /// The settings by physical column.
    pub columns: Vec<ColumnSettings>,
    /// The number of the representation that is sealed, for fields that do not use the first representation.
    pub representations: BTreeMap<FieldId, u16>,
    /// Whether doubles are rounded, see [`crate::write::RNTupleWriteOptions::round_doubles`].
    pub round_doubles: bool,
}

impl SealSettings {
    /// Makes equal settings for all columns of `schema`. A page has at most `page_bytes` bytes before compression.
    pub(crate) fn new(schema: &Schema, compression: Compression, page_bytes: usize) -> Self {
        let column = ColumnSettings {
            codec: Arc::new(Codec::from(compression)),
            setting: compression.setting(),
            page_bytes,
            own_codec: false,
            own_type: false,
            planes: Vec::new(),
            narrower: Vec::new(),
            largest_error: None,
            root: None,
        };
        let columns = vec![column; schema.columns.len()];
        Self { columns, representations: BTreeMap::new(), round_doubles: false }
    }

    /// Returns the number of the representation of a field that is sealed.
    pub fn representation(&self, field: FieldId) -> u16 {
        self.representations.get(&field).copied().unwrap_or(0)
    }

    /// Returns the settings of a column.
    pub fn column(&self, column: ColumnId) -> Option<&ColumnSettings> {
        self.columns.get(column.0 as usize)
    }
}
