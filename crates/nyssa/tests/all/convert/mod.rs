//! Tests the conversion of TTrees to RNTuples.

mod files;
mod importer;
mod refused;
mod same_bytes;
mod to_tree;
mod verify;
