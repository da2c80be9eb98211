//! Encodes columns: elements in memory ⇄ encoded bytes of an uncompressed page.
//!
//! Specification: "Column Description". [`ColumnType`] is the table of types, and [`Encoding`] is the
//! interface. Each transform has a file. Elements and pages are little-endian, and every page is encoded
//! independently.

mod bits;
mod codec;
mod column_type;
mod delta;
mod dispatch;
mod half;
mod precision;
mod quantized;
mod split;
mod switch;
mod truncated;
mod zigzag;

#[cfg(test)]
mod tests;

pub use codec::Encoding;
pub use column_type::{ColumnType, Native};
pub use half::to_half;
pub use precision::Precision;
pub use switch::{SWITCH_SIZE, switch_element, switch_parts};
