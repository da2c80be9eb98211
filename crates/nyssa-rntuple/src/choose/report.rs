//! Defines the reports of how the columns of an output are stored, and why.

use nyssa_root::effort::{Chosen, TriedForm, level};
use serde::Serialize;

use crate::schema::{ColumnId, Schema};
use crate::seal::SealSettings;

/// The storage of one column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ColumnReport {
    /// The id of the physical column.
    pub id: u32,
    /// The path of its field, or the name of the projected field that shows its data.
    pub field: String,
    /// The name of the column type.
    pub column_type: String,
    /// The number of bits per element before compression.
    pub bits: u16,
    /// The name of the compression algorithm of its pages. A page that does not become smaller is stored
    /// uncompressed.
    pub codec: String,
    /// The compression effort: `level 5` of ROOT, or an effort that was chosen from a sample.
    pub effort: String,
    /// The reason of the choice.
    pub reason: String,
    /// The sizes of the sample in all ways that were tried. It is empty when nothing was tried. With the default
    /// encoding, all columns of a branch share one sample and its sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<TriedForm>,
    /// The number of bytes of its pages before compression.
    pub uncompressed_bytes: u64,
    /// The number of bytes of its pages after compression.
    pub compressed_bytes: u64,
}

/// The reason for a storage that the options set.
const REQUESTED: &str = "requested";

/// Makes the reports of all columns. `chosen` and `bytes` (before and after compression) are indexed by
/// [`ColumnId`].
pub fn reports(
    schema: &Schema,
    settings: &SealSettings,
    chosen: &[Option<Chosen>],
    bytes: &[(u64, u64)],
) -> Vec<ColumnReport> {
    let names = schema.shown_names();
    let report = |(id, column): (ColumnId, &crate::schema::Column)| {
        let index = id.0 as usize;
        let settings = settings.column(id);
        let (setting, own) = settings.map_or((0, false), |own| (own.setting, own.own_codec));
        let chosen = chosen.get(index).and_then(Option::as_ref);
        let (uncompressed_bytes, compressed_bytes) = bytes.get(index).copied().unwrap_or_default();
        let effort = match chosen.filter(|_| !own) {
            Some(chosen) => chosen.effort.clone(),
            None => level(setting),
        };
        let shown = names.get(&column.field).cloned();
        ColumnReport {
            id: id.0,
            field: shown.unwrap_or_else(|| schema.path(column.field)),
            column_type: column.column_type.map_or("unknown", |known| known.name()).to_owned(),
            bits: column.bits,
            codec: settings.map_or("none", |own| own.codec.name()).to_owned(),
            effort,
            reason: chosen.filter(|_| !own).map_or(REQUESTED, |chosen| chosen.reason).to_owned(),
            tried: chosen.map(|chosen| chosen.tried.clone()).unwrap_or_default(),
            uncompressed_bytes,
            compressed_bytes,
        }
    };
    (0u32..).map(ColumnId).zip(&schema.columns).map(report).collect()
}
