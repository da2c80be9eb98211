//! What ROOT's streamers write around objects (`TObject`, `TBufferFile`, `TClonesArray`).

use crate::cursor::BYTE_COUNT;
use crate::error::{Error, Result};

/// `TObject::kIsReferenced`: a process id follows the bits.
pub(super) const IS_REFERENCED: u32 = 1 << 4;
/// `TObject::kHasUUID`: a `TRef` is followed by a string instead of a process id.
pub(super) const HAS_UUID: u32 = 1 << 5;
/// `TClonesArray::kBypassStreamer`: objects are streamed member by member.
pub(super) const BYPASS_STREAMER: u32 = 1 << 12;
/// Version bit of containers that are streamed member by member (`kStreamedMemberWise`).
pub(super) const MEMBER_WISE: u16 = 1 << 14;
/// Tag of a class that was not named before: its name follows (`kNewClassTag`).
pub(super) const NEW_CLASS: u32 = 0xFFFF_FFFF;
/// Mark of a class tag (`kClassMask`).
pub(super) const CLASS: u32 = 0x8000_0000;
/// Added to positions so that tags 0 and 1 are free (`kMapOffset`).
pub(super) const TAG_OFFSET: u32 = 2;

/// Appends a byte count and what `fill` appends.
pub(super) fn counted(
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
