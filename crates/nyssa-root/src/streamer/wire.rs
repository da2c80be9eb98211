//! Reads the marks and headers that ROOT's streamers write around objects (`TObject`, `TBufferFile`, `TClonesArray`).

use crate::cursor::{BYTE_COUNT, Cursor};
use crate::error::{Error, Result};

/// The bit of an object that is followed by the number of its process (`TObject::kIsReferenced`).
pub(super) const IS_REFERENCED: u32 = 1 << 4;
/// The bit of a `TRef` that is followed by a string instead of the number of a process (`TObject::kHasUUID`).
pub(super) const HAS_UUID: u32 = 1 << 5;
/// The bit of a `TClonesArray` that streams its objects member by member (`TClonesArray::kBypassStreamer`).
pub(super) const BYPASS_STREAMER: u32 = 1 << 12;
/// The bit in the version of a container that is streamed member by member (`kStreamedMemberWise`).
pub(super) const MEMBER_WISE: u16 = 1 << 14;
/// The tag of a class that was not named before. The name of the class follows (`kNewClassTag`).
pub(super) const NEW_CLASS: u32 = 0xFFFF_FFFF;
/// The bit of a class tag (`kClassMask`).
pub(super) const CLASS: u32 = 0x8000_0000;
/// The number that is added to a position to make a tag, so that tags 0 and 1 are free (`kMapOffset`).
pub(super) const TAG_OFFSET: u32 = 2;

/// Reads the option with which an item was added to a list. `version` is the class version of the list.
pub(super) fn list_option<'a>(cursor: &mut Cursor<'a>, version: u16) -> Result<&'a [u8]> {
    match version {
        // The length of the option is one byte, even if it is 255.
        4 => {
            let len = cursor.u8()?;
            cursor.bytes(len.into())
        }
        5.. => cursor.root_bytes(),
        _ => Ok(&[]),
    }
}

/// Appends a byte count and the bytes that `fill` appends.
pub(super) fn counted(
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out)?;
    put_count(out, start)
}

/// Sets the byte count at `start` to the number of bytes behind it.
pub(super) fn put_count(out: &mut [u8], start: usize) -> Result<()> {
    let count = u32::try_from(out.len() - start - 4)
        .ok()
        .filter(|count| *count < BYTE_COUNT)
        .ok_or_else(|| {
            Error::limit("a streamed object has more than 1 GiB, which its byte count cannot hold")
        })?;
    out[start..start + 4].copy_from_slice(&(count | BYTE_COUNT).to_be_bytes());
    Ok(())
}

/// Appends a byte count, a class version and the bytes that `fill` appends.
pub(super) fn versioned(
    out: &mut Vec<u8>,
    version: u16,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    counted(out, |out| {
        out.extend_from_slice(&version.to_be_bytes());
        fill(out)
    })
}

/// Returns the error for a reference to a place that its bits cannot hold.
pub(super) fn too_far() -> Error {
    Error::limit("a streamed object of more than 1 GiB")
}
