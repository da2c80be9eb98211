//! Chooses how each column is stored: its column type, and the codecs of its pages (docs/decisions/0004 and 0006).
//!
//! The requests of the user are set first ([`set_requested_types`], [`FieldOptions`]), and stay. For the other columns:
//!
//! 1. **Sample** ([`sample`]): some elements from the middle of the data. They are few if CPU time counts more than
//!    size.
//! 2. **Candidates** (`candidates.rs`): the forms in which the elements can be stored: split or not, and narrower types
//!    that keep every value. The codecs to try are in [`nyssa_root::effort`], which TTrees use, too.
//! 3. **Price**: the compressed bytes of the sample, and the bytes that the CPU time of the codec is worth. The times
//!    are fixed numbers, so the choice depends only on the data ([`nyssa_root::effort::Chooser`] knows both numbers).
//! 4. **Choice** (`column.rs` for one column, [`FieldChooser`] for the columns of a field): the sample is sealed in each
//!    form with one codec, then in the best form with the other codecs. Byte planes may have separate codecs
//!    (`planes.rs`). The result is a [`ColumnStorage`], which [`apply`] sets in the schema and the settings.
//! 5. **Remembered choices** ([`StorageChoices`]): a file with the choices of earlier jobs. Its columns need no sample.
//!
//! [`ColumnReport`] tells users what was chosen and why, and [`losses`] where a requested type loses precision.

mod candidates;
mod column;
mod encodings;
mod field;
mod field_options;
mod loss;
mod planes;
mod report;
mod requested;
mod requested_type;
pub mod sample;
mod storage;
mod storage_choices;

pub(crate) use candidates::default_type;
pub(crate) use column::choose_column;
pub use encodings::Encodings;
pub use field::FieldChooser;
pub use field_options::FieldOptions;
pub use loss::{losses, precisions};
pub use report::{ColumnReport, reports};
pub use requested::set_requested_types;
pub use requested_type::RequestedType;
pub(crate) use requested_type::not_written;
pub use storage::{Choices, ColumnStorage, apply, is_narrowed, narrow};
pub use storage_choices::{StatedOptions, StorageChoices};
