//! Seals and unseals pages: sealed page ⇄ elements. Files store and copy sealed pages.
//!
//! Sealing encodes, compresses and adds a checksum. Unsealing verifies, decompresses and decodes. This module
//! neither reads nor writes files.

mod seal;
mod sealed_page;
mod unseal;

#[cfg(test)]
mod tests;

pub use seal::{seal, sealed};
pub use sealed_page::{SealedColumn, SealedPage};
pub use unseal::{MAX_PAGE_SIZE, open, unseal, unseal_f64, verify};

/// Returns the checksum of sealed bytes.
fn checksum_of(bytes: &[u8]) -> u64 {
    let _stage = nyssa_observe::stage!("checksum", bytes_in = bytes.len() as u64);
    xxhash_rust::xxh3::xxh3_64(bytes)
}
