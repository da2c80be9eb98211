//! Big-endian writing in ROOT's conventions (`TBufferFile`).

use crate::cursor::BYTE_COUNT;
use crate::error::{Error, Result};

/// Positions from here on are kept in 64 bits (`TFile::kStartBigFile`).
pub(in crate::rootfile) const LARGE_FILE: u64 = 2_000_000_000;

/// Appends a `TString`: one length byte, or 255 and a 32-bit length.
pub(in crate::rootfile) fn string(out: &mut Vec<u8>, text: &str) -> Result<()> {
    match u8::try_from(text.len()) {
        Ok(len) if len < 255 => out.push(len),
        _ => {
            let len = i32::try_from(text.len())
                .map_err(|_| Error::limit(format!("name of {} bytes", text.len())))?;
            out.push(255);
            out.extend_from_slice(&len.to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Appends a number as 64 or 32 bits.
///
/// # Errors
/// `LimitExceeded` when 32 bits are too few.
pub(in crate::rootfile) fn position(out: &mut Vec<u8>, value: u64, large: bool) -> Result<()> {
    if large {
        out.extend_from_slice(&value.to_be_bytes());
        return Ok(());
    }
    let small = u32::try_from(value)
        .map_err(|_| Error::limit(format!("position {value} in a small file")))?;
    out.extend_from_slice(&small.to_be_bytes());
    Ok(())
}

/// Appends a 32-bit size or count.
pub(in crate::rootfile) fn size(out: &mut Vec<u8>, value: usize, what: &str) -> Result<()> {
    let value = i32::try_from(value)
        .map_err(|_| Error::limit(format!("{what} of {value} exceeds 31 bits")))?;
    out.extend_from_slice(&value.to_be_bytes());
    Ok(())
}

/// Appends a byte count and what `fill` appends.
pub(in crate::rootfile) fn counted(
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out)?;
    let count = u32::try_from(out.len() - start - 4)
        .ok()
        .filter(|count| *count < BYTE_COUNT)
        .ok_or_else(|| Error::limit("object of more than 1 GiB"))?;
    out[start..start + 4].copy_from_slice(&(count | BYTE_COUNT).to_be_bytes());
    Ok(())
}

/// Appends a byte count, a class version and what `fill` appends.
pub(in crate::rootfile) fn versioned(
    out: &mut Vec<u8>,
    version: u16,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    counted(out, |out| {
        out.extend_from_slice(&version.to_be_bytes());
        fill(out)
    })
}
