//! Seals a page again with another compression. Its elements are not decoded.

use bytes::Bytes;
use nyssa_rntuple::format::checksum;
use nyssa_root::compression::{Compression, Compressor, decompress_to_vec};
use nyssa_root::error::Result;

/// Returns a page with its checksum. `stored` are the bytes in the input, without checksum, and `uncompressed` is their
/// number before compression.
///
/// # Errors
/// `OutOfSpecification` for a damaged page; `LimitExceeded` if the library fails.
pub(super) fn seal_again(
    stored: &[u8],
    uncompressed: u64,
    compression: Compression,
    known: &mut Option<Compressor>,
) -> Result<Bytes> {
    let size = usize::try_from(uncompressed).unwrap_or(usize::MAX);
    let compressor = match known {
        Some(known) => known,
        None => known.insert(Compressor::new(compression)?),
    };
    let mut sealed = Vec::new();
    if stored.len() == size {
        compressor.compress(stored, &mut sealed)?;
    } else {
        compressor.compress(&decompress_to_vec(stored, size, "the page")?, &mut sealed)?;
    }
    let sum = checksum(&sealed);
    sealed.extend_from_slice(&sum.to_le_bytes());
    Ok(sealed.into())
}
