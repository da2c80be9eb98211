//! Jobs on files: convert, rewrite, merge, update, verify, compare and tune.
//!
//! This crate is a layer of `nyssa`, and its interface may change at any time. Use the crate `nyssa`.
//!
//! ```text
//! tune                                   describes files and datasets, and tries how they are stored best
//! update | merge | convert | rewrite | skim   jobs: files to files
//! filling                                RNTuples and TTrees that callers fill
//! job                                    what jobs share: their steps
//! kept_tree                              what an RNTuple keeps of its TTree
//! verify                                 is everything in a file sound?
//! compare                                do two datasets hold the same values?
//! open                                   path -> file, dataset: the only module that knows all formats
//! heuristics                             numbers that measurements gave
//! ```

#![deny(missing_docs, unreachable_pub)]

pub mod compare;
pub mod convert;
pub mod filling;
mod heuristics;
pub mod job;
pub mod kept_tree;
pub mod merge;
pub mod open;
pub mod rewrite;
pub mod skim;
pub mod tune;
pub mod update;
pub mod verify;
