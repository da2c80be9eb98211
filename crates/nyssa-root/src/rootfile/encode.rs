//! Writes numbers and strings as ROOT does, big-endian (`TBufferFile`).

use crate::error::{Error, Result};

/// The size in bytes from which on a file stores 64-bit positions (`TFile::kStartBigFile`).
pub(crate) const LARGE_FILE: u64 = 2_000_000_000;

/// Appends a `TString`: one length byte, or 255 and a 32-bit length.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) -> Result<()> {
    text_bytes(out, text.as_bytes())
}

/// Appends a `TString` whose text may have any bytes: one length byte, or 255 and a 32-bit length.
pub fn text_bytes(out: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    match u8::try_from(text.len()) {
        Ok(len) if len < 255 => out.push(len),
        _ => {
            out.push(255);
            size(out, text.len(), "string")?;
        }
    }
    out.extend_from_slice(text);
    Ok(())
}

/// Appends a position as 64 bits if `large`, or else as 32 bits.
///
/// # Errors
/// `LimitExceeded` when the position does not fit in 32 bits.
pub(crate) fn position(out: &mut Vec<u8>, value: u64, large: bool) -> Result<()> {
    if large {
        out.extend_from_slice(&value.to_be_bytes());
        return Ok(());
    }
    let small = u32::try_from(value).map_err(|_| {
        Error::limit(format!("position {value} does not fit the 32-bit positions of a small file"))
    })?;
    out.extend_from_slice(&small.to_be_bytes());
    Ok(())
}

/// Appends a 32-bit size or count. `what` names the item of this size in the message of an error.
///
/// # Errors
/// `LimitExceeded` when the number does not fit in 31 bits.
pub(crate) fn size(out: &mut Vec<u8>, value: usize, what: &str) -> Result<()> {
    let value = i32::try_from(value).map_err(|_| {
        Error::limit(format!("the size of the {what} is {value}, which does not fit in 31 bits"))
    })?;
    out.extend_from_slice(&value.to_be_bytes());
    Ok(())
}
