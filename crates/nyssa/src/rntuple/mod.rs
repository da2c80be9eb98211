//! RNTuple: the format, from the encoding of a value to a reader and a writer.
//!
//! Upper may use lower, never the reverse; reading and writing do not know of each other.
//!
//! ```text
//! read | write
//! choose       which encoding, codec and effort: candidates, samples, price
//! page         sealed page <-> elements
//! schema       fields, columns, projections
//! format       anchor, envelope, frame, locator, page list
//! encoding     column types: elements <-> bits
//! ```

pub(crate) mod choose;
pub mod encoding;
pub mod format;
pub mod page;
pub mod read;
pub mod schema;
pub mod write;
