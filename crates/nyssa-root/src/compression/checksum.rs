//! Finds which compressed data contain a checksum that is checked when they are decompressed.

use super::decompress::walk;
use super::frame::Method;

/// The first bytes of an xz stream.
const XZ_MAGIC: [u8; 6] = [0xFD, b'7', b'z', b'X', b'Z', 0];
/// The offset of the frame header descriptor in a zstd frame, after the magic number.
const ZSTD_DESCRIPTOR: usize = 4;
/// The bit of the frame header descriptor that says that a checksum follows the data.
const ZSTD_CHECKSUM: u8 = 1 << 2;

/// Returns whether decompression notices any changed byte in the block `input`, whose content has `size` bytes. zlib
/// streams end with an Adler-32, LZ4 chunks begin with an XXH64, and most xz streams have a check. zstd frames have a
/// checksum only if the writer requested it, which ROOT does not do. Stored bytes and old deflate streams have none.
pub fn has_checksum(input: &[u8], size: usize) -> bool {
    let mut all = input.len() != size;
    let framed = walk(input, size, |header, payload| {
        all &= match header.method {
            Method::Zlib | Method::Lz4 => true,
            Method::OldDeflate => false,
            Method::Lzma => {
                let flags = payload.strip_prefix(&XZ_MAGIC).and_then(|rest| rest.get(1));
                flags.is_some_and(|check| check & 0x0F != 0)
            }
            Method::Zstd => {
                payload.get(ZSTD_DESCRIPTOR).is_some_and(|byte| byte & ZSTD_CHECKSUM != 0)
            }
        };
        Ok(())
    });
    all && framed.is_ok()
}
