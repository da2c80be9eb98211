//! Writes the basic types, little-endian (specification, "Basic Types").

use nyssa_root::error::{Error, Result};

/// Appends a string: a 32-bit length and the bytes.
///
/// # Errors
/// `LimitExceeded` for strings over 4 GiB.
pub(super) fn string(out: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    out.extend_from_slice(&length(text.len(), "string")?.to_le_bytes());
    out.extend_from_slice(text);
    Ok(())
}

/// Converts a length or count to 32 bits.
pub(super) fn length(len: usize, what: &str) -> Result<u32> {
    u32::try_from(len).map_err(|_| Error::limit(format!("{what} of length {len} exceeds 32 bits")))
}
