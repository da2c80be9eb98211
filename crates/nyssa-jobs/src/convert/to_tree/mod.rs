//! Converts RNTuples to TTrees.
//!
//! ```text
//! RNTuple ─map─► columns of the tree, fields it cannot hold ─► read in steps, one ahead ─► TreeWriter ─► verify ─► publish
//! ```
//!
//! The map is complete before the output is touched. Records and collections of records are split: each member is a
//! separate column, which is read by its path. The tree and the RNTuple are therefore compared column by column.

mod fields;
mod job;
mod map;
mod other_trees;
mod projected;
mod restored;
mod stored_bytes;
mod tree;
