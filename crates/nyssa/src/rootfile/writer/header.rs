//! The file header (`TFile::WriteHeader`) and the list of free segments (`TFree`).

use crate::error::Result;
use crate::rootfile::FreeSegment;
use crate::rootfile::encode::{self, LARGE_FILE};

/// Where the first record lies.
pub(super) const BEGIN: u64 = 100;
/// ROOT version recorded in the file, 6.40.00.
pub(super) const VERSION: i32 = 64_000;
/// Added to the version when positions are 64-bit.
const LARGE_VERSION: i32 = 1_000_000;
/// Class version of `TUUID`.
const UUID_VERSION: u16 = 1;
/// Class version of `TFree`, plus 1000 with 64-bit positions.
const FREE_VERSION: u16 = 1;

/// What the header says.
pub(super) struct Header {
    /// ROOT version, less the mark of large files.
    pub version: i32,
    /// Whether positions are 64-bit.
    pub large: bool,
    /// End of the file.
    pub end: u64,
    /// Position and size of the record of free segments.
    pub free: (u64, usize),
    /// Number of free segments.
    pub free_count: usize,
    /// Size of the file's key and name.
    pub nbytes_name: usize,
    /// Compression setting.
    pub compression: u32,
    /// Position and size of the record of streamer infos.
    pub info: (u64, usize),
    /// UUID of the file.
    pub uuid: [u8; 16],
}

impl Header {
    /// The header's bytes, at most [`BEGIN`].
    pub fn serialize(&self) -> Result<Vec<u8>> {
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

/// The free segments: `gaps`, and all that lies behind the end of the file. `start` is where the record
/// of free segments lies and `keylen` the size of its key, both of which the end depends on.
pub(super) fn free_segments(start: u64, keylen: usize, gaps: &[FreeSegment]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for gap in gaps {
        put_segment(&mut out, gap.first, gap.last, gap.last > LARGE_FILE)?;
    }
    let large = start + out.len() as u64 > LARGE_FILE - BEGIN;
    let size = if large { 18 } else { 10 };
    let first = start + (keylen + out.len()) as u64 + size;
    // ROOT's convention: at least 2 GB, then whole GB.
    let last = LARGE_FILE.max((first / 1_000_000_000 + 1) * 1_000_000_000);
    put_segment(&mut out, first, last, large)?;
    Ok(out)
}

fn put_segment(out: &mut Vec<u8>, first: u64, last: u64, large: bool) -> Result<()> {
    out.extend_from_slice(&(FREE_VERSION + if large { 1000 } else { 0 }).to_be_bytes());
    encode::position(out, first, large)?;
    encode::position(out, last, large)
}
