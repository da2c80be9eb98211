//! Sealed page ⇄ elements: the unit that is moved.
//!
//! Sealing is encode, compress, checksum; unsealing is verify, decompress, decode. Nothing here reads
//! or writes a file.

mod seal;
mod sealed_page;
mod unseal;

#[cfg(test)]
mod tests;

pub use seal::seal;
pub use sealed_page::{SealedColumn, SealedPage};
pub use unseal::{MAX_PAGE_SIZE, open, unseal, unseal_f64, verify};
