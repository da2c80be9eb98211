//! The format of RNTuple, a reader and a writer.
//!
//! A module may use the modules below it, never a module above it. `read` and `write` do not use each other.
//!
//! ```text
//! read | write
//! choose       how columns are stored: sample, candidates, price, choice, remembered choices
//! seal         Arrow arrays -> elements -> sealed pages, with settings for each column
//! page         sealed page <-> elements
//! format       anchor, envelope, frame, page list
//! schema       fields, columns, projections, locators
//! encoding     column types: elements <-> bits
//! heuristics   numbers that measurements gave
//! ```

#![deny(missing_docs, unreachable_pub)]

pub mod choose;
// The binary format itself, for tests and fuzz targets. It may change at any time.
#[doc(hidden)]
pub mod encoding;
#[doc(hidden)]
pub mod format;
mod heuristics;
#[doc(hidden)]
pub mod page;
pub mod read;
pub mod schema;
pub mod seal;
pub mod write;
