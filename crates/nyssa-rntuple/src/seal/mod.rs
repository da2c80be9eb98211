//! Seals arrays: Arrow arrays → elements of columns → sealed pages.
//!
//! ```text
//! Arrow array ── shred ──► elements ── column plan ──► ranges of pages ── page::seal ──► sealed pages
//!    one field                │ ColumnData: not copied        │ settings: page size, codec
//! ```
//!
//! The settings state how each column is sealed. They come from the options, and from [`crate::choose`]. This module
//! chooses nothing, and writes no file.

mod blocks;
mod column;
mod column_data;
mod elements;
mod numbers;
mod rows;
mod scratch;
mod sealer;
mod settings;
mod shred;
#[cfg(test)]
mod shred_tests;
mod variant;

pub(crate) use column::{ColumnPlan, columns};
pub use column::{seal_field, seal_offsets};
pub(crate) use column_data::ColumnData;
pub(crate) use elements::Elements;
pub(crate) use rows::Rows;
pub use scratch::Scratch;
pub use sealer::Sealer;
pub use settings::{
    ColumnSettings, MAX_UNZIPPED_PAGE, MIN_UNZIPPED_PAGE, SealSettings, check_page,
};
pub(crate) use settings::{PlaneRun, RootStorage};
pub(crate) use shred::{Shred, shred};
