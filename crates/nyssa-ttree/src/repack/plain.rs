//! Decompresses the payload of a basket.

use std::borrow::Cow;

use nyssa_root::compression::decompress_to_vec;
use nyssa_root::error::Result;

/// Returns a payload of `objlen` bytes without its compression.
pub(super) fn plain(payload: Cow<'_, [u8]>, objlen: u64) -> Result<Cow<'_, [u8]>> {
    let size = usize::try_from(objlen).unwrap_or(usize::MAX);
    Ok(match payload.len() == size {
        true => payload,
        false => Cow::Owned(decompress_to_vec(&payload, size, "the basket")?),
    })
}
