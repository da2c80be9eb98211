//! Datasets: their columns, steps through their entries, selections, and views. This crate knows no format.
//!
//! This crate is a layer of `nyssa`, and its interface may change at any time. Use the crate `nyssa`.
//!
//! ```text
//! histogram  histograms of expressions
//! view       datasets made of datasets: chain, join, rules, selection, slice
//! cut        the language of selections
//! dataset    the trait `Dataset`, columns, steps
//! ```

#![deny(missing_docs, unreachable_pub)]

pub mod cut;
pub mod dataset;
mod heuristics;
pub mod histogram;
pub mod view;

pub use dataset::Dataset;
