//! Where compression effort pays.

use std::ops::Range;

use super::map::{Input, Unit};
use crate::Context;
use crate::compression::Compression;
use crate::error::Result;
use crate::schema::Schema;
use crate::ttree::Reader;
use crate::write::SealSettings;

/// Chooses the codec and encoding of every column; notes for the report.
///
/// # Errors
/// Whatever is wrong with the input, `Cancelled`.
#[allow(clippy::too_many_arguments)]
pub(super) fn choose(
    _reader: &Reader,
    _inputs: &[Input<'_>],
    _schema: &mut Schema,
    _units: &[Unit],
    _clusters: &[Range<u64>],
    _compression: Compression,
    _settings: &mut SealSettings,
    _context: &Context,
) -> Result<Vec<String>> {
    Ok(Vec::new())
}
