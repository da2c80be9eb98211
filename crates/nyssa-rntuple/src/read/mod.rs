//! Reads RNTuples: plan → fetch → unseal → decode → Arrow arrays.
//!
//! ```text
//! schema ──► node      how a field is read: a tree over streams (columns), no I/O
//! node   ──► plan      (streams × entry range) → pages → byte ranges, printable data, no I/O
//! plan   ──► executor  one vectored request per unit of work; every page is verified, decompressed
//!                      into the thread's scratch and decoded straight into its place in the output
//! streams ─► array     Arrow arrays that share the outputs' memory
//! ```
//!
//! A column that several fields share (projections) is read once, and its offsets are one buffer. Units of
//! work run on the thread pool of the [`nyssa_root::Context`]. Memory is allocated only for numbers that were
//! checked against the size of the file.

mod assemble;
mod attributes;
mod blob;
mod clusters;
mod decode;
mod element;
mod execute;
mod lengths;
mod metadata;
mod opened;
mod options;
pub mod plan;
mod planner;
mod reader;
mod shape;
mod sizes;
mod stream;
mod streamers;
mod subfield;
mod switches;
mod verify;
mod without;

pub use attributes::{ATTRIBUTE_FIELDS, Attributes};
pub use clusters::Clusters;
pub use element::Element;
pub use options::{RNTupleReadOptions, StreamerForm};
pub use plan::Plan;
pub use reader::{CLASS, Reader};
pub use subfield::item;
pub use verify::verify;
