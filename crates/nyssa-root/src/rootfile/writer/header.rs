//! Writes the file header (`TFile::WriteHeader`) and the list of free segments (`TFree`).

use crate::error::Result;
use crate::rootfile::FreeSegment;
use crate::rootfile::encode::{self, LARGE_FILE};

/// The position of the first record.
pub(super) const BEGIN: u64 = 100;
/// The ROOT version that the file records, 6.40.00.
pub(super) const VERSION: i32 = 64_000;
/// The number that is added to the version of a file with 64-bit positions.
const LARGE_VERSION: i32 = 1_000_000;
/// The class version of `TUUID`.
const UUID_VERSION: u16 = 1;
/// The class version of `TFree`. A segment with 64-bit positions adds 1000.
const FREE_VERSION: u16 = 1;

/// The contents of the header.
pub(super) struct Header {
    /// The ROOT version, without the mark of large files.
    pub version: i32,
    /// Whether positions are 64-bit.
    pub large: bool,
    /// The end of the file.
    pub end: u64,
    /// The position and the size of the record of free segments.
    pub free: (u64, usize),
    /// The number of free segments.
    pub free_count: usize,
    /// The size of the key and the name of the file.
    pub nbytes_name: usize,
    /// The compression setting.
    pub compression: u32,
    /// The position and the size of the record of streamer infos.
    pub info: (u64, usize),
    /// The UUID of the file.
    pub uuid: [u8; 16],
}

impl Header {
    /// Serializes the header. It has at most [`BEGIN`] bytes.
    pub(super) fn serialize(&self) -> Result<Vec<u8>> {
        let large = self.large;
        let version = if large { self.version.max(0) + LARGE_VERSION } else { self.version };
        let mut out = b"root".to_vec();
        out.extend_from_slice(&version.to_be_bytes());
        out.extend_from_slice(&(BEGIN as u32).to_be_bytes());
        encode::position(&mut out, self.end, large)?;
        encode::position(&mut out, self.free.0, large)?;
        encode::size(&mut out, self.free.1, "free segments")?;
        encode::size(&mut out, self.free_count, "free list")?;
        encode::size(&mut out, self.nbytes_name, "file name")?;
        out.push(if large { 8 } else { 4 });
        out.extend_from_slice(&self.compression.to_be_bytes());
        encode::position(&mut out, self.info.0, large)?;
        encode::size(&mut out, self.info.1, "streamer info")?;
        put_uuid(&mut out, &self.uuid);
        Ok(out)
    }
}

/// Appends a streamed `TUUID`.
pub(super) fn put_uuid(out: &mut Vec<u8>, uuid: &[u8; 16]) {
    out.extend_from_slice(&UUID_VERSION.to_be_bytes());
    out.extend_from_slice(uuid);
}

/// Serializes the free segments: `gaps`, and everything after the end of the file. `start` is the position of
/// the record of free segments and `keylen` the size of its key. The end of the file depends on both.
pub(super) fn free_segments(start: u64, keylen: usize, gaps: &[FreeSegment]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for gap in gaps {
        put_segment(&mut out, gap.first, gap.last, gap.last > LARGE_FILE)?;
    }
    let large = start + out.len() as u64 > LARGE_FILE - BEGIN;
    let size = if large { 18 } else { 10 };
    let first = start + (keylen + out.len()) as u64 + size;
    // ROOT's convention: the last segment ends at 2 GB, or at the next whole GB after the end of the file.
    let last = LARGE_FILE.max((first / 1_000_000_000 + 1) * 1_000_000_000);
    put_segment(&mut out, first, last, large)?;
    Ok(out)
}

fn put_segment(out: &mut Vec<u8>, first: u64, last: u64, large: bool) -> Result<()> {
    out.extend_from_slice(&(FREE_VERSION + if large { 1000 } else { 0 }).to_be_bytes());
    encode::position(out, first, large)?;
    encode::position(out, last, large)
}
