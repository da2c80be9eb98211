//! Makes a sealed page of elements.

use nyssa_root::compression::Compressor;
use nyssa_root::error::{Error, Result};

use super::{SealedPage, checksum_of};
use crate::encoding::Encoding;

/// Encodes and compresses `count` elements, which have the layout of [`Encoding::decode`], and computes the checksum.
/// `scratch` is overwritten. Callers reuse it to avoid allocations.
///
/// # Errors
/// `InvalidArgument` for elements that the encoding cannot store (see [`Encoding::encode`]) and for more than
/// 2^31 - 1 elements (specification, "Page Locations"); `LimitExceeded` when the compressor fails.
pub fn seal(
    elements: &[u8],
    count: usize,
    encoding: &Encoding,
    compressor: &mut Compressor,
    scratch: &mut Vec<u8>,
) -> Result<SealedPage> {
    let stored_count = i32::try_from(count).map_err(|_| {
        Error::invalid_argument(format!(
            "{count} elements do not fit in one page: most are {}",
            i32::MAX
        ))
    })?;
    scratch.clear();
    encoding.encode(elements, count, scratch)?;
    let mut bytes = Vec::new();
    let plane = if encoding.column_type.is_split() { count } else { 0 };
    compressor.compress_planes(scratch, plane, &mut bytes)?;
    Ok(sealed(stored_count.unsigned_abs(), bytes, scratch.len()))
}

/// Makes a sealed page of compressed bytes. They were `uncompressed` bytes before.
pub fn sealed(elements: u32, bytes: Vec<u8>, uncompressed: usize) -> SealedPage {
    let (checksum, identity) = (checksum_of(&bytes), None);
    SealedPage { elements, bytes, checksum, uncompressed, identity }
}
